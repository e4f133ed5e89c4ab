//! The parts of messages as blocks.

use std::borrow::Cow;
use std::collections::HashSet;

use interleaf_model::{Arguments, ContentPart, Message, Opaque, Seal, Text, Thinking, ToolCall};
use serde_json::value::RawValue;

use super::media::{file_block, image_block};
use super::{fields, raw_object, rest, settings};
use crate::adjustment::AdjustmentKind;
use crate::anthropic::wire::{Block, CallBlock, RedactedBlock, Rest, TextBlock, ThinkingBlock};
use crate::anthropic::{MARK, OWNER, is_blank};
use crate::base64;
use crate::encode::Context;
use crate::raw::text;
use crate::{Family, Options, arguments, misplaced, names, thinking};

/// Where a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    User,
    Result,
    Assistant,
}

/// A text, unless it is blank.
pub(super) fn text_block<'a>(
    cx: &mut Context<'_>,
    text: &'a Text,
    message: &Message,
) -> Option<Block<'a>> {
    if is_blank(&text.text) {
        cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "");
        return None;
    }
    Some(Block::Text(TextBlock {
        text: Cow::Borrowed(&text.text),
        cache_control: None,
        rest: rest(&text.extra, &["type", "text"], cx.options.cache),
    }))
}

/// A text of ours.
pub(super) fn plain(text: impl Into<Cow<'static, str>>) -> Block<'static> {
    Block::Text(TextBlock { text: text.into(), cache_control: None, rest: Rest::default() })
}

/// A part of a user message or of a result.
pub(super) fn content_block<'a>(
    cx: &mut Context<'_>,
    part: &'a ContentPart,
    message: &Message,
    side: Side,
) -> Option<Block<'a>> {
    let sent = match part {
        ContentPart::Text(text) => return text_block(cx, text, message),
        ContentPart::Opaque(opaque) => return opaque_block(cx, opaque, message, side),
        ContentPart::Image(image) => image_block(image, cx.options.cache),
        ContentPart::File(file) => file_block(file, cx.options.cache, unwritten(cx.options)),
    };
    Some(sent.unwrap_or_else(|note| left_out(cx, message, note)))
}

/// What stands for a picture or file that cannot be sent.
pub(super) fn left_out(cx: &mut Context<'_>, message: &Message, note: String) -> Block<'static> {
    cx.adjustments.add(AdjustmentKind::MediaDropped, &message.id, note.as_str());
    plain(note)
}

/// The fields of a message that held results only, in the extra of the first result.
pub(in crate::anthropic) const IN_MESSAGE: &str = "in_message";

pub(super) fn call_block<'a>(
    cx: &mut Context<'_>,
    call: &'a ToolCall,
    message: &Message,
) -> Block<'a> {
    let id = names::call_id(&call.id, &cx.vendor.quirks.call_ids);
    if let Cow::Owned(id) = &id {
        let detail = format!("{} to {id}", call.id);
        cx.adjustments.add(AdjustmentKind::CallIdRewritten, &message.id, detail);
    }
    let name = cx.tool_name(&call.name);
    if let Cow::Owned(name) = &name {
        let detail = format!("{} to {name}", call.name);
        cx.adjustments.add(AdjustmentKind::ToolNameRewritten, &message.id, detail);
    }
    if let Arguments::Invalid(_) = call.arguments {
        cx.adjustments.add(AdjustmentKind::ArgumentsWrapped, &message.id, call.id.as_str());
    }
    let written = ["type", "id", "name", "input"];
    let rest = rest(&call.extra, &written, cx.options.cache);
    Block::Call(CallBlock { id, name, input: input(&call.arguments), cache_control: None, rest })
}

fn input(arguments: &Arguments) -> Cow<'_, RawValue> {
    match arguments {
        Arguments::Object(json) => Cow::Borrowed(json.as_raw()),
        Arguments::Invalid(_) => {
            let text = arguments::as_object(arguments).into_owned();
            Cow::Owned(RawValue::from_string(text).unwrap_or_default())
        }
    }
}

/// A thought, if it goes back. `seen` are the signatures before it in the message:
/// a copy of a thought is one that was tampered with.
pub(super) fn thinking_block<'a>(
    cx: &mut Context<'_>,
    thought: &'a Thinking,
    message: &Message,
    seen: &mut HashSet<&'a str>,
) -> Option<Block<'a>> {
    if !thinking::goes_back(cx, thought, message) {
        return None;
    }
    let refused = match &thought.seal {
        Some(Seal::Signature(signature)) if !base64::could_be(signature) => {
            "its signature is not Anthropic's"
        }
        Some(Seal::Encrypted(data)) if is_blank(data) => "it has no signature",
        Some(Seal::Encrypted(_)) if !thought.text.is_empty() => "its signature is not Anthropic's",
        Some(Seal::Signature(seal) | Seal::Encrypted(seal)) if seen.contains(&**seal) => {
            "it repeats an earlier one"
        }
        Some(Seal::Signature(signature)) => {
            seen.insert(signature);
            let written = ["type", "thinking", "signature", MARK];
            let rest = rest(&thought.extra, &written, cx.options.cache);
            return Some(Block::Thinking(ThinkingBlock {
                thinking: &thought.text,
                signature,
                rest,
            }));
        }
        Some(Seal::Encrypted(data)) => {
            seen.insert(data);
            let rest = rest(&thought.extra, &["type", "data", MARK], cx.options.cache);
            return Some(Block::Redacted(RedactedBlock { data, rest }));
        }
        None => "it has no signature",
    };
    cx.adjustments.add(AdjustmentKind::ThinkingDropped, &message.id, refused);
    None
}

/// A part that only its owner understands, if that is us and it may stand here.
pub(super) fn opaque_block<'a>(
    cx: &mut Context<'_>,
    opaque: &'a Opaque,
    message: &Message,
    side: Side,
) -> Option<Block<'a>> {
    let own = fields(&opaque.value).filter(|_| opaque.owner.as_str() == OWNER);
    let kind = own.and_then(|own| own.peek("type")).and_then(|raw| text(raw).ok());
    match kind {
        Some(kind) if may_stand(&kind, side) => {
            let unwritten = if is_asked(&kind) { unwritten(cx.options) } else { &[] };
            raw_object(&opaque.value, unwritten, cx.options.cache).map(Block::Opaque)
        }
        _ => {
            let detail = opaque.owner.as_str();
            cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, detail);
            None
        }
    }
}

/// Citations do not go with an answer that has a form.
fn unwritten(options: &Options) -> &'static [&'static str] {
    if settings::has_format(options) { &["citations"] } else { &[] }
}

/// What the user shows.
fn is_asked(kind: &str) -> bool {
    matches!(kind, "image" | "document" | "search_result")
}

/// Blocks that we have parts for are never opaque, and some belong to one side.
fn may_stand(kind: &str, side: Side) -> bool {
    let is_ours =
        matches!(kind, "" | "text" | "thinking" | "redacted_thinking" | "tool_use" | "tool_result");
    let is_foreign = misplaced::is_foreign_type(Family::Anthropic, kind);
    let is_asked = is_asked(kind);
    let is_served = kind.ends_with("_tool_use") || kind.ends_with("_tool_result");
    !is_ours
        && !is_foreign
        && match side {
            Side::User => !is_served,
            Side::Result => is_asked || matches!(kind, "tool_reference" | "browser_state"),
            Side::Assistant => !is_asked,
        }
}
