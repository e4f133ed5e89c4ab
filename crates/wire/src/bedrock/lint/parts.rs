//! Faults inside a content block.

use super::rules::{
    BLOCK_PLACE, CACHE_POINT_SHAPE, CALL_ID_FORM, CALL_INPUT, DOCUMENT_NAME, MEDIA_FORMAT,
    MEDIA_SOURCE, MESSAGE_SHAPE, ONE_KIND, REASONING_SHAPE, RESULT_ERROR_EMPTY, RESULT_JSON,
    RESULT_SHAPE, TEXT_BLANK, TOOL_NAME,
};
use super::{Place, Report};
use crate::bedrock::media::{MediaKind, is_base64, is_document_name};
use crate::bedrock::wire::KINDS;
use crate::names::Alphabet;
use crate::tree::{Map, Value};
use crate::{Family, misplaced};

/// The ids that the API takes. Those of Anthropic's models are narrower.
const CALL_ID: Alphabet = Alphabet::new("_.:-", 64);

/// What stands in user messages only.
const USER_ONLY: &[&str] = &["image", "document", "video", "audio", "toolAddition", "toolRemoval"];
/// What stands in assistant messages only.
const ASSISTANT_ONLY: &[&str] = &["toolUse", "reasoningContent", "citationsContent"];
/// What a result holds.
const IN_RESULT: &[&str] = &["json", "text", "image", "document", "video", "searchResult"];
/// What the system list holds.
const IN_SYSTEM: &[&str] = &["text", "guardContent", "cachePoint"];

/// The one kind of a block.
pub(super) fn kind(block: &Value) -> Option<&'static str> {
    let fields = block.as_object()?;
    KINDS.iter().find(|kind| fields.contains_key(kind)).copied()
}

/// Whether a block that came as opaque is one for this place: not a call or a result
/// that would have to be paired.
pub(super) fn is_for(block: &Value, place: Place) -> bool {
    let is_object = block.as_object().is_some_and(|fields| !fields.is_empty());
    let is_hosted = |name: &str| {
        let kind = block.get(name).and_then(|inner| inner.get("type")).and_then(Value::as_str);
        kind.is_some_and(|kind| kind != "tool_use")
    };
    is_object
        && !misplaced::is_foreign(Family::Bedrock, block)
        && match (kind(block), place) {
            (None, _) => true,
            (Some(name @ ("toolUse" | "toolResult")), Place::Assistant) => is_hosted(name),
            (Some("toolUse" | "toolResult"), _) => false,
            (Some(_), _) => true,
        }
}

pub(super) fn check(block: &Value, place: Place, at: &str, report: &mut Report<'_>) {
    let Some(fields) = block.as_object() else {
        report(&MESSAGE_SHAPE, at.to_owned(), "a block must be an object".to_owned());
        return;
    };
    let mut kinds = KINDS.iter().filter(|kind| fields.contains_key(kind));
    let kind = match (kinds.next(), kinds.next()) {
        (Some(kind), None) => *kind,
        (None, _) if !fields.is_empty() => return,
        (None, _) => {
            report(&ONE_KIND, at.to_owned(), "it has none".to_owned());
            return;
        }
        (Some(first), Some(second)) => {
            report(&ONE_KIND, at.to_owned(), format!("it has {first} and {second}"));
            return;
        }
    };
    let inner = &block[kind];
    if !is_in_place(kind, place, inner) {
        report(&BLOCK_PLACE, at.to_owned(), kind.to_owned());
        return;
    }
    let at = format!("{at}/{kind}");
    match kind {
        "text" => check_text(inner, &at, report),
        "json" if !inner.is_object() => report(&RESULT_JSON, at, String::new()),
        "image" => check_media(MediaKind::Image, inner, &at, report),
        "document" => check_media(MediaKind::Document, inner, &at, report),
        "video" => check_media(MediaKind::Video, inner, &at, report),
        "audio" => check_media(MediaKind::Audio, inner, &at, report),
        "toolUse" => check_call(inner, &at, report),
        "toolResult" => check_result(inner, &at, report),
        "reasoningContent" => check_reasoning(inner, &at, report),
        "cachePoint" => check_cache_point(inner, &at, report),
        _ => {}
    }
}

fn is_in_place(kind: &str, place: Place, inner: &Value) -> bool {
    match place {
        Place::System => IN_SYSTEM.contains(&kind),
        Place::Result => IN_RESULT.contains(&kind),
        Place::User => !ASSISTANT_ONLY.contains(&kind) && kind != "json",
        // What the API ran itself is answered where it was called.
        Place::Assistant if kind == "toolResult" => inner.get("type").is_some(),
        Place::Assistant => !USER_ONLY.contains(&kind) && kind != "json",
    }
}

