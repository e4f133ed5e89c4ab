//! Tool blocks: an assistant message with calls, and the results that answer it.

use std::borrow::Borrow;
use std::collections::HashMap;

use crate::{CallId, Message};

/// The tool blocks of a list of messages, by position.
///
/// A result belongs to the nearest assistant message before it that made its call,
/// also when a broken history has set the two apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// For each position its block, if it is in one.
    of: Vec<Option<usize>>,
    blocks: Vec<Block>,
}

/// One tool block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Where its messages stand, ascending; the first is the one with the calls.
    pub positions: Vec<usize>,
    /// How many of its calls have no result.
    pub unanswered: usize,
}

impl Blocks {
    /// Finds the blocks.
    pub fn find<'a, M: Borrow<Message> + 'a>(messages: impl Iterator<Item = &'a M>) -> Self {
        // Per call id: its block, and whether it still waits for a result.
        let mut open: HashMap<&CallId, (usize, bool)> = HashMap::new();
        let mut found = Self { of: Vec::new(), blocks: Vec::new() };
        for (position, message) in messages.enumerate() {
            let message: &Message = message.borrow();
            let mut block = None;
            if let Some((of, waits)) = message.as_result().and_then(|r| open.get_mut(&r.call)) {
                block = Some(*of);
                found.blocks[*of].unanswered -= usize::from(std::mem::take(waits));
            }
            if message.has_calls() {
                let number = found.blocks.len();
                let mut unanswered = 0;
                for call in message.calls() {
                    let earlier = open.insert(&call.id, (number, true));
                    unanswered += usize::from(earlier != Some((number, true)));
                }
                found.blocks.push(Block { positions: Vec::new(), unanswered });
                block = Some(number);
            }
            if let Some(block) = block {
                found.blocks[block].positions.push(position);
            }
            found.of.push(block);
        }
        found
    }

    /// Each block, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter()
    }

    /// The block that this position is in.
    pub fn around(&self, position: usize) -> Option<&Block> {
        self.of.get(position).copied().flatten().map(|block| &self.blocks[block])
    }

    /// The start of the unbroken run that a message put at `position` would cut, if
    /// it would cut one.
    pub fn cut_at(&self, position: usize) -> Option<usize> {
        let block = self.of.get(position).copied().flatten()?;
        let same = |p: &usize| self.of.get(*p).copied().flatten() == Some(block);
        (0..position).rev().take_while(same).last()
    }
}
