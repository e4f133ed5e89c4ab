//! Any prefix of any earlier sequence is found.

use hashbrown::HashSet;

use super::total;
use crate::Used;
use crate::prompt::Link;

/// All prefixes that were computed. With a prefix, every shorter one is here too.
#[derive(Debug, Clone)]
pub(super) struct Prefixes {
    known: HashSet<u64>,
    step: u64,
    answers: bool,
    computes_last: bool,
}

impl Prefixes {
    pub(super) fn new(step: u64, answers: bool, computes_last: bool) -> Self {
        Self { known: HashSet::new(), step: step.max(1), answers, computes_last }
    }

    pub(super) fn used(&self, links: &[Link], minimum: u64) -> Used {
        let prompt = total(links);
        let found = total(&links[..self.n_known(links)]);
        let most = if self.computes_last { prompt.saturating_sub(1) } else { prompt };
        let whole = |tokens: u64| tokens - tokens % self.step;
        let read = if found < minimum { 0 } else { whole(found.min(most)) };
        Used { prompt, read, written: 0 }
    }

    pub(super) fn keep(&mut self, links: &[Link]) {
        let n_known = self.n_known(links);
        self.known.extend(links[n_known..].iter().map(|link| link.key));
    }

    pub(super) fn answered(&mut self, links: &[Link]) {
        if self.answers {
            self.keep(links);
        }
    }

    /// How many links are known. The unknown ones are at the end, and few.
    fn n_known(&self, links: &[Link]) -> usize {
        links.iter().rposition(|link| self.known.contains(&link.key)).map_or(0, |at| at + 1)
    }
}
