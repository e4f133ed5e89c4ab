//! Which visible messages belong to one tool block.

use std::collections::HashMap;
use std::sync::Arc;

use interleaf_model::{CallId, Message};

/// The tool blocks of a list of messages.
///
/// A result belongs to the nearest assistant message before it that made its call,
/// also when a broken history has set the two apart.
pub(crate) struct Blocks {
    /// For each position its block, if it is in one.
    of: Vec<Option<usize>>,
    members: Vec<Vec<usize>>,
}

impl Blocks {
    pub(crate) fn find<'a>(messages: impl Iterator<Item = &'a Arc<Message>>) -> Self {
        let mut open: HashMap<&CallId, usize> = HashMap::new();
        let mut blocks = Self { of: Vec::new(), members: Vec::new() };
        for (position, message) in messages.enumerate() {
            let mut block = message.as_result().and_then(|r| open.get(&r.call).copied());
            if message.has_calls() {
                block = Some(blocks.members.len());
                blocks.members.push(Vec::new());
                open.extend(message.calls().map(|call| (&call.id, blocks.members.len() - 1)));
            }
            if let Some(block) = block {
                blocks.members[block].push(position);
            }
            blocks.of.push(block);
        }
        blocks
    }

    /// The positions of each block, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[usize]> {
        self.members.iter().map(Vec::as_slice)
    }

    /// The positions of the block that this position is in.
    pub(crate) fn around(&self, position: usize) -> Option<&[usize]> {
        self.of.get(position).copied().flatten().map(|block| self.members[block].as_slice())
    }

    /// The start of the unbroken block that a message put at `position` would cut,
    /// if it would cut one.
    pub(crate) fn cut_at(&self, position: usize) -> Option<usize> {
        let block = self.of.get(position).copied().flatten()?;
        let same = |p: usize| self.of.get(p).copied().flatten() == Some(block);
        let start = (0..position).rev().take_while(|&p| same(p)).last()?;
        Some(start)
    }
}
