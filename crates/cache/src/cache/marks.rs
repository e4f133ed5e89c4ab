//! A prefix is written at a mark, and found from a mark.

use hashbrown::HashMap;

use super::total;
use crate::prompt::Link;
use crate::{Prompt, Stop, Used};

/// The prefixes that were written, with the time of their last use.
#[derive(Debug, Clone)]
pub(super) struct Marks {
    written: HashMap<u64, u64>,
    lookback: usize,
    most: usize,
    implicit: bool,
}

/// When a prompt is sent, and for how long a prefix is kept after its last use, in seconds.
#[derive(Clone, Copy)]
pub(super) struct Now {
    pub(super) at: u64,
    pub(super) lifetime: Option<u64>,
}

impl Marks {
    pub(super) fn new(lookback: usize, most: usize, implicit: bool) -> Self {
        Self { written: HashMap::with_capacity(16), lookback, most, implicit }
    }

    pub(super) fn used(&self, prompt: &Prompt, minimum: u64, now: Now) -> Used {
        let links = prompt.links();
        // A prompt may be counted anew at another rate after it was written.
        let read = self.found(prompt, now).map_or(0, |link| link.tokens);
        let read = if read < minimum { 0 } else { read };
        let longest = self.heeded(prompt).map(|mark| links[mark].tokens).max().unwrap_or(0);
        let longest = if longest < minimum { 0 } else { longest };
        Used { prompt: total(links), read, written: longest.saturating_sub(read) }
    }

    /// What is read is used, as what is written is. That matters where a prefix may go.
    pub(super) fn keep(&mut self, prompt: &Prompt, minimum: u64, now: Now) {
        if now.lifetime.is_some()
            && let Some(found) = self.found(prompt, now)
        {
            self.written.insert(found.key, now.at);
        }
        for mark in self.heeded(prompt) {
            let link = prompt.links()[mark];
            if link.tokens >= minimum {
                self.written.insert(link.key, now.at);
            }
        }
    }

    /// The longest prefix that is found.
    fn found<'p>(&self, prompt: &'p Prompt, now: Now) -> Option<&'p Link> {
        // Clocks of two nodes may be apart, and a clock may be set back.
        let pause = |at: u64| now.at.saturating_sub(at);
        let is_alive = |&at: &u64| now.lifetime.is_none_or(|lifetime| pause(at) <= lifetime);
        let is_written = |link: &&Link| self.written.get(&link.key).is_some_and(is_alive);
        let found = self.heeded(prompt).filter_map(|mark| {
            let stops = prompt.links()[..=mark].iter().rev();
            let stops = stops.filter(|link| link.stop != Stop::Inside);
            stops.take(self.lookback).find(is_written)
        });
        found.max_by_key(|link| link.tokens)
    }

    /// The places of the marks that are heeded, the last first.
    fn heeded<'a>(&self, prompt: &'a Prompt) -> impl Iterator<Item = usize> + use<'a> {
        let last = prompt.links().iter().rposition(|link| link.stop != Stop::Inside);
        let implicit = last.filter(|_| self.implicit);
        let told = prompt.marks().iter().rev().copied().filter(move |&mark| Some(mark) != implicit);
        implicit.into_iter().chain(told).take(self.most)
    }
}
