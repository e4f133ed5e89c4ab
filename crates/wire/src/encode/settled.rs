//! Settled turns, written once.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use interleaf_model::{Link, Role, Settled};

use super::{Context, Elements, TurnPlace, Writer};
use crate::turns::Turns;
use crate::{Adjustment, Error, NameMap};

/// This many pieces are shared as one.
const GROUP: usize = 128;

/// What was written of settled turns so far.
#[derive(Debug, Default)]
pub(super) struct SettledText {
    /// The chain that is written.
    upto: Option<Arc<Settled>>,
    /// Its links, in order.
    written: Vec<WrittenLink>,
    /// The text of each link, with commas between them.
    groups: Vec<Arc<[Bytes]>>,
    /// The texts that are not yet a group.
    open: Vec<Bytes>,
    has_text: bool,
    adjustments: Arc<Vec<Adjustment>>,
    names: NameMap,
}

/// A link as it was written.
#[derive(Debug)]
struct WrittenLink {
    link: Arc<Link>,
    /// In the turn before it the user says something beside results.
    asked: bool,
    /// Its elements, each with a comma before it.
    text: Bytes,
    adjustments: Vec<Adjustment>,
    names: NameMap,
}

impl SettledText {
    /// Writes the links that are not written yet.
    pub(super) fn update(
        &mut self,
        settled: &Arc<Settled>,
        writer: Writer,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let is_known =
            |chain: &Arc<Settled>| self.upto.as_ref().is_some_and(|upto| Arc::ptr_eq(upto, chain));
        let mut new: Vec<&Arc<Link>> = Vec::new();
        let mut chain = Some(settled);
        while let Some(next) = chain.filter(|chain| !is_known(chain)) {
            new.push(next.link());
            chain = next.earlier();
        }
        let mut known = HashMap::new();
        if chain.is_none() {
            // Another chain, though it may have links in common with the one before.
            let old = std::mem::take(self);
            known = old.written.into_iter().map(|w| (Arc::as_ptr(&w.link), w)).collect();
        }
        for link in new.into_iter().rev() {
            let asked = self.written.last().is_some_and(|last| ends_with_user(&last.link));
            let written = match known.remove(&Arc::as_ptr(link)) {
                Some(written) if written.asked == asked => written,
                Some(_) | None => write(link, asked, writer, context)?,
            };
            self.push(written);
        }
        self.upto = Some(settled.clone());
        Ok(())
    }

    fn push(&mut self, written: WrittenLink) {
        if !written.text.is_empty() {
            // Nothing stands before the first element.
            let from = usize::from(!self.has_text);
            self.has_text = true;
            self.open.push(written.text.slice(from..));
            if self.open.len() == GROUP {
                self.groups.push(std::mem::take(&mut self.open).into());
            }
        }
        if !written.adjustments.is_empty() {
            // Nobody else holds it, unless the last request is still about.
            Arc::make_mut(&mut self.adjustments).extend_from_slice(&written.adjustments);
        }
        self.names.extend(&written.names);
        self.written.push(written);
    }

    /// The elements, with commas between them: groups of pieces, then single ones.
    pub(super) fn pieces(&self) -> (Vec<Arc<[Bytes]>>, Vec<Bytes>) {
        (self.groups.clone(), self.open.clone())
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

fn write(
    link: &Arc<Link>,
    asked: bool,
    writer: Writer,
    context: &Context<'_>,
) -> Result<WrittenLink, Error> {
    let turns = Turns::of(link.turns());
    let mut own = context.for_prompt(link.turns());
    let mut text = Vec::new();
    for (number, &turn) in turns.turns.iter().enumerate() {
        let place = place(&turns, number, asked);
        let mut elements = Elements::after(&mut text, true);
        writer.write_turn(&mut own, turn, place, &mut elements)?;
    }
    let Context { adjustments, names, .. } = own;
    let adjustments = adjustments.0;
    Ok(WrittenLink { link: link.clone(), asked, text: text.into(), adjustments, names })
}

/// A settled turn is never the last, never in the running loop, and carries no mark. What
/// comes after the assistant's is in the same link.
fn place(turns: &Turns<'_>, number: usize, asked: bool) -> TurnPlace {
    let (asked, spoken_to) = turns.around(number, asked);
    TurnPlace { last: false, current: false, asked, spoken_to, breakpoint: None }
}

/// Whether the user says something at the end of a link beside results.
pub(super) fn ends_with_user(link: &Link) -> bool {
    link.entries().last().is_some_and(|entry| entry.message.role() == Role::User)
}
