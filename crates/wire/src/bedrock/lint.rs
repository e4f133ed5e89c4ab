//! What can be seen in a body that the API will refuse.

mod pairing;
mod parts;
mod rules;
mod settings;

use serde_json::Value;
use serde_json::value::RawValue;

use interleaf_model::Json;

pub(crate) use self::rules::RULES;

use self::rules::{
    CACHE_POINT_COUNT, CACHE_POINT_ORDER, CACHE_POINT_PLACE, CONTENT_EMPTY, DOCUMENT_COUNT,
    DOCUMENT_NAME_UNIQUE, DOCUMENT_TEXT, MESSAGE_SHAPE, RESULTS_ALONE, SYSTEM_SHAPE,
};
use super::encode::{MOST_DOCUMENTS, results_stand_alone};
use crate::Vendor;
use crate::lint::{Faults, Rule};

/// Where a block stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    System,
    User,
    Assistant,
    Result,
}

/// Behind which blocks no cache breakpoint may stand.
pub(super) const UNMARKABLE: &[&str] = &["cachePoint", "document", "video", "reasoningContent"];

/// The most cache breakpoints in one request.
const MOST_CACHE_POINTS: usize = 4;

/// Where faults go: the rule, the place, particulars.
type Report<'r> = dyn FnMut(&'static Rule, String, String) + 'r;

/// Finds every fault in a body.
pub(crate) fn check(body: &Value, _: &Vendor, faults: &mut Faults) {
    let report: &mut Report<'_> = &mut |rule, pointer, detail| faults.add(rule, pointer, detail);
    let Value::Object(fields) = body else {
        report(&MESSAGE_SHAPE, String::new(), "the body must be an object".to_owned());
        return;
    };
    let model = fields.get("modelId").and_then(Value::as_str).unwrap_or_default();
    settings::check_tools(fields.get("toolConfig"), report);
    check_system(fields.get("system"), report);
    match fields.get("messages") {
        Some(Value::Array(messages)) if !messages.is_empty() => {
            for (i, message) in messages.iter().enumerate() {
                check_message(message, &format!("/messages/{i}"), model, report);
            }
            pairing::check(messages, fields.get("toolConfig"), report);
            check_documents(messages, report);
        }
        _ => {
            let detail = "messages must be a list of at least one".to_owned();
            report(&MESSAGE_SHAPE, "/messages".to_owned(), detail);
        }
    }
    check_cache_points(body, report);
    settings::check(body, report);
}

/// Whether a block from outside may be given back where it stands.
pub(super) fn takes_block(raw: &RawValue, place: Place) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(raw.get()) else { return false };
    let mut is_clean = parts::is_for(&value, place);
    parts::check(&value, place, "", &mut |_, _, _| is_clean = false);
    is_clean
}

/// Whether an element of the list of tools may be given back.
pub(super) fn takes_tool(json: &Json) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(json.as_str()) else { return false };
    let mut is_clean = value.as_object().is_some_and(|entry| !entry.contains_key("toolSpec"));
    settings::check_tool(&value, "", &mut |_, _, _| is_clean = false);
    is_clean
}

/// Whether the cache breakpoints of a body are few enough and in order.
pub(super) fn has_legal_cache_points(body: &str) -> bool {
    let Ok(body) = serde_json::from_str::<Value>(body) else { return true };
    let mut is_clean = true;
    check_cache_points(&body, &mut |_, _, _| is_clean = false);
    is_clean
}

/// Whether a body takes a form of the answer that is given back as it came.
pub(super) fn takes_text_format(raw: &RawValue) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(raw.get()) else { return false };
    let mut is_clean = true;
    settings::check_text_format(&value, "", &mut |_, _, _| is_clean = false);
    is_clean
}

fn check_system(system: Option<&Value>, report: &mut Report<'_>) {
    match system {
        None => {}
        Some(Value::Array(blocks)) => {
            for (i, value) in blocks.iter().enumerate() {
                parts::check(value, Place::System, &format!("/system/{i}"), report);
            }
            check_cache_point_places(blocks, "/system", report);
        }
        Some(_) => report(&SYSTEM_SHAPE, "/system".to_owned(), String::new()),
    }
}

fn check_message(message: &Value, at: &str, model: &str, report: &mut Report<'_>) {
    let place = match message.get("role").and_then(Value::as_str) {
        Some("user") => Place::User,
        Some("assistant") => Place::Assistant,
        Some("system") => Place::System,
        _ => {
            let detail = "role must be user or assistant".to_owned();
            report(&MESSAGE_SHAPE, format!("{at}/role"), detail);
            return;
        }
    };
    let at = format!("{at}/content");
    let Some(Value::Array(content)) = message.get("content") else {
        report(&MESSAGE_SHAPE, at, "content must be a list".to_owned());
        return;
    };
    if content.is_empty() {
        report(&CONTENT_EMPTY, at, String::new());
        return;
    }
    for (i, value) in content.iter().enumerate() {
        parts::check(value, place, &format!("{at}/{i}"), report);
    }
    check_cache_point_places(content, &at, report);
    check_beside_results(content, &at, model, report);
    let has = |kind: &str| content.iter().any(|value| value.get(kind).is_some());
    if has("document") && !has("text") {
        report(&DOCUMENT_TEXT, at, String::new());
    }
}

