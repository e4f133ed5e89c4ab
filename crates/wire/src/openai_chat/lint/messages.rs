//! Each message by itself.

use super::facts::Facts;
use super::{pairing, parts, rules};
use crate::lint::Faults;
use crate::tree::Value;
use crate::vendor::Reasoning;

pub(super) fn check(list: &[Value], facts: &Facts, faults: &mut Faults) {
    for (i, message) in list.iter().enumerate() {
        let at = format!("/messages/{i}");
        let Some(role) = message["role"].as_str() else {
            faults.add(&rules::ROLE, at, "it has no role");
            continue;
        };
        match role {
            "system" | "user" => {}
            "developer" if facts.quirks.native => {}
            "developer" => faults.add(&rules::DEVELOPER, format!("{at}/role"), ""),
            "assistant" => check_assistant(message, &at, facts, faults),
            "tool" if message["tool_call_id"].as_str().is_none_or(|id| id.trim().is_empty()) => {
                faults.add(&rules::RESULT_ID, &at, "");
            }
            "tool" => {}
            "function" if message["name"].is_string() => {}
            "function" => faults.add(&rules::ROLE, &at, "a function message needs `name`"),
            _ => faults.add(&rules::ROLE, format!("{at}/role"), format!("{role:?}")),
        }
        check_content(message, role, &at, facts, faults);
        check_fields(message, &at, facts, faults);
    }
}

/// The fields of a message and of a call that every vendor knows.
const KNOWN: &[&str] = &[
    "role",
    "content",
    "name",
    "tool_call_id",
    "tool_calls",
    "function_call",
    "refusal",
    "reasoning",
    "reasoning_content",
    "prefix",
    "id",
    "type",
    "function",
    "custom",
    "index",
];

/// Fields that a vendor refuses because it does not know them.
fn check_fields(message: &Value, at: &str, facts: &Facts, faults: &mut Faults) {
    if !facts.quirks.known_fields {
        return;
    }
    let calls = message["tool_calls"].as_array().into_iter().flatten().enumerate();
    let calls = calls.map(|(i, call)| (format!("{at}/tool_calls/{i}"), call));
    for (at, value) in [(at.to_owned(), message)].into_iter().chain(calls) {
        for name in value.as_object().into_iter().flat_map(|fields| fields.keys()) {
            if !KNOWN.contains(&name) {
                faults.add(&rules::KNOWN_FIELDS, format!("{at}/{name}"), "");
            }
        }
    }
}

fn check_assistant(message: &Value, at: &str, facts: &Facts, faults: &mut Faults) {
    let has_calls = pairing::has_any(message);
    match &message["tool_calls"] {
        Value::Null => {}
        Value::Array(list) if list.is_empty() => {
            faults.add(&rules::CALLS_EMPTY, format!("{at}/tool_calls"), "");
        }
        Value::Array(list) => pairing::check_each(list, at, facts, faults),
        _ => faults.add(&rules::CALL, format!("{at}/tool_calls"), "must be a list"),
    }
    let quirks = &facts.quirks;
    let must_think = quirks.reasoning_with_calls && facts.thinks && has_calls;
    if must_think && !message["reasoning_content"].is_string() {
        faults.add(&rules::REASONING_LOST, at, "`reasoning_content` is missing");
    }
    if matches!(quirks.reasoning, Reasoning::Reasoning | Reasoning::Both)
        && message["reasoning_content"].is_string()
        && !message["reasoning"].is_string()
    {
        let detail = "it reads `reasoning`";
        faults.add(&rules::REASONING_NAME, format!("{at}/reasoning_content"), detail);
    }
    if quirks.prefix_last && !has_calls && says_nothing(&message["content"]) {
        faults.add(&rules::SILENT, at, "");
    }
}

fn says_nothing(content: &Value) -> bool {
    match content {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(parts) => parts.is_empty(),
        _ => false,
    }
}

fn check_content(message: &Value, role: &str, at: &str, facts: &Facts, faults: &mut Faults) {
    let at = format!("{at}/content");
    let quirks = &facts.quirks;
    match &message["content"] {
        Value::String(_) => {}
        Value::Null => {
            // A spoken answer is known by its id, the old form of a result may be null.
            let may_lack = match role {
                "assistant" => pairing::has_any(message) || message["audio"].is_object(),
                "function" => true,
                _ => false,
            };
            if !may_lack {
                faults.add(&rules::CONTENT, at, "there is none, and no call either");
            } else if quirks.empty_content && message.get("content").is_some() {
                faults.add(&rules::NULL_CONTENT, at, "");
            }
        }
        Value::Array(list) if list.is_empty() => faults.add(&rules::CONTENT_EMPTY, at, ""),
        Value::Array(_) if role == "function" => {
            faults.add(&rules::CONTENT, at, "the old form of a result is a string");
        }
        Value::Array(list) => {
            if quirks.plain_content && list.iter().all(|part| part["type"] == "text") {
                faults.add(&rules::PLAIN, &at, "");
            }
            parts::check(list, role, &at, facts, faults);
        }
        _ => faults.add(&rules::CONTENT, at, "it is neither a string nor a list"),
    }
}
