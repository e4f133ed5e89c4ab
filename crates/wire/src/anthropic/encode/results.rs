//! What tools answered.

use interleaf_model::{Body, Message, Status};

use super::parts::{IN_MESSAGE, Side, content_block, plain};
use super::rest;
use crate::CacheMarks;
use crate::adjustment::AdjustmentKind;
use crate::anthropic::wire::{Block, Content, ResultBlock};
use crate::encode::Context;
use crate::failed::FAILED;
use crate::names;

/// The result of a call.
pub(super) fn result_block<'a>(cx: &mut Context<'_>, message: &'a Message) -> Option<Block<'a>> {
    let Body::Tool(result) = &message.body else { return None };
    let tool_use_id = names::call_id(&result.call, &cx.vendor.quirks.call_ids);
    let mut content = Vec::new();
    for part in result.parts.iter() {
        // A tool that said nothing has no content.
        let is_empty = part.as_text().is_some_and(|text| text.text.is_empty());
        if !(is_empty && result.parts.len() == 1) {
            content.extend(content_block(cx, part, message, Side::Result));
        }
    }
    let is_error = result.status == Status::Error;
    if is_error && content.is_empty() {
        // A failure must be told in words.
        cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "a failed result needs a text");
        content.push(plain(FAILED));
    }
    let written = ["type", "tool_use_id", "content", "is_error", IN_MESSAGE];
    Some(Block::Result(ResultBlock {
        tool_use_id,
        content: Content(content, CacheMarks::Off),
        is_error,
        cache_control: None,
        rest: rest(&message.extra, &written, cx.options.cache),
    }))
}
