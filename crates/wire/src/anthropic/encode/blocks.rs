//! The blocks of a turn, and where its messages end.

use interleaf_model::{Entry, Message};

use super::parts::plain;
use super::rest;
use crate::CacheMarks;
use crate::adjustment::AdjustmentKind;
use crate::anthropic::wire::{Block, CacheMark, Content, Message as MessageForm, Rest};
use crate::anthropic::{MARK, PLACEHOLDER};
use crate::encode::Context;

/// Blocks, and after which of them each message ends.
#[derive(Default)]
pub(super) struct Blocks<'a> {
    pub(super) list: Vec<Block<'a>>,
    /// For each message, the number of blocks up to its end.
    ends: Vec<usize>,
    rest: Rest<'a>,
}

impl<'a> Blocks<'a> {
    pub(super) fn end_message(&mut self) {
        self.ends.push(self.list.len());
    }

    /// Adds to the last message what must stand there.
    pub(super) fn push_placeholder(&mut self, block: Block<'a>) {
        self.list.push(block);
        if let Some(end) = self.ends.last_mut() {
            *end = self.list.len();
        }
    }

    /// Adds fields of the message itself; of two of one name the first counts.
    pub(super) fn attach(&mut self, fields: Rest<'a>) {
        self.rest.merge(fields);
    }

    /// Sets the mark after a message: on its last block that can have one, or on one
    /// before it.
    pub(super) fn set_mark(&mut self, message: usize, mark: CacheMark<'a>) {
        let end = self.ends.get(message).copied().unwrap_or(self.list.len());
        set_last_mark(&mut self.list[..end], mark);
    }

    pub(super) fn message(self, role: &'static str, cache: CacheMarks) -> MessageForm<'a> {
        MessageForm { role, content: Content(self.list, cache), rest: self.rest }
    }
}

/// Sets the mark on the last of these blocks that can have one, if any can.
pub(super) fn set_last_mark<'a>(blocks: &mut [Block<'a>], mark: CacheMark<'a>) -> bool {
    for block in blocks.iter_mut().rev() {
        let place = match block {
            Block::Text(block) => &mut block.cache_control,
            Block::Image(block) => &mut block.cache_control,
            Block::Document(block) => &mut block.cache_control,
            Block::Call(block) => &mut block.cache_control,
            Block::Result(block) => &mut block.cache_control,
            Block::Thinking(_) | Block::Redacted(_) | Block::Opaque(_) => continue,
        };
        *place = Some(mark);
        return true;
    }
    false
}

pub(super) fn placeholder(cx: &mut Context<'_>, said: &[Entry]) -> Block<'static> {
    if let Some(entry) = said.last() {
        let detail = "a placeholder takes its place";
        cx.adjustments.add(AdjustmentKind::BlankText, &entry.message.id, detail);
    }
    plain(PLACEHOLDER)
}

pub(super) fn report_merge(cx: &mut Context<'_>, said: &[Entry]) {
    for entry in said.iter().skip(1) {
        cx.adjustments.add(AdjustmentKind::TurnsMerged, &entry.message.id, "");
    }
}

pub(super) fn message_rest(message: &Message, cache: CacheMarks) -> Rest<'_> {
    rest(&message.extra, &["role", "content", MARK], cache)
}
