//! What gave way to make a request fit.

use interleaf_model::{Entry, Provenance};

use super::history::{Fate, History, Loss};
use super::replay::Terms;
use super::{cleared_message, shorten};
use crate::draft::entry;
use crate::finding::Findings;
use crate::{Cause, FindingKind};

/// What gave way, by measure: neighbours become one finding.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    cleared: Findings,
    abridged: Findings,
    left_out: Findings,
    pub(crate) n_left_out: usize,
}

impl Given {
    /// The message at a place after what gave way; none, if it is left out.
    pub(crate) fn give(
        &mut self,
        old: &Entry,
        history: &History,
        (place, loss): (usize, Loss),
        terms: &Terms,
    ) -> Option<Entry> {
        let cleared = terms.cleared_cost();
        let tokens = || (history.cost_of(place), history.cost(place, loss, cleared));
        let id = &old.message.id;
        let message = match history.fate(place, loss, cleared) {
            Fate::Stays => return Some(old.clone()),
            Fate::Cleared => {
                self.cleared.add_tokens(id, Cause::Budget, tokens());
                Some(cleared_message(&old.message))
            }
            Fate::Abridged => {
                self.abridged.add_tokens(id, Cause::LongArguments, tokens());
                shorten::arguments(&old.message)
            }
            Fate::LeftOut => {
                self.left_out.add(FindingKind::Dropped, id, Cause::Budget);
                self.n_left_out += 1;
                return None;
            }
        };
        Some(message.map_or_else(|| old.clone(), |message| entry(message, Provenance::Altered)))
    }

    /// Adds what gave way further on.
    pub(crate) fn extend(&mut self, later: &Self) {
        self.cleared.extend(&later.cleared);
        self.abridged.extend(&later.abridged);
        self.left_out.extend(&later.left_out);
        self.n_left_out += later.n_left_out;
    }

    /// Reports it.
    pub(super) fn tell(&self, findings: &mut Findings) {
        for measure in [&self.cleared, &self.abridged, &self.left_out] {
            findings.extend(measure);
        }
    }
}
