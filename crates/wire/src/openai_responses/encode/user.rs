//! Results, then what the user said.

use std::borrow::Cow;

use interleaf_model::{Body, ContentPart, Entry, Message, Opaque};

use super::marks::input_content;
use super::own::Own;
use super::parts::content_part;
use super::results::output;
use super::system::system_item;
use super::{PLACEHOLDER, message, settings};
use crate::Error;
use crate::adjustment::AdjustmentKind;
use crate::encode::{Context, Elements, TurnPlace, is_markable};
use crate::openai_responses::lint::takes_item;
use crate::openai_responses::wire::{self, Content, Part, Rest};
use crate::openai_responses::{LONGEST_ITEM_ID, OWNER, WRAPPED_PART, is_part_type};
use crate::turns::{answered, only_blank};

pub(super) fn write(
    cx: &mut Context<'_>,
    results: &[Entry],
    said: &[Entry],
    start: usize,
    place: TurnPlace,
    items: &mut Elements<'_>,
) -> Result<(), Error> {
    if let Some(blank) = only_blank(results, said) {
        return items.push(&message("user", Content::Text(blank.into()), Rest::NONE));
    }
    for (at, (entry, call)) in (start..).zip(answered(cx.prompt, results, start)) {
        if let Some(result) = entry.message.as_result() {
            let is_marked = place.breakpoint == Some(at);
            items.push(&output(cx, &entry.message, result, call, is_marked))?;
        }
    }
    for (i, entry) in said.iter().enumerate() {
        let is_marked = place.breakpoint == Some(start + results.len() + i);
        if let Body::User(parts) = &entry.message.body {
            let is_last = place.last && i + 1 == said.len();
            write_user(cx, &entry.message, parts, (is_last, is_marked), items)?;
        } else if let Some(item) = system_item(cx, entry, is_marked) {
            items.push(&item)?;
        }
    }
    if items.is_empty() {
        items.push(&message("user", Content::Text(PLACEHOLDER.into()), Rest::NONE))?;
    }
    Ok(())
}

/// A message, and the items of the vendor's own that stand in it.
fn write_user(
    cx: &mut Context<'_>,
    message: &Message,
    parts: &[ContentPart],
    (is_last, is_marked): (bool, bool),
    items: &mut Elements<'_>,
) -> Result<(), Error> {
    let mut written: Vec<Part<'_>> = Vec::new();
    let mut marked = parts.iter().rposition(|part| is_markable(part.into())).filter(|_| is_marked);
    for (i, part) in parts.iter().enumerate() {
        match part {
            ContentPart::Opaque(opaque) if is_item(opaque) => {
                let holds_mark = marked.take_if(|at| *at < i).is_some();
                say(cx, message, std::mem::take(&mut written), holds_mark, items)?;
                match raw_item(cx, opaque, is_last && i + 1 == parts.len()) {
                    Ok(()) if is_output(&kind_of(opaque.value.as_str())) => {
                        write_continued(cx, message, opaque, items)?;
                    }
                    Ok(()) => {
                        // Of two updates side by side the later one counts.
                        let is_update = |item: &str| kind_of(item) == "configuration_update";
                        if is_update(opaque.value.as_str()) && items.pop_if(is_update) {
                            let why = "another follows";
                            cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, why);
                        }
                        items.push(&opaque.value)?;
                    }
                    Err(why) => cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, why),
                }
            }
            _ => written.extend(content_part(part, &message.id, &mut cx.adjustments)),
        }
    }
    say(cx, message, written, marked.is_some(), items)
}

fn say(
    cx: &mut Context<'_>,
    message: &Message,
    parts: Vec<Part<'_>>,
    is_marked: bool,
    items: &mut Elements<'_>,
) -> Result<(), Error> {
    if parts.is_empty() {
        return Ok(());
    }
    let mut own = Own::of(&message.extra, OWNER);
    let id = own.take_text("id").filter(|id| {
        let is_legal = id.starts_with("msg_") && id.chars().count() <= LONGEST_ITEM_ID;
        if !is_legal {
            cx.adjustments.add(AdjustmentKind::ItemIdDropped, &message.id, id.to_string());
        }
        is_legal
    });
    let extra = own.rest(&["type", "role", "content"]);
    let content = input_content(cx, parts, is_marked);
    items.push(&wire::Message { id, ..super::message("user", content, extra) })
}

fn is_output(kind: &str) -> bool {
    matches!(kind, "function_call_output" | "custom_tool_call_output")
}

/// The answer to a call that the API has: it is refused with an id.
fn write_continued(
    cx: &mut Context<'_>,
    message: &Message,
    opaque: &Opaque,
    items: &mut Elements<'_>,
) -> Result<(), Error> {
    let mut own = Own::of_json(&opaque.value);
    let Some(id) = own.take_text("id") else { return items.push(&opaque.value) };
    cx.adjustments.add(AdjustmentKind::ItemIdDropped, &message.id, id);
    items.push(&own.rest(&[]))
}

fn kind_of(item: &str) -> Cow<'_, str> {
    let raw = serde_json::from_str(item).map(Own::of_raw).unwrap_or_else(|_| Own::of_none());
    raw.peek_text("type").unwrap_or_default()
}

/// Whether an opaque part is an item of this API, and no content part.
pub(super) fn is_item(opaque: &Opaque) -> bool {
    opaque.owner.as_str() == OWNER
        && Own::of_json(&opaque.value)
            .peek_text("type")
            .is_some_and(|kind| kind != WRAPPED_PART && !is_part_type(&kind))
}

/// Whether an item of the vendor's own may be sent as it is; if not, why.
fn raw_item(cx: &Context<'_>, opaque: &Opaque, is_last: bool) -> Result<(), &'static str> {
    let kind = Own::of_json(&opaque.value).peek_text("type").unwrap_or_default();
    match &*kind {
        "item_reference" if settings::is_unstored(cx.options) => Err("nothing is stored"),
        "compaction_trigger" if !is_last => Err("it is not the last item"),
        // Two of them side by side are refused, and so is one with automatic
        // truncation; its settings are this request's own anyway.
        "configuration_update" if settings::cuts_by_itself(cx.options) => {
            Err("the truncation is automatic")
        }
        // They are modelled; what comes in this way would not be paired.
        "function_call" | "custom_tool_call" | "reasoning" | "message" => {
            Err("it is not a part by itself")
        }
        kind if is_output(kind) && !settings::continues(cx.options) => {
            Err("it is not a part by itself")
        }
        _ if !serde_json::from_str(opaque.value.as_str()).is_ok_and(|item| takes_item(&item)) => {
            Err("the API would refuse it")
        }
        _ => Ok(()),
    }
}
