//! What tools answered.

use std::borrow::Cow;

use interleaf_model::{ContentPart, Message, PartRef, Status, ToolResult};

use super::content;
use super::own::Own;
use super::parts::content_part;
use crate::adjustment::AdjustmentKind;
use crate::encode::Context;
use crate::names::call_id;
use crate::openai_responses::OWNER;
use crate::openai_responses::wire::{Content, Output, Part};

pub(super) fn output<'a>(
    cx: &mut Context<'_>,
    message: &'a Message,
    result: &'a ToolResult,
    start: usize,
) -> Output<'a> {
    let id = call_id(&result.call, &cx.vendor.quirks.call_ids);
    if matches!(id, Cow::Owned(_)) {
        cx.adjustments.add(AdjustmentKind::CallIdRewritten, &message.id, result.call.as_str());
    }
    let mut own = Own::of(&message.extra, OWNER);
    let is_custom = own.take_text("type").as_deref() == Some("custom_tool_call_output")
        || calls_custom(cx, result, start);
    if let Some(id) = own.take_text("id") {
        cx.adjustments.add(AdjustmentKind::ItemIdDropped, &message.id, id);
    }
    let kind = if is_custom { "custom_tool_call_output" } else { "function_call_output" };
    let output = payload(cx, message, result);
    let extra = own.rest(&["call_id", "output"]);
    Output { r#type: kind, call_id: id, output, extra }
}

/// Whether the call of a result is one of a custom tool. The message that holds it
/// stands right before the results.
fn calls_custom(cx: &Context<'_>, result: &ToolResult, start: usize) -> bool {
    let Some(before) = start.checked_sub(1).and_then(|at| cx.prompt.entries().get(at)) else {
        return false;
    };
    let mut calls = before.message.calls();
    calls.any(|call| call.id == result.call && is_custom_call(&call.extra))
}

pub(super) fn is_custom_call(extra: &interleaf_model::Extra) -> bool {
    Own::of(extra, OWNER).peek_text("type").as_deref() == Some("custom_tool_call")
}

fn payload<'a>(cx: &mut Context<'_>, message: &Message, result: &'a ToolResult) -> Content<'a> {
    let failed = result.status == Status::Error;
    // A text alone goes as it is: an empty output is an answer too.
    if let [ContentPart::Text(text)] = &*result.parts
        && Own::of(&text.extra, OWNER).rest(&[]).is_empty()
    {
        if failed && !says_error(&text.text) {
            cx.adjustments.add(AdjustmentKind::ErrorInText, &message.id, "");
            return Content::Text(Cow::Owned(format!("Error: {}", text.text)));
        }
        return Content::Text(Cow::Borrowed(&text.text));
    }
    let mut parts: Vec<Part<'_>> = result
        .parts
        .iter()
        .filter_map(|part| content_part(part, &message.id, &mut cx.adjustments))
        .collect();
    if failed {
        let first = message.parts().find_map(|part| match part {
            PartRef::Text(text) if !text.is_blank() => Some(&*text.text),
            _ => None,
        });
        if !first.is_some_and(says_error) {
            cx.adjustments.add(AdjustmentKind::ErrorInText, &message.id, "");
            mark_error(&mut parts);
        }
    }
    if parts.is_empty() { Content::Text(Cow::Borrowed("")) } else { content(parts) }
}

fn says_error(text: &str) -> bool {
    let start = text.trim_start().get(.."error".len());
    start.is_some_and(|start| start.eq_ignore_ascii_case("error"))
}

/// Puts the word before the first text, or in front of everything.
fn mark_error(parts: &mut Vec<Part<'_>>) {
    for part in parts.iter_mut() {
        if let Part::Text(text) = part {
            text.text = Cow::Owned(format!("Error: {}", text.text));
            return;
        }
    }
    parts.insert(0, super::parts::note_part(super::Note("Error:".to_owned()), "input_text"));
}
