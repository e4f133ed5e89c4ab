//! Settled turns, written once.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use interleaf_model::Settled;

use super::{Context, Elements, TurnPlace, Writer};
use crate::turns::Turns;
use crate::{Adjustment, Error, NameMap};

/// What was written of settled turns so far.
#[derive(Debug, Default)]
pub(super) struct SettledText {
    /// The newest link that is written.
    upto: Option<Arc<Settled>>,
    /// The elements, with commas between them, in few pieces: each is at least twice
    /// as long as the next, so there are never more than the logarithm of the length,
    /// and a byte is copied no more often than that.
    pieces: Vec<Bytes>,
    adjustments: Arc<Vec<Adjustment>>,
    names: NameMap,
}

/// A settled turn is never the last, never in the running loop, and carries no mark. What
/// comes behind the assistant's is in the same link.
fn place(turns: &Turns<'_>, number: usize, earlier: Option<&Settled>) -> TurnPlace {
    let (asked, spoken_to) = turns.around(number, earlier);
    TurnPlace {
        last: false,
        current: false,
        asked,
        spoken_to,
        breakpoint: None,
        unbound_from: None,
    }
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
            |link: &Arc<Settled>| self.upto.as_ref().is_some_and(|upto| Arc::ptr_eq(upto, link));
        let mut new: Vec<&Arc<Settled>> = Vec::new();
        let mut link = Some(settled);
        while let Some(next) = link.filter(|link| !is_known(link)) {
            new.push(next);
            link = next.earlier();
        }
        if link.is_none() {
            // Nothing of it is known: this is another conversation, or a changed one.
            *self = Self::default();
        }
        for link in new.into_iter().rev() {
            self.write(link, writer, context)?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        link: &Arc<Settled>,
        writer: Writer,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let turns = Turns::of(link.turns());
        let mut own = context.for_prompt(link.turns());
        let mut text = Vec::new();
        for (number, &turn) in turns.turns.iter().enumerate() {
            let place = place(&turns, number, link.earlier().map(|earlier| &**earlier));
            let follows = !(text.is_empty() && self.pieces.is_empty());
            let mut elements = Elements::behind(&mut text, follows);
            writer.write_turn(&mut own, turn, place, &mut elements)?;
        }
        self.push(text.into());
        if !own.adjustments.0.is_empty() {
            // Nobody else holds it, unless the last request is still about.
            Arc::make_mut(&mut self.adjustments).append(&mut own.adjustments.0);
        }
        self.names.extend(&own.names);
        self.upto = Some(link.clone());
        Ok(())
    }

    fn push(&mut self, mut text: Bytes) {
        while let Some(last) = self.pieces.pop_if(|last| last.len() < 2 * text.len()) {
            let mut joined = BytesMut::with_capacity(last.len() + text.len());
            joined.extend_from_slice(&last);
            joined.extend_from_slice(&text);
            text = joined.freeze();
        }
        self.pieces.push(text);
    }

    /// The elements, with commas between them.
    pub(super) fn pieces(&self) -> &[Bytes] {
        &self.pieces
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
