//! Calls, results, words and tools in the form of another API.
//!
//! Unknown fields and parts are kept for the API whose body they stand in, and go nowhere
//! else. What another API has a meaning for would be lost that way: calls, results and words
//! are refused when a body is read, and lint finds all of it.

use serde_json::value::RawValue;

use crate::Family::{self, Anthropic, Bedrock, Gemini, OpenaiChat, OpenaiResponses};
use crate::detect::items;
use crate::error::Fault;
use crate::foreign_tool;
use crate::lint::{Faults, Rule};
use crate::raw::{Fields, is_nothing, text};
use crate::tree::Value;

/// A name, and the families that have a meaning for it.
type Row = (&'static str, &'static [Family]);

/// Fields of a message that hold its calls.
const CALLS: [Row; 4] = [
    ("tool_calls", &[OpenaiChat]),
    ("function_call", &[OpenaiChat]),
    ("tool_call_id", &[OpenaiChat]),
    ("call_id", &[OpenaiResponses]),
];

/// Fields of a message that hold what was said.
const SAID: [Row; 3] = [
    ("content", &[OpenaiChat, OpenaiResponses, Anthropic, Bedrock]),
    ("parts", &[Gemini]),
    ("output", &[OpenaiResponses]),
];

/// Types of parts and items that hold a call or a result.
const CALL_TYPES: [Row; 4] = [
    ("tool_use", &[Anthropic]),
    ("tool_result", &[Anthropic]),
    ("function_call", &[OpenaiResponses]),
    ("function_call_output", &[OpenaiResponses]),
];

/// Types of parts that hold words which no other API would read.
const WORD_TYPES: [Row; 2] =
    [("input_text", &[OpenaiResponses]), ("output_text", &[OpenaiResponses])];

/// Types of parts that hold something else.
const OTHER_TYPES: [Row; 11] = [
    ("text", &[OpenaiChat, OpenaiResponses, Anthropic]),
    ("thinking", &[OpenaiChat, Anthropic]),
    ("redacted_thinking", &[Anthropic]),
    ("image", &[Anthropic]),
    ("document", &[Anthropic]),
    ("image_url", &[OpenaiChat]),
    ("file", &[OpenaiChat]),
    ("input_audio", &[OpenaiChat, OpenaiResponses]),
    ("refusal", &[OpenaiChat, OpenaiResponses]),
    ("input_image", &[OpenaiResponses]),
    ("input_file", &[OpenaiResponses]),
];

/// Keys of parts that hold a call or a result.
const KEYS: [Row; 4] = [
    ("toolUse", &[Bedrock]),
    ("toolResult", &[Bedrock]),
    ("functionCall", &[Gemini]),
    ("functionResponse", &[Gemini]),
];

/// Refuses a message if what is left of it holds calls of another API, or its words where
/// `has_content` says that it has none of its own.
pub(crate) fn message<'a>(
    own: Family,
    rest: &Fields<'a>,
    has_content: bool,
) -> Result<(), Fault<'a>> {
    for row in fields(own, has_content) {
        let said = rest.peek(row.0).filter(|value| !is_nothing(value));
        if let Some(value) = said {
            return Err(refused(value, own, row).under(row.0));
        }
    }
    Ok(())
}

/// Refuses a part, or an item, that is a call, a result or words of another API.
pub(crate) fn part<'a>(
    own: Family,
    raw: &'a RawValue,
    fields: &Fields<'a>,
) -> Result<(), Fault<'a>> {
    let kind = fields.peek("type").and_then(|kind| text(kind).ok());
    let kind = kind.as_deref().unwrap_or_default();
    let mut by_type = others(own, &CALL_TYPES).chain(others(own, &WORD_TYPES));
    let by_type = by_type.find(|row| row.0 == kind);
    match by_type.or_else(|| others(own, &KEYS).find(|row| fields.peek(row.0).is_some())) {
        Some(row) => Err(refused(raw, own, row)),
        None => Ok(()),
    }
}

/// Finds what is in another API's form.
pub(crate) fn check(own: Family, body: &Value, rule: &'static Rule, faults: &mut Faults) {
    let signs = &own.codec().signs;
    let list = signs.conversation.first().copied().unwrap_or_default();
    for (i, message) in items(&body[list]).enumerate() {
        let at = format!("/{list}/{i}");
        let has_content = message.get(signs.parts).is_some();
        let is_said = |value: &Value| match value {
            Value::Null => false,
            Value::Array(list) => !list.is_empty(),
            Value::Object(fields) => !fields.is_empty(),
            Value::String(text) => !text.is_empty(),
            Value::Bool(_) | Value::Number(_) => true,
        };
        let found = fields(own, has_content).find(|row| message.get(row.0).is_some_and(is_said));
        if let Some(row) = found {
            faults.add(rule, format!("{at}/{}", row.0), whose(own, row));
        }
        if let Some(row) = foreign(own, message) {
            faults.add(rule, &*at, whose(own, row));
        }
        for (j, part) in items(&message[signs.parts]).enumerate() {
            if let Some(row) = foreign(own, part) {
                faults.add(rule, format!("{at}/{}/{j}", signs.parts), whose(own, row));
            }
        }
    }
    check_tools(own, body, rule, faults);
}

/// Finds tools in another API's form.
fn check_tools(own: Family, body: &Value, rule: &'static Rule, faults: &mut Faults) {
    let place = own.codec().signs.tools;
    for (i, tool) in body.pointer(place).into_iter().flat_map(items).enumerate() {
        if let Some(theirs) = foreign_tool::other_form(own, tool) {
            let detail = format!("the tool is in the form of {theirs}, not of {own}");
            faults.add(rule, format!("{place}/{i}"), detail);
        }
    }
    if place != "/tools" && body.get("tools").is_some_and(Value::is_array) {
        faults.add(rule, "/tools", format!("{own} has them at {place}"));
    }
}

/// Whether a part, or an item, is in another API's form: its own cannot take it back.
pub(crate) fn is_foreign(own: Family, part: &Value) -> bool {
    foreign(own, part).is_some()
}

/// Whether a part of this type is in another API's form.
pub(crate) fn is_foreign_type(own: Family, kind: &str) -> bool {
    types(own).any(|row| row.0 == kind)
}

/// The row by which a part, or an item, is another API's.
fn foreign(own: Family, part: &Value) -> Option<&'static Row> {
    let kind = part["type"].as_str().unwrap_or_default();
    let mut keys = others(own, &KEYS);
    types(own).find(|row| row.0 == kind).or_else(|| keys.find(|row| part.get(row.0).is_some()))
}

/// The types of parts that another API has.
fn types(own: Family) -> impl Iterator<Item = &'static Row> {
    let refused = others(own, &CALL_TYPES).chain(others(own, &WORD_TYPES));
    refused.chain(others(own, &OTHER_TYPES))
}

fn fields(own: Family, has_content: bool) -> impl Iterator<Item = &'static Row> {
    others(own, &CALLS).chain(others(own, &SAID).filter(move |_| !has_content))
}

fn others(own: Family, rows: &'static [Row]) -> impl Iterator<Item = &'static Row> {
    rows.iter().filter(move |(_, families)| !families.contains(&own))
}

fn refused<'a>(at: &'a RawValue, own: Family, row: &Row) -> Fault<'a> {
    let rule = format!("{}: a conversation has one form", whose(own, row));
    Fault::rule(at, rule)
}

fn whose(own: Family, (name, families): &Row) -> String {
    let theirs = families.first().map_or("another API", |family| family.as_str());
    format!("`{name}` is in the form of {theirs}, not of {own}")
}
