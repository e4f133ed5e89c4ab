//! Settled turns, written once.

mod pieces;
mod runs;

use hashbrown::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use interleaf_model::{Entry, Link, Role, Settled};

use super::session::{WrittenTurns, address};
use super::{Context, Elements, SettledSpan, TurnPlace, Writer};
use crate::turns::Turns;
use crate::{Adjustment, Error, NameMap};

use pieces::{Joined, Pieces, TOGETHER};
use runs::{Run, WriteLink, write_run, write_runs};

/// What was written of settled turns so far.
#[derive(Debug, Default)]
pub(super) struct SettledText {
    /// The chain that is written.
    upto: Option<Arc<Settled>>,
    /// Its links, in order.
    written: Vec<WrittenLink>,
    /// The texts of all links, in a few pieces.
    pieces: Pieces,
    adjustments: Arc<Vec<Adjustment>>,
    names: NameMap,
}

/// A link as it was written.
#[derive(Debug)]
struct WrittenLink {
    link: Arc<Link>,
    /// Whether the user says more than results in the turn before.
    asked: bool,
    /// Its elements, each with a comma before it.
    text: Bytes,
    adjustments: Vec<Adjustment>,
    names: NameMap,
}

impl SettledText {
    /// Writes the links that are not written yet. If one cannot be written, all are
    /// forgotten: none may stand twice.
    pub(super) fn update(
        &mut self,
        settled: &Arc<Settled>,
        writer: Writer,
        context: &Context<'_>,
        turns: &WrittenTurns,
        n_threads: usize,
    ) -> Result<(), Error> {
        let write = |text: &mut Vec<u8>, link: &Arc<Link>, asked: bool| {
            write(text, link, asked, writer, context, turns)
        };
        let updated = self.write_new(settled, &write, n_threads);
        if updated.is_err() {
            *self = Self::default();
        }
        updated
    }

    fn write_new(
        &mut self,
        settled: &Arc<Settled>,
        write: &impl WriteLink,
        n_threads: usize,
    ) -> Result<(), Error> {
        let is_known =
            |chain: &Arc<Settled>| self.upto.as_ref().is_some_and(|upto| Arc::ptr_eq(upto, chain));
        let mut new: Vec<&Arc<Link>> = Vec::new();
        let mut chain = Some(settled);
        while let Some(next) = chain.filter(|chain| !is_known(chain)) {
            new.push(next.link());
            chain = next.earlier();
        }
        new.reverse();
        if chain.is_none() && !self.written.is_empty() {
            let old = std::mem::take(self);
            self.rewrite(old, &new, write)?;
        } else {
            for run in write_runs(&new, self.asked(), write, n_threads)? {
                self.push_run(run);
            }
        }
        self.upto = Some(settled.clone());
        Ok(())
    }

    /// Writes another chain, which may have links in common with the one before.
    fn rewrite(
        &mut self,
        old: Self,
        new: &[&Arc<Link>],
        write: &impl WriteLink,
    ) -> Result<(), Error> {
        let Self { written, pieces, .. } = old;
        let places: HashMap<*const Link, usize> =
            written.iter().enumerate().map(|(place, w)| (Arc::as_ptr(&w.link), place)).collect();
        let mut written: Vec<Option<WrittenLink>> = written.into_iter().map(Some).collect();
        let mut pieces = pieces.by_first_link();
        let mut next = 0;
        while let Some(&link) = new.get(next) {
            let asked = self.asked();
            let place = places.get(&Arc::as_ptr(link)).copied();
            let is_known =
                |place: &usize| written[*place].as_ref().is_some_and(|w| w.asked == asked);
            let Some(place) = place.filter(is_known) else {
                self.push_run(write_run(&[link], asked, write)?);
                next += 1;
                continue;
            };
            // A piece whose links all come again, side by side, stays a piece.
            let stays = pieces.remove(&place).filter(|piece| {
                let (old, new) = (&written[place..], &new[next..]);
                let is_same = |(old, new): (&Option<WrittenLink>, &&Arc<Link>)| {
                    old.as_ref().is_some_and(|old| Arc::ptr_eq(&old.link, new))
                };
                let n = piece.n_links;
                new.len() >= n && old.iter().zip(new).take(n).all(is_same)
            });
            let n = stays.as_ref().map_or(1, |piece| piece.n_links);
            let again = written[place..place + n].iter_mut().filter_map(Option::take);
            match stays {
                Some(piece) => {
                    again.for_each(|written| self.note(written));
                    let joined = self.pieces.push_piece(piece);
                    self.settle_in(joined);
                }
                None => again.for_each(|written| self.push(written)),
            }
            next += n;
        }
        Ok(())
    }

