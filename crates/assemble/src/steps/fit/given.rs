//! What gave way to make a request fit.

use std::sync::Arc;

use interleaf_model::{Entry, Message, Provenance, Role};

use super::history::History;
use super::loss::{Fate, Loss};
use super::replay::Terms;
use super::{cleared_message, shorten};
use crate::draft::entry;
use crate::finding::Findings;
use crate::tokens::Counting;
use crate::{Cause, FindingKind};

/// What gave way, by measure: neighbours become one finding.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    shortened: Findings,
    cleared: Findings,
    abridged: Findings,
    left_out: Findings,
    pub(crate) n_left_out: usize,
    /// What a message that is shown in part takes less than it may.
    pub(crate) spare: u64,
}

/// By what a message is shown.
#[derive(Clone, Copy)]
pub(crate) struct Showing<'a> {
    pub(crate) history: &'a History,
    pub(crate) loss: Loss,
    pub(crate) terms: &'a Terms,
    pub(crate) counting: &'a Counting<'a>,
}

impl Given {
    /// The message at a place after what gave way; none, if it is left out.
    pub(crate) fn give(
        &mut self,
        (place, old): (usize, &Entry),
        showing: Showing<'_>,
    ) -> Option<Entry> {
        let Showing { history, loss, terms, counting } = showing;
        let (before, after) = (history.cost_of(place), history.cost(place, loss));
        let id = &old.message.id;
        let message = match history.fate(place, loss) {
            Fate::Stays => return Some(old.clone()),
            Fate::Shortened => {
                self.shortened.add_tokens(id, Cause::LongResult, (before, after));
                shorten::result(&old.message, terms.longest_result, counting)
            }
            Fate::Cleared => {
                self.cleared.add_tokens(id, Cause::Budget, (before, after));
                Some(cleared_message(&old.message))
            }
            Fate::Abridged => {
                self.abridged.add_tokens(id, Cause::LongArguments, (before, after));
                shorten::arguments(&old.message)
            }
            Fate::Partly => {
                let (message, measure, cause) = self.in_part(&old.message, after, counting);
                let tokens = counting.message(&message);
                measure.add_tokens(id, cause, (before, tokens));
                self.spare += after.saturating_sub(tokens);
                Some(message)
            }
            Fate::LeftOut => {
                self.left_out.add(FindingKind::Dropped, id, Cause::Budget);
                self.n_left_out += 1;
                return None;
            }
        };
        Some(message.map_or_else(|| old.clone(), |message| entry(message, Provenance::Altered)))
    }

    /// The message cut to this many tokens, and the measure that is reported for it.
    fn in_part(
        &mut self,
        whole: &Arc<Message>,
        tokens: u64,
        counting: &Counting<'_>,
    ) -> (Arc<Message>, &mut Findings, Cause) {
        if whole.role() == Role::Tool {
            let part = shorten::result(whole, tokens, counting);
            let part = part.unwrap_or_else(|| cleared_message(whole));
            (part, &mut self.cleared, Cause::Budget)
        } else {
            let part = shorten::arguments_to(whole, tokens, counting);
            let part = part.or_else(|| shorten::arguments(whole));
            (part.unwrap_or_else(|| whole.clone()), &mut self.abridged, Cause::LongArguments)
        }
    }

    /// Adds what gave way further on.
    pub(crate) fn extend(&mut self, later: &Self) {
        self.shortened.extend(&later.shortened);
        self.cleared.extend(&later.cleared);
        self.abridged.extend(&later.abridged);
        self.left_out.extend(&later.left_out);
        self.n_left_out += later.n_left_out;
        self.spare += later.spare;
    }

    /// Reports it.
    pub(super) fn tell(&self, findings: &mut Findings) {
        for measure in [&self.shortened, &self.cleared, &self.abridged, &self.left_out] {
            findings.extend(measure);
        }
    }
}
