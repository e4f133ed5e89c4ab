//! What the model said.

use crate::bedrock::wire::OWNER;
use std::borrow::Cow;

use interleaf_model::{
    Arguments, AssistantPart, Body, Entry, Json, Message, MessageId, Seal, Thinking, ToolCall,
};

use super::media::left_out;
use super::parts::{self, call_id, own, push_text};
use super::{fill, mark, report_merge};
use crate::adjustment::AdjustmentKind;
use crate::bedrock::lint::Place;
use crate::bedrock::media;
use crate::bedrock::models::takes_unsigned_thinking;
use crate::bedrock::wire::{self, Block, Kind, Reasoning, ReasoningText, Rest, ToolUse};
use crate::encode::{Context, TurnPlace};
use crate::{arguments, thinking};

/// What the assistant said in one message.
pub(super) fn assistant_blocks<'a>(
    cx: &mut Context<'_>,
    message: &'a Message,
    out: &mut Vec<Block<'a>>,
) {
    let Body::Assistant(parts) = &message.body else { return };
    for part in parts.iter() {
        match part {
            AssistantPart::Text(text) => push_text(cx, &text.text, &text.extra, &message.id, out),
            AssistantPart::Thinking(thought) => {
                if thinking::goes_back(cx, thought, message) {
                    push_thinking(cx, thought, &message.id, out);
                }
            }
            AssistantPart::Call(call) => out.push(tool_use(cx, call, &message.id)),
            AssistantPart::Image(_) => {
                out.push(left_out(cx, "image", "the assistant cannot send one", &message.id));
            }
            AssistantPart::File(_) => {
                out.push(left_out(cx, "file", "the assistant cannot send one", &message.id));
            }
            AssistantPart::Opaque(opaque) => {
                if let Some(block) = own(cx, opaque, &message.id, Place::Assistant, out) {
                    out.push(block);
                }
            }
        }
    }
}

fn push_thinking<'a>(
    cx: &mut Context<'_>,
    thinking: &'a Thinking,
    message: &MessageId,
    out: &mut Vec<Block<'a>>,
) {
    let reasoning = match &thinking.seal {
        Some(Seal::Signature(signature)) if !signature.is_empty() => {
            Reasoning::ReasoningText(reasoning_text(thinking, Some(signature)))
        }
        Some(Seal::Encrypted(data)) if media::is_base64(data) => {
            if !thinking.text.is_empty() {
                let detail = "its readable text, beside the sealed one";
                cx.adjustments.add(AdjustmentKind::ThinkingDropped, message, detail);
            }
            Reasoning::RedactedContent(data)
        }
        Some(Seal::Encrypted(_)) => {
            cx.adjustments.add(AdjustmentKind::ThinkingDropped, message, "its seal is not base64");
            return;
        }
        Some(Seal::Signature(_)) | None
            if takes_unsigned_thinking(&cx.options.model) && !thinking.text.is_empty() =>
        {
            Reasoning::ReasoningText(reasoning_text(thinking, None))
        }
        Some(Seal::Signature(_)) | None => {
            cx.adjustments.add(AdjustmentKind::ThinkingDropped, message, "it has no signature");
            return;
        }
    };
    out.push(Block::with(Kind::ReasoningContent(reasoning), &thinking.extra));
}

fn reasoning_text<'a>(thinking: &'a Thinking, signature: Option<&'a str>) -> ReasoningText<'a> {
    const INNER: &str = "reasoningContent";
    let rest = Rest::inside(&thinking.extra, OWNER, INNER, &["text", "signature"]);
    ReasoningText { text: &thinking.text, signature, rest }
}

fn tool_use<'a>(cx: &mut Context<'_>, call: &'a ToolCall, message: &MessageId) -> Block<'a> {
    let name = cx.tool_name(&call.name);
    if let Cow::Owned(name) = &name {
        let detail = format!("{} became {name}", call.name);
        cx.adjustments.add(AdjustmentKind::ToolNameRewritten, message, detail);
    }
    let input = match &call.arguments {
        Arguments::Object(json) => json.clone(),
        invalid @ Arguments::Invalid(_) => {
            cx.adjustments.add(AdjustmentKind::ArgumentsWrapped, message, call.id.as_str());
            let object = arguments::as_object(invalid).into_owned();
            Json::parse(object).unwrap_or_else(|_| empty_object())
        }
    };
    let id = call_id(cx, &call.id, message);
    let rest = Rest::inside(&call.extra, OWNER, "toolUse", &["toolUseId", "name", "input"]);
    let kind = Kind::ToolUse(ToolUse { tool_use_id: id, name, input, rest });
    Block::with(kind, &call.extra)
}

fn empty_object() -> Json {
    match Arguments::none() {
        Arguments::Object(json) => json,
        Arguments::Invalid(_) => Json::from(&serde_json::Value::Null),
    }
}

pub(super) fn assistant_message<'a>(
    cx: &mut Context<'_>,
    said: &'a [Entry],
    start: usize,
    place: TurnPlace,
) -> wire::Message<'a> {
    let (mut content, mut rest) = (Vec::new(), Rest::NONE);
    for (index, entry) in (start..).zip(said) {
        let first = content.len();
        assistant_blocks(cx, &entry.message, &mut content);
        if place.breakpoint == Some(index) {
            mark(&mut content, first);
        }
        rest.merge(Rest::of(&entry.message.extra, OWNER, parts::MESSAGE_FIELDS));
    }
    report_merge(cx, said);
    if place.last
        && let Some(Block::Known(known)) = content.last_mut()
        && let Kind::Text(text) = &mut known.kind
        && text.ends_with(char::is_whitespace)
    {
        // The models of Anthropic refuse to continue such a text.
        *text = text.trim_end().to_owned().into();
        if let Some(entry) = said.last() {
            let detail = "white space at the end of the last turn";
            cx.adjustments.add(AdjustmentKind::BlankText, &entry.message.id, detail);
        }
    }
    fill(cx, &mut content, said);
    wire::Message { role: "assistant", content, rest }
}
