//! A prefix is written at a mark, and found from a mark.

use hashbrown::HashMap;

use super::total;
use crate::{Prompt, Stop, Used};

/// The prefixes that were written, with the time of their last use.
#[derive(Debug, Clone)]
pub(super) struct Marks {
    written: HashMap<u64, u64>,
    lookback: usize,
    most: usize,
    implicit: bool,
}

impl Marks {
    pub(super) fn new(lookback: usize, most: usize, implicit: bool) -> Self {
        Self { written: HashMap::new(), lookback, most, implicit }
    }

    pub(super) fn request(
        &mut self,
        prompt: &Prompt,
        minimum: u64,
        (at, lifetime): (u64, Option<u64>),
    ) -> Used {
        let links = prompt.links();
        let alive = |used_at: u64| lifetime.is_none_or(|lifetime| at - used_at <= lifetime);
        let marked = self.heeded(prompt);
        let found = marked.iter().filter_map(|&mark| {
            let stops = links[..=mark].iter().rev().filter(|link| link.stop != Stop::Inside);
            stops
                .take(self.lookback)
                .find(|link| self.written.get(&link.key).is_some_and(|&used_at| alive(used_at)))
        });
        let found = found.max_by_key(|link| link.tokens).copied();
        let read = found.map_or(0, |link| link.tokens);
        let long = marked.iter().map(|&mark| links[mark]).filter(|link| link.tokens >= minimum);
        let longest = long.clone().map(|link| link.tokens).max().unwrap_or(0);
        let used_now: Vec<u64> = long.chain(found).map(|link| link.key).collect();
        self.written.extend(used_now.into_iter().map(|key| (key, at)));
        Used { prompt: total(links), read, written: longest.saturating_sub(read) }
    }

    /// The places of the marks that are heeded, the last first.
    fn heeded(&self, prompt: &Prompt) -> Vec<usize> {
        let last = prompt.links().iter().rposition(|link| link.stop != Stop::Inside);
        let implicit = last.filter(|_| self.implicit);
        let told = prompt.marks().iter().rev().copied().filter(|&mark| Some(mark) != implicit);
        implicit.into_iter().chain(told).take(self.most).collect()
    }
}
