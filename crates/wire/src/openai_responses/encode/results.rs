//! What tools answered.

use std::borrow::Cow;

use interleaf_model::{ContentPart, Message, Status, ToolCall, ToolResult};

use super::marks::input_content;
use super::own::Own;
use super::parts::content_part;
use crate::adjustment::AdjustmentKind;
use crate::encode::Context;
use crate::failed::stated;
use crate::names::call_id;
use crate::openai_responses::OWNER;
use crate::openai_responses::wire::{Content, Output, Part};

pub(super) fn output<'a>(
    cx: &mut Context<'_>,
    message: &'a Message,
    result: &'a ToolResult,
    call: Option<&ToolCall>,
    is_marked: bool,
) -> Output<'a> {
    let id = call_id(&result.call, &cx.vendor.quirks.call_ids);
    if matches!(id, Cow::Owned(_)) {
        cx.adjustments.add(AdjustmentKind::CallIdRewritten, &message.id, result.call.as_str());
    }
    let mut own = Own::of(&message.extra, OWNER);
    let is_custom = own.take_text("type").as_deref() == Some("custom_tool_call_output")
        || call.is_some_and(|call| is_custom_call(&call.extra));
    if let Some(id) = own.take_text("id") {
        cx.adjustments.add(AdjustmentKind::ItemIdDropped, &message.id, id);
    }
    let kind = if is_custom { "custom_tool_call_output" } else { "function_call_output" };
    let output = payload(cx, message, result, is_marked);
    let extra = own.rest(&["call_id", "output"]);
    Output { r#type: kind, call_id: id, output, extra }
}

pub(super) fn is_custom_call(extra: &interleaf_model::Extra) -> bool {
    Own::of(extra, OWNER).peek_text("type").as_deref() == Some("custom_tool_call")
}

fn payload<'a>(
    cx: &mut Context<'_>,
    message: &Message,
    result: &'a ToolResult,
    is_marked: bool,
) -> Content<'a> {
    let failed = result.status == Status::Error;
    // A text alone goes as it is: an empty output is an answer too, which takes no mark.
    if let [ContentPart::Text(text)] = &*result.parts
        && (!cx.sets_marks || text.is_blank())
        && Own::of(&text.extra, OWNER).rest(&[]).is_empty()
    {
        let said = if failed { stated(&text.text) } else { Cow::Borrowed(&*text.text) };
        if matches!(said, Cow::Owned(_)) {
            cx.adjustments.add(AdjustmentKind::ErrorInText, &message.id, "");
        }
        return Content::Text(said);
    }
    let mut parts: Vec<Part<'_>> = result
        .parts
        .iter()
        .filter_map(|part| content_part(part, &message.id, &mut cx.adjustments))
        .collect();
    if failed && mark_error(&mut parts) {
        cx.adjustments.add(AdjustmentKind::ErrorInText, &message.id, "");
    }
    match parts.is_empty() {
        true => Content::Text(Cow::Borrowed("")),
        false => input_content(cx, parts, is_marked),
    }
}

/// Puts the word before the first text, or in front of everything, and says whether that was
/// needed.
fn mark_error(parts: &mut Vec<Part<'_>>) -> bool {
    let said = parts.iter_mut().find_map(|part| match part {
        Part::Text(text) => Some(&mut text.text),
        _ => None,
    });
    match said {
        Some(text) => match stated(text) {
            Cow::Borrowed(_) => return false,
            Cow::Owned(told) => *text = Cow::Owned(told),
        },
        None => {
            let note = super::Note(stated("").into_owned());
            parts.insert(0, super::parts::note_part(note, "input_text"));
        }
    }
    true
}