fn check_beside_results(content: &[Value], at: &str, model: &str, report: &mut Report<'_>) {
    if !content.iter().any(|value| value.get("toolResult").is_some()) {
        return;
    }
    let is_alone = results_stand_alone(model);
    for (i, value) in content.iter().enumerate() {
        let Some(kind) = parts::kind(value) else { continue };
        let is_bulky = matches!(kind, "document" | "video" | "audio");
        let is_other = !matches!(kind, "toolResult" | "cachePoint");
        if is_bulky || (is_alone && is_other) {
            report(&RESULTS_ALONE, format!("{at}/{i}"), kind.to_owned());
        }
    }
}

/// A breakpoint follows something that it can stand behind.
fn check_cache_point_places(blocks: &[Value], at: &str, report: &mut Report<'_>) {
    for (i, value) in blocks.iter().enumerate() {
        if value.get("cachePoint").is_none() {
            continue;
        }
        let before = i.checked_sub(1).and_then(|before| blocks.get(before));
        let before = before.map(|before| parts::kind(before).unwrap_or_default());
        let detail = match before {
            None => "nothing stands before it".to_owned(),
            Some(kind) if UNMARKABLE.contains(&kind) => format!("it follows {kind}"),
            Some(_) => continue,
        };
        report(&CACHE_POINT_PLACE, format!("{at}/{i}"), detail);
    }
}

fn check_documents(messages: &[Value], report: &mut Report<'_>) {
    let mut names: Vec<String> = Vec::new();
    let mut see = |document: &Value, at: String, report: &mut Report<'_>| {
        let name = document.get("name").and_then(Value::as_str).unwrap_or_default();
        let name = name.to_lowercase();
        if names.contains(&name) {
            report(&DOCUMENT_NAME_UNIQUE, format!("{at}/name"), name.clone());
        }
        names.push(name);
        if names.len() == MOST_DOCUMENTS + 1 {
            report(&DOCUMENT_COUNT, at, String::new());
        }
    };
    for (i, value, at) in blocks_of(messages) {
        if let Some(document) = value.get("document") {
            see(document, format!("/messages/{i}{at}/document"), report);
        }
        let inner = value.get("toolResult").and_then(|result| result.get("content"));
        for (j, value) in inner.and_then(Value::as_array).into_iter().flatten().enumerate() {
            if let Some(document) = value.get("document") {
                let at = format!("/messages/{i}{at}/toolResult/content/{j}/document");
                see(document, at, report);
            }
        }
    }
}

/// All blocks, with the number of the message and the place in it.
fn blocks_of(messages: &[Value]) -> impl Iterator<Item = (usize, &Value, String)> {
    messages.iter().enumerate().flat_map(|(i, message)| {
        let content = message.get("content").and_then(Value::as_array);
        let content = content.into_iter().flatten().enumerate();
        content.map(move |(j, value)| (i, value, format!("/content/{j}")))
    })
}

/// The number of breakpoints, and that short-lived ones come last.
fn check_cache_points(body: &Value, report: &mut Report<'_>) {
    let mut points: Vec<(String, &Value)> = Vec::new();
    collect_cache_points(body.pointer("/toolConfig/tools"), "/toolConfig/tools", &mut points);
    collect_cache_points(body.get("system"), "/system", &mut points);
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    for (i, message) in messages.enumerate() {
        let at = format!("/messages/{i}/content");
        collect_cache_points(message.get("content"), &at, &mut points);
    }
    if let Some((at, _)) = points.get(MOST_CACHE_POINTS) {
        report(&CACHE_POINT_COUNT, at.clone(), format!("there are {}", points.len()));
    }
    let mut is_short = false;
    for (at, point) in points {
        let is_long = point.get("ttl").and_then(Value::as_str) == Some("1h");
        if is_long && is_short {
            report(&CACHE_POINT_ORDER, at, String::new());
        }
        is_short |= !is_long;
    }
}

fn collect_cache_points<'a>(
    list: Option<&'a Value>,
    at: &str,
    points: &mut Vec<(String, &'a Value)>,
) {
    let list = list.and_then(Value::as_array).into_iter().flatten().enumerate();
    points.extend(
        list.filter_map(|(i, value)| Some((format!("{at}/{i}"), value.get("cachePoint")?))),
    );
}
