//! The view: which messages are visible, and in what order.

use imbl::Vector;
use interleaf_model::{Message, Role};
use std::sync::Arc;

use crate::role_index::RoleIndex;

/// The visible messages as log indices, with their index by role.
#[derive(Clone, PartialEq)]
pub(crate) struct View {
    indices: Vector<u32>,
    /// Places in `indices`, by role.
    roles: RoleIndex,
    /// Whether the indices ascend; then a log index is found by bisection.
    ascending: bool,
}

impl Default for View {
    fn default() -> Self {
        Self { indices: Vector::new(), roles: RoleIndex::default(), ascending: true }
    }
}

impl View {
    /// The view over `log` that shows these indices, all of which lie in it.
    pub(crate) fn new(indices: Vector<u32>, log: &Vector<Arc<Message>>) -> Self {
        let mut roles = RoleIndex::default();
        let mut ascending = true;
        let mut previous = None;
        for (position, &index) in indices.iter().enumerate() {
            if let Some(message) = log.get(index as usize) {
                roles.push(message.role(), position as u32);
            }
            ascending &= previous < Some(index);
            previous = Some(index);
        }
        Self { indices, roles, ascending }
    }

    /// Shows a message that has just been added to the log.
    pub(crate) fn push(&mut self, index: u32, role: Role) {
        self.roles.push(role, self.indices.len() as u32);
        self.indices.push_back(index);
    }

    pub(crate) fn len(&self) -> usize {
        self.indices.len()
    }

    pub(crate) fn roles(&self) -> &RoleIndex {
        &self.roles
    }

    pub(crate) fn indices(&self) -> &Vector<u32> {
        &self.indices
    }

    /// The log index shown at this position.
    pub(crate) fn index_at(&self, position: usize) -> Option<u32> {
        self.indices.get(position).copied()
    }

    /// The position that shows this log index. Only a view that was reordered has
    /// to be searched.
    pub(crate) fn position_of(&self, index: u32) -> Option<usize> {
        if self.ascending {
            self.indices.binary_search(&index).ok()
        } else {
            self.indices.iter().position(|&i| i == index)
        }
    }

    /// The lowest visible log index.
    pub(crate) fn boundary(&self) -> Option<u32> {
        if self.ascending { self.index_at(0) } else { self.indices.iter().min().copied() }
    }

    /// The indices at the positions that `keep` names. Long runs are shared with
    /// this view, so that a batch which keeps the old one costs little.
    pub(crate) fn kept(&self, keep: &[bool]) -> Vector<u32> {
        const MOST_SHARED_RUNS: usize = 16;
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (position, _) in keep.iter().enumerate().filter(|&(_, &kept)| kept) {
            match runs.last_mut() {
                Some((_, end)) if *end == position => *end += 1,
                _ => runs.push((position, position + 1)),
            }
        }
        if runs.len() > MOST_SHARED_RUNS {
            let kept = self.indices.iter().zip(keep).filter(|&(_, &kept)| kept);
            return kept.map(|(&index, _)| index).collect();
        }
        let mut all = self.indices.clone();
        let mut kept = Vector::new();
        for (start, end) in runs.into_iter().rev() {
            let mut tail = all.split_off(start);
            tail.truncate(end - start);
            tail.append(kept);
            kept = tail;
        }
        kept
    }
}
