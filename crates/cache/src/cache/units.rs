//! A prefix is found where a unit ends: at the end of an earlier prompt or answer, and where
//! two earlier sequences were seen to part.

use hashbrown::HashSet;

use super::total;
use crate::Used;
use crate::prompt::Link;

#[derive(Debug, Clone)]
pub(super) struct Units {
    /// All prefixes of all sequences.
    known: HashSet<u64>,
    /// Those that are units.
    ends: HashSet<u64>,
    least: u64,
}

impl Units {
    pub(super) fn new(least: u64) -> Self {
        Self { known: HashSet::new(), ends: HashSet::new(), least }
    }

    pub(super) fn used(&self, links: &[Link]) -> Used {
        let found = links.iter().rev().find(|link| self.ends.contains(&link.key));
        let read = found.map_or(0, |link| link.tokens);
        Used { prompt: total(links), read, written: 0 }
    }

    pub(super) fn keep(&mut self, links: &[Link]) {
        let known = links.iter().rposition(|link| self.known.contains(&link.key));
        let n_known = known.map_or(0, |at| at + 1);
        // Here the sequence leaves all earlier ones, or goes on where one ended.
        let parting = links[..n_known].last().filter(|link| link.tokens >= self.least);
        self.ends.extend(parting.into_iter().chain(links.last()).map(|link| link.key));
        self.known.extend(links[n_known..].iter().map(|link| link.key));
    }
}
