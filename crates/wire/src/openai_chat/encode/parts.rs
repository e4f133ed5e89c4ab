//! `content`, and the fields around it.

use interleaf_model::{ContentPart, Extra, Message, Opaque, Text};
use serde_json::value::RawValue;

use super::media;
use crate::adjustment::AdjustmentKind;
use crate::encode::{Context, gives_way};
use crate::openai_chat::wire::{Content, Part, Rest};
use crate::openai_chat::{EXPLICIT, MARK, OPENAI};
use crate::raw::{Fields, is_text, text};
use crate::vendor::Reasoning;
use crate::{Family, Quirks, misplaced};

/// What is said where something must stand.
pub(super) const PLACEHOLDER: &str = ".";

/// The fields of a message that have a place of their own, or are only ours.
const TAKEN: &[&str] = &[
    "role",
    "content",
    "tool_calls",
    "tool_call_id",
    "reasoning_content",
    "reasoning",
    "refusal",
    "function_call",
    "thinking_blocks",
    "is_error",
    "prefix",
];

/// What is a part of its own in a content list, if it stands where it may.
const KNOWN_PARTS: &[&str] = &["text", "image_url", "input_audio", "file", "refusal"];

/// The fields around the content of a message that came from such an API. Some of
/// them only one vendor knows.
pub(super) fn message_rest<'a>(cx: &mut Context<'_>, message: &'a Message) -> Rest<'a> {
    let quirks = &cx.vendor.quirks;
    let mut rest = Rest::of(&message.extra, OPENAI, TAKEN);
    let only_theirs = [
        ("annotations", quirks.native),
        ("audio", quirks.native),
        ("reasoning_details", quirks.reasoning == Reasoning::Reasoning),
    ];
    for (name, takes) in only_theirs {
        if !takes && rest.take(name).is_some() {
            let detail = format!("`{name}`, which only another vendor takes");
            cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, detail);
        }
    }
    known(cx, message, rest)
}

/// The fields that are left for a vendor that refuses those it does not know.
pub(super) fn known<'a>(cx: &mut Context<'_>, message: &Message, mut rest: Rest<'a>) -> Rest<'a> {
    if cx.vendor.quirks.known_fields && !rest.retain(|name, _| matches!(name, "name" | "detail")) {
        let detail = "fields that the vendor refuses";
        cx.adjustments.add(AdjustmentKind::FieldsDropped, &message.id, detail);
    }
    rest
}

/// The fields of a part that came from such an API.
pub(super) fn part_rest<'a>(
    cx: &mut Context<'_>,
    message: &Message,
    extra: &'a Extra,
    taken: &[&str],
) -> Rest<'a> {
    let mut rest = Rest::of(extra, OPENAI, taken);
    if cx.sets_marks {
        rest.take(MARK);
    } else if rest.get(MARK).is_some_and(|mark| !is_cache_mark(mark)) {
        rest.take(MARK);
        let detail = "a cache breakpoint that this API does not know";
        cx.adjustments.add(AdjustmentKind::OptionDropped, &message.id, detail);
    }
    known(cx, message, rest)
}

/// Chat knows one lifetime only.
fn is_cache_mark(mark: &RawValue) -> bool {
    let ttl = Fields::read(mark).map(|mut mark| mark.take("ttl"));
    ttl.is_ok_and(|ttl| ttl.is_none_or(|ttl| ttl.get() == r#""30m""#))
}

/// A text, unless it is blank.
pub(super) fn text_part<'a>(
    cx: &mut Context<'_>,
    message: &Message,
    text: &'a Text,
    taken: &[&str],
) -> Option<Part<'a>> {
    if text.is_blank() {
        cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "left out");
        return None;
    }
    let mut rest = part_rest(cx, message, &text.extra, taken);
    if cx.vendor.quirks.plain_content && !rest.is_empty() {
        let detail = "fields of a text: the content must be a plain string";
        cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, detail);
        rest = Rest::default();
    }
    Some(Part::Text { text: (&*text.text).into(), rest })
}