    /// Whether the user says something at the end of what is written beside results.
    fn asked(&self) -> bool {
        self.written.last().is_some_and(|last| ends_with_user(&last.link))
    }

    /// Adds links that were just written. A full run is a piece.
    fn push_run(&mut self, run: Run) {
        if run.links.len() != TOGETHER {
            return run.links.into_iter().for_each(|written| self.push(written));
        }
        run.links.into_iter().for_each(|written| self.note(written));
        let joined = self.pieces.push_joined(run.text);
        self.settle_in(joined);
    }

    fn push(&mut self, written: WrittenLink) {
        let text = written.text.clone();
        self.note(written);
        let joined = self.pieces.push(text);
        self.settle_in(joined);
    }

    /// Lets the last links share the memory of the piece that they stand in now.
    fn settle_in(&mut self, joined: Option<Joined>) {
        let Some(Joined { n_links, text }) = joined else { return };
        let (first, mut start) = (self.written.len() - n_links, 0);
        for written in &mut self.written[first..] {
            let end = start + written.text.len();
            written.text = text.slice(start..end);
            start = end;
        }
    }

    fn note(&mut self, written: WrittenLink) {
        if !written.adjustments.is_empty() {
            // Nobody else holds it, unless the last request is still about.
            Arc::make_mut(&mut self.adjustments).extend_from_slice(&written.adjustments);
        }
        self.names.extend(&written.names);
        self.written.push(written);
    }

    /// The elements, with commas between them, in a few pieces.
    pub(super) fn pieces(&self) -> Vec<Bytes> {
        self.pieces.texts()
    }

    /// The link at a byte of the elements, of which the first is at `start` of the body.
    pub(super) fn span_at(&self, within: usize, start: usize) -> Option<SettledSpan> {
        let (mut end, mut first) = (0, 0);
        let mut is_first = true;
        for written in &self.written {
            let begin = end;
            // Nothing stands before the first element.
            end += written.text.len() - usize::from(is_first && !written.text.is_empty());
            is_first &= written.text.is_empty();
            if within < end {
                let (link, bytes) = (written.link.clone(), start + begin..start + end);
                return Some(SettledSpan { link, first, bytes });
            }
            first += written.link.entries().len();
        }
        None
    }

    /// What was changed in them for the API's sake.
    pub(super) fn adjustments(&self) -> Arc<Vec<Adjustment>> {
        self.adjustments.clone()
    }

    /// The tool names that were rewritten in them.
    pub(super) fn names(&self) -> &NameMap {
        &self.names
    }
}

/// Writes a link. A turn that was just written for the same place is copied.
fn write(
    text: &mut Vec<u8>,
    link: &Arc<Link>,
    asked: bool,
    writer: Writer,
    context: &Context<'_>,
    known: &WrittenTurns,
) -> Result<(Vec<Adjustment>, NameMap), Error> {
    let turns = Turns::of(link.turns());
    let mut own = context.for_prompt(link.turns());
    for (number, &turn) in turns.turns.iter().enumerate() {
        let place = place(&turns, number, asked);
        if let Some(written) = known.get(&address(turn)).filter(|known| known.is(turn, place)) {
            if !written.text.is_empty() {
                text.push(b',');
                text.extend_from_slice(&written.text);
            }
            own.adjustments.0.extend_from_slice(&written.adjustments);
            own.names.extend(&written.names);
            continue;
        }
        let mut elements = Elements::after(text, true);
        writer.write_turn(&mut own, turn, place, &mut elements)?;
    }
    Ok((own.adjustments.0, own.names))
}

/// A settled turn is never the last, never in the running loop, and carries no mark. What
/// comes after the assistant's is in the same link.
fn place(turns: &Turns<'_>, number: usize, asked: bool) -> TurnPlace {
    let (asked, spoken_to) = turns.around(number, asked);
    TurnPlace { last: false, current: false, asked, spoken_to, breakpoint: None }
}

/// Whether the user says something at the end of a link beside results.
pub(super) fn ends_with_user(link: &Link) -> bool {
    let spoken = |entry: &Entry| Some(entry.message.role()).filter(|&role| role != Role::System);
    link.entries().iter().rev().find_map(spoken) == Some(Role::User)
}
