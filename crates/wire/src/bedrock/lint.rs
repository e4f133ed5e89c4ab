//! What can be seen in a body that the API will refuse.

mod cache;
mod messages;
mod pairing;
mod parts;
mod rules;
mod settings;
mod tools;

use interleaf_model::Json;
use serde_json::value::RawValue;

use self::cache::check_cache_points;
use self::messages::{check_documents, check_message, check_system};
use self::rules::MESSAGE_SHAPE;
use crate::lint::{Faults, Rule};
use crate::raw::{nearest, nearest_raw};
use crate::tree::Value;
use crate::{Family, Vendor, misplaced};

pub(super) use self::cache::UNMARKABLE;
pub(super) use self::rules::RULES;

/// Where a block stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    System,
    User,
    Assistant,
    Result,
}

/// Where faults go: the rule, the place, particulars.
type Report<'r> = dyn FnMut(&'static Rule, String, String) + 'r;

/// Finds every fault in a body.
pub(crate) fn check(body: &Value, _: &Vendor, faults: &mut Faults) {
    misplaced::check(Family::Bedrock, body, &rules::OTHER_FORM, faults);
    let report: &mut Report<'_> = &mut |rule, pointer, detail| faults.add(rule, pointer, detail);
    let Value::Object(fields) = body else {
        report(&MESSAGE_SHAPE, String::new(), "the body must be an object".to_owned());
        return;
    };
    let model = fields.get("modelId").and_then(Value::as_str).unwrap_or_default();
    tools::check(fields.get("toolConfig"), report);
    check_system(fields.get("system"), report);
    match fields.get("messages") {
        Some(Value::Array(messages)) if !messages.is_empty() => {
            for (i, message) in messages.iter().enumerate() {
                check_message(message, &format!("/messages/{i}"), model, report);
            }
            pairing::check(messages, fields.get("toolConfig"), model, report);
            check_documents(messages, report);
        }
        _ => {
            let detail = "messages must be a list of at least one".to_owned();
            report(&MESSAGE_SHAPE, "/messages".to_owned(), detail);
        }
    }
    check_cache_points(body, report);
    settings::check(body, model, report);
}

/// Whether a block from outside may be given back where it stands.
pub(super) fn takes_block(raw: &RawValue, place: Place) -> bool {
    let value = nearest_raw(raw);
    let mut is_clean = parts::is_for(&value, place);
    parts::check(&value, place, "", &mut |_, _, _| is_clean = false);
    is_clean
}

/// Whether an element of the list of tools may be given back.
pub(super) fn takes_tool(json: &Json) -> bool {
    let value = nearest(json);
    let mut is_clean = value.as_object().is_some_and(|entry| !entry.contains_key("toolSpec"));
    tools::check_tool(&value, "", &mut |_, _, _| is_clean = false);
    is_clean
}

/// Whether the cache breakpoints of a body are few enough and in order.
pub(super) fn has_legal_cache_points(body: &str) -> bool {
    let Ok(mut body) = serde_json::from_str::<Value>(body) else { return true };
    if body.is_array() {
        body = Value::under("messages", body);
    }
    let mut is_clean = true;
    check_cache_points(&body, &mut |_, _, _| is_clean = false);
    is_clean
}

/// Whether a body takes a form of the answer that is given back as it came.
pub(super) fn takes_text_format(raw: &RawValue) -> bool {
    let value = nearest_raw(raw);
    let mut is_clean = true;
    settings::check_text_format(&value, "", &mut |_, _, _| is_clean = false);
    is_clean
}

/// All blocks, with the number of the message and the place in it.
fn blocks_of(messages: &[Value]) -> impl Iterator<Item = (usize, &Value, String)> {
    messages.iter().enumerate().flat_map(|(i, message)| {
        let content = message.get("content").and_then(Value::as_array);
        let content = content.into_iter().flatten().enumerate();
        content.map(move |(j, value)| (i, value, format!("/content/{j}")))
    })
}
