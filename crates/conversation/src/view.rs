//! The view: which messages are visible, and in what order.

use std::ops::Range;
use std::sync::Arc;

use imbl::Vector;
use interleaf_model::{Message, Ranges, Role};

use crate::Error;
use crate::role_index::RoleIndex;

/// The visible messages as log indices, with their index by role.
#[derive(Clone, PartialEq)]
pub(crate) struct View {
    indices: Vector<u32>,
    /// Places in `indices`, by role.
    roles: RoleIndex,
    /// The positions in the order of their log indices, so that a log index is found
    /// by bisection; `None` while the view is in that order itself.
    by_index: Option<Vector<u32>>,
}

impl Default for View {
    fn default() -> Self {
        Self { indices: Vector::new(), roles: RoleIndex::default(), by_index: None }
    }
}

impl View {
    /// The view over `log` that shows these indices, all of which lie in it.
    pub(crate) fn new(indices: Vector<u32>, log: &Vector<Arc<Message>>) -> Self {
        let mut roles = RoleIndex::default();
        let mut ascending = true;
        let mut previous = None;
        // Neighbours in the view are mostly neighbours in the log.
        let mut log = log.focus();
        for (position, &index) in indices.iter().enumerate() {
            if let Some(message) = log.get(index as usize) {
                roles.push(message.role(), position as u32);
            }
            ascending &= previous < Some(index);
            previous = Some(index);
        }
        let by_index = (!ascending).then(|| {
            let mut by_index: Vec<(u32, u32)> = indices.iter().copied().zip(0..).collect();
            by_index.sort_unstable();
            by_index.into_iter().map(|(_, position)| position).collect()
        });
        Self { indices, roles, by_index }
    }

    /// Shows a message that has just been added to the log.
    pub(crate) fn push(&mut self, index: u32, role: Role) {
        let position = self.indices.len() as u32;
        self.roles.push(role, position);
        self.indices.push_back(index);
        if let Some(by_index) = &mut self.by_index {
            by_index.push_back(position);
        }
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

    /// The position that shows this log index.
    pub(crate) fn position_of(&self, index: u32) -> Option<usize> {
        let Some(by_index) = &self.by_index else {
            return self.indices.binary_search(&index).ok();
        };
        let shown = |&position: &u32| self.index_at(position as usize).cmp(&Some(index));
        let rank = by_index.binary_search_by(shown).ok()?;
        by_index.get(rank).map(|&position| position as usize)
    }

    /// The lowest visible log index.
    pub(crate) fn boundary(&self) -> Option<u32> {
        let lowest = self.by_index.as_ref().and_then(|by_index| by_index.front().copied());
        self.index_at(lowest.unwrap_or(0) as usize)
    }

    /// These indices as a list that shares long runs with this view, so that a batch
    /// which keeps the old one costs little. Indices from `n_logged` on are new.
    pub(crate) fn reshaped(&self, indices: &[u32], n_logged: usize) -> Vector<u32> {
        let whole = || indices.iter().copied().collect();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut shown = self.indices.iter().enumerate();
        for &index in indices {
            if index as usize >= n_logged {
                pieces.push(Piece::New(index));
            } else if let Some((position, _)) = shown.find(|&(_, &shown)| shown == index) {
                match pieces.last_mut() {
                    Some(Piece::Shown(run)) if run.end == position => run.end += 1,
                    _ => pieces.push(Piece::Shown(position..position + 1)),
                }
            } else {
                return whole();
            }
            if pieces.len() > MOST_PIECES {
                return whole();
            }
        }
        let mut left = self.indices.clone();
        let mut list = Vector::new();
        for piece in pieces.into_iter().rev() {
            match piece {
                Piece::New(index) => list.push_front(index),
                Piece::Shown(run) => {
                    let mut tail = left.split_off(run.start);
                    tail.truncate(run.len());
                    tail.append(list);
                    list = tail;
                }
            }
        }
        list
    }
}

/// Beyond this many pieces a copy is cheaper than sharing.
const MOST_PIECES: usize = 16;

/// A piece of a view's successor.
enum Piece {
    /// These positions of the view.
    Shown(Range<usize>),
    /// A new message, by log index.
    New(u32),
}

/// The indices of a view that an event claims, if they can be one of `len` messages.
pub(crate) fn view_of(view: &Ranges, len: usize) -> Result<Vec<u32>, Error> {
    let refused = |rule| Err(Error::event("operated.view", rule));
    let mut indices = Vec::new();
    // Runs may claim more indices than memory holds. One that is too many is enough
    // to know that an index comes twice.
    for index in view.iter().take(len + 1) {
        if index as usize >= len {
            return refused(format!("index {index} is outside the log, whose length is {len}"));
        }
        indices.push(index);
    }
    if !indices.is_sorted_by(|a, b| a < b) {
        let mut sorted = indices.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return refused(format!("index {} appears twice", twice[0]));
        }
    }
    Ok(indices)
}
