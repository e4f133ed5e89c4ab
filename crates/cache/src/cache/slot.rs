//! Only the last sequence is there.

use super::total;
use crate::prompt::{Link, shared};
use crate::{Checkpoints, Used};

#[derive(Debug, Clone)]
pub(super) struct Slot {
    sequence: Vec<Link>,
    checkpoints: Option<Checkpoints>,
    /// The places to which the model's state can be taken back, in tokens, ascending.
    places: Vec<u64>,
}

impl Slot {
    pub(super) fn new(checkpoints: Option<Checkpoints>) -> Self {
        Self { sequence: Vec::new(), checkpoints, places: Vec::new() }
    }

    pub(super) fn used(&self, links: &[Link]) -> Used {
        let prompt = total(links);
        let n_shared = shared(&self.sequence, links);
        // The last token is always computed: its outcome is what is asked for.
        let same = total(&links[..n_shared]).min(prompt.saturating_sub(1));
        let read = match self.checkpoints {
            Some(_) if same < total(&self.sequence) => self.last_place(same),
            Some(_) | None => same,
        };
        Used { prompt, read, written: 0 }
    }

    pub(super) fn keep(&mut self, links: &[Link]) {
        let Used { prompt, read, .. } = self.used(links);
        self.answered(links);
        if let Some(checkpoints) = self.checkpoints {
            self.places.retain(|&place| place <= read);
            let new = checkpoints.before_end.iter().map(|back| prompt.saturating_sub(*back));
            self.places.extend(new.filter(|&place| place > read));
            let n_old = self.places.len().saturating_sub(checkpoints.most);
            self.places.drain(..n_old);
        }
    }

    pub(super) fn answered(&mut self, links: &[Link]) {
        let n_shared = shared(&self.sequence, links);
        self.sequence.truncate(n_shared);
        self.sequence.extend_from_slice(&links[n_shared..]);
    }

    /// The last place to which the state can be taken back to have no more than these tokens.
    fn last_place(&self, tokens: u64) -> u64 {
        self.places.iter().rev().copied().find(|&place| place <= tokens).unwrap_or(0)
    }
}
