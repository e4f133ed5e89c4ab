//! What tools answered.

use crate::bedrock::wire::OWNER;
use interleaf_model::{Body, ContentPart, Message, MessageId, Status};
use lint::Place;

use super::documents::Documents;
use super::media::{file_block, image_block};
use super::parts::{call_id, own, push_own, push_text};
use crate::CacheMarks;
use crate::adjustment::AdjustmentKind;
use crate::bedrock::lint;
use crate::bedrock::wire::{
    self, AFTER_RESULT, AROUND_RESULT, Block, KINDS, Kind, Known, Rest, ToolResult, own_field,
};
use crate::encode::Context;
use crate::failed::FAILED;

/// The result of one call, and after all results what cannot stand in one.
pub(super) fn result_block<'a>(
    cx: &mut Context<'_>,
    message: &'a Message,
    documents: &mut Documents,
    out: &mut Vec<Block<'a>>,
    after: &mut Vec<Block<'a>>,
) {
    let Body::Tool(result) = &message.body else { return };
    let mut content = Vec::new();
    let mut n_moved = 0;
    for part in result.parts.iter() {
        match part {
            ContentPart::Text(text) => push_result_text(cx, text, &message.id, &mut content),
            ContentPart::Image(image) => content.push(image_block(cx, image, &message.id)),
            ContentPart::File(file) => {
                let block = file_block(cx, file, documents, message);
                if block.kind() == "audio" {
                    n_moved += 1;
                    let note = format!("[audio {n_moved} of call {} follows]", result.call);
                    content.push(Block::text(note));
                    after.push(block);
                    cx.adjustments.add(AdjustmentKind::MediaMoved, &message.id, "audio");
                } else {
                    content.push(block);
                }
            }
            ContentPart::Opaque(opaque) => {
                if let Some(block) = own(cx, opaque, &message.id, Place::Result, &content) {
                    push_own(cx, opaque, block, documents, &message.id, &mut content);
                }
            }
        }
    }
    let is_error = result.status == Status::Error;
    if is_error && content.is_empty() {
        content.push(Block::text(FAILED));
        cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "a failed result needs a text");
    }
    let id = call_id(cx, &result.call, &message.id);
    let written = &["toolUseId", "content", "status"];
    let kind = Kind::ToolResult(ToolResult {
        tool_use_id: id,
        content,
        status: is_error.then_some("error"),
        rest: Rest::inside(&message.extra, OWNER, "toolResult", written),
    });
    let rest = Rest::inside(&message.extra, OWNER, AROUND_RESULT, KINDS);
    out.push(Block::Known(Known { kind, rest }));
    if cx.options.cache == CacheMarks::Off
        && let Some(mark) = own_field(&message.extra, AFTER_RESULT)
        && wire::kind_of(mark) == Some("cachePoint")
        && lint::takes_block(mark, Place::User)
    {
        out.push(Block::Own(mark));
    }
}

/// A text of a result; a JSON object that came as one goes back as one.
fn push_result_text<'a>(
    cx: &mut Context<'_>,
    text: &'a interleaf_model::Text,
    message: &MessageId,
    out: &mut Vec<Block<'a>>,
) {
    if own_field(&text.extra, "json").is_some()
        && text.text.starts_with('{')
        && let Ok(json) = serde_json::from_str(&text.text)
    {
        out.push(Block::with(Kind::Json(json), &text.extra));
    } else {
        push_text(cx, &text.text, &text.extra, message, out);
    }
}