/// The parts of a user message; none if it says nothing.
pub(super) fn user_parts<'a>(
    cx: &mut Context<'_>,
    message: &Message,
    parts: &'a [ContentPart],
) -> Vec<Part<'a>> {
    let mut list = Vec::new();
    for part in parts {
        match part {
            ContentPart::Text(text) => list.extend(text_part(cx, message, text, TEXT_FIELDS)),
            ContentPart::Image(image) => list.push(media::image_or_note(cx, message, image)),
            ContentPart::File(file) => list.push(media::file_or_note(cx, message, file)),
            ContentPart::Opaque(opaque) => list.extend(opaque_part(cx, message, opaque)),
        }
    }
    list
}

/// The fields of a text part that have a place of their own.
pub(super) const TEXT_FIELDS: &[&str] = &["type", "text"];

/// A part of the vendor's own, as it came.
pub(super) fn opaque_part<'a>(
    cx: &mut Context<'_>,
    message: &Message,
    opaque: &'a Opaque,
) -> Option<Part<'a>> {
    let quirks = &cx.vendor.quirks;
    let refused = match own_type(opaque) {
        Err(reason) => Some(reason),
        Ok(kind) if KNOWN_PARTS.contains(&&*kind) => Some("it is not allowed here"),
        Ok(kind) if kind == "thinking" && quirks.reasoning != Reasoning::Part => {
            Some("only another vendor takes it")
        }
        Ok(kind) if misplaced::is_foreign_type(Family::OpenaiChat, &kind) => {
            Some("it is in the form of another API")
        }
        Ok(_) if quirks.plain_content => Some("the content must be a plain string"),
        Ok(_) => None,
    };
    if let Some(reason) = refused {
        cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, reason);
        return None;
    }
    Some(match gives_way(cx, &opaque.value) {
        true => Part::Changed(Rest::of_json(&opaque.value, &[MARK])),
        false => Part::Raw(&opaque.value),
    })
}

/// The type of a part that is this API's.
pub(super) fn own_type(opaque: &Opaque) -> Result<String, &'static str> {
    if opaque.owner.as_str() != OPENAI {
        return Err("another vendor's");
    }
    let raw: Option<&RawValue> = serde_json::from_str(opaque.value.as_str()).ok();
    let kind = raw.and_then(|raw| Fields::read(raw).ok()?.take("type"));
    let kind = kind.filter(|kind| is_text(kind)).and_then(|kind| text(kind).ok());
    kind.map(String::from).ok_or("this API has no such part")
}

/// Sets the mark on the last of these parts that can have one, if any can.
pub(super) fn set_mark(parts: &mut [Part<'_>]) -> bool {
    let rest = parts.iter_mut().rev().find_map(Part::rest_mut);
    rest.map(|rest| rest.push_static(MARK, EXPLICIT)).is_some()
}

/// The content of what is put in. Where marks are set it is a list in any case: a mark that
/// moves on would make another form of the same text.
pub(super) fn input_content<'a>(cx: &Context<'_>, parts: Vec<Part<'a>>) -> Content<'a> {
    if cx.sets_marks { Content::Parts(parts) } else { content(parts, &cx.vendor.quirks) }
}

/// One string where that says it all, a list of parts where it does not.
pub(super) fn content<'a>(mut parts: Vec<Part<'a>>, quirks: &Quirks) -> Content<'a> {
    let is_text = |part: &Part<'_>| matches!(part, Part::Text { .. });
    if quirks.plain_content && parts.iter().all(is_text) {
        return Content::Text(joined(parts));
    }
    match parts.as_slice() {
        [Part::Text { rest, .. }] if rest.is_empty() => Content::Text(joined(parts)),
        _ => {
            parts.shrink_to_fit();
            Content::Parts(parts)
        }
    }
}

fn joined<'a>(parts: Vec<Part<'a>>) -> std::borrow::Cow<'a, str> {
    let texts = parts.into_iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text),
        _ => None,
    });
    texts.reduce(|all, text| format!("{all}\n{text}").into()).unwrap_or_default()
}