fn check_text(text: &Value, at: &str, report: &mut Report<'_>) {
    match text {
        Value::String(text) if text.trim().is_empty() => {
            report(&TEXT_BLANK, at.to_owned(), String::new());
        }
        Value::String(_) => {}
        _ => report(&MESSAGE_SHAPE, at.to_owned(), "text must be a string".to_owned()),
    }
}

fn check_call(call: &Value, at: &str, report: &mut Report<'_>) {
    check_id(call, at, report);
    check_name(call.get("name"), &format!("{at}/name"), report);
    if !call.get("input").is_some_and(Value::is_object) {
        report(&CALL_INPUT, format!("{at}/input"), String::new());
    }
}

fn check_id(holder: &Value, at: &str, report: &mut Report<'_>) {
    let id = holder.get("toolUseId").and_then(Value::as_str).unwrap_or_default();
    if !CALL_ID.takes(id) {
        report(&CALL_ID_FORM, format!("{at}/toolUseId"), id.to_owned());
    }
}

pub(super) fn check_name(name: Option<&Value>, at: &str, report: &mut Report<'_>) {
    let name = name.and_then(Value::as_str).unwrap_or_default();
    if !Alphabet::NAME.takes(name) {
        report(&TOOL_NAME, at.to_owned(), name.to_owned());
    }
}

fn check_result(result: &Value, at: &str, report: &mut Report<'_>) {
    check_id(result, at, report);
    let status = result.get("status");
    if status.is_some_and(|status| !matches!(status.as_str(), Some("success" | "error"))) {
        report(&RESULT_SHAPE, format!("{at}/status"), String::new());
    }
    let at = format!("{at}/content");
    let Some(Value::Array(content)) = result.get("content") else {
        report(&RESULT_SHAPE, at, "content must be a list".to_owned());
        return;
    };
    if content.is_empty() && status.and_then(Value::as_str) == Some("error") {
        report(&RESULT_ERROR_EMPTY, at.clone(), String::new());
    }
    for (i, value) in content.iter().enumerate() {
        check(value, Place::Result, &format!("{at}/{i}"), report);
    }
}

fn check_reasoning(reasoning: &Value, at: &str, report: &mut Report<'_>) {
    let text = reasoning.get("reasoningText");
    let redacted = reasoning.get("redactedContent");
    let is_right = match (text, redacted) {
        (Some(thought), None) => {
            let signature = thought.get("signature");
            thought.get("text").is_some_and(Value::is_string)
                && signature.is_none_or(|signature| {
                    signature.as_str().is_some_and(|signature| !signature.is_empty())
                })
        }
        (None, Some(redacted)) => redacted.as_str().is_some_and(is_base64),
        _ => false,
    };
    if !is_right {
        report(&REASONING_SHAPE, at.to_owned(), String::new());
    }
}

pub(super) fn check_cache_point(point: &Value, at: &str, report: &mut Report<'_>) {
    let is_default = point.get("type").and_then(Value::as_str) == Some("default");
    let ttl = point.get("ttl");
    let is_known = ttl.is_none_or(|ttl| matches!(ttl.as_str(), Some("5m" | "1h")));
    if !is_default || !is_known {
        report(&CACHE_POINT_SHAPE, at.to_owned(), String::new());
    }
}

fn check_media(kind: MediaKind, media: &Value, at: &str, report: &mut Report<'_>) {
    let Some(media) = media.as_object() else {
        report(&MEDIA_SOURCE, at.to_owned(), "it must be an object".to_owned());
        return;
    };
    let is_document = kind == MediaKind::Document;
    match media.get("format") {
        // Text that is a document's own has no format.
        None | Some(Value::Null) if is_document => {}
        Some(Value::String(format)) if kind.format(format).is_some() => {}
        format => {
            let shown = format.and_then(Value::as_str).unwrap_or_default();
            report(&MEDIA_FORMAT, format!("{at}/format"), shown.to_owned());
        }
    }
    if is_document {
        let name = media.get("name").and_then(Value::as_str).unwrap_or_default();
        if !is_document_name(name) {
            report(&DOCUMENT_NAME, format!("{at}/name"), name.to_owned());
        }
    }
    if !media.get("source").and_then(Value::as_object).is_some_and(|s| is_source(s, is_document)) {
        report(&MEDIA_SOURCE, format!("{at}/source"), String::new());
    }
}

fn is_source(source: &Map, is_document: bool) -> bool {
    let known = ["bytes", "s3Location", "text", "content"];
    let mut present = known.into_iter().filter_map(|name| Some((name, source.get(name)?)));
    let (Some((name, value)), None) = (present.next(), present.next()) else { return false };
    match name {
        "bytes" => value.as_str().is_some_and(is_base64),
        "s3Location" => {
            let uri = value.get("uri").and_then(Value::as_str);
            uri.is_some_and(|uri| uri.starts_with("s3://"))
        }
        "text" => is_document && value.as_str().is_some_and(|text| !text.trim().is_empty()),
        _ => is_document && value.as_array().is_some_and(|content| !content.is_empty()),
    }
}
