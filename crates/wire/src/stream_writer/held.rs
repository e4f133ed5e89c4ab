//! Pieces that wait until the open call is whole.

use std::collections::{BTreeMap, VecDeque};

use crate::Delta;

/// Pieces that wait, each beside those of its part; parts in the order of their first.
#[derive(Default)]
pub(super) struct Held {
    order: VecDeque<u64>,
    pieces: BTreeMap<u64, Vec<Delta>>,
}

impl Held {
    pub(super) fn push(&mut self, part: u64, delta: Delta) {
        let pieces = self.pieces.entry(part).or_insert_with(|| {
            self.order.push_back(part);
            Vec::new()
        });
        pieces.push(delta);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The pieces of the part that has waited longest.
    pub(super) fn pop(&mut self) -> Option<Vec<Delta>> {
        self.pieces.remove(&self.order.pop_front()?)
    }
}
