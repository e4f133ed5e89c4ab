//! Each item for itself.

use super::parts::check_parts;
use super::{Report, Side, kind, rules, text};
use crate::openai_responses::{LONGEST_ITEM_ID, id_prefix};
use crate::tree::Value;

/// The longest id of a call.
const LONGEST_CALL_ID: usize = 64;
/// The longest name of a function.
const LONGEST_NAME: usize = 128;

pub(super) fn check(item: &Value, place: &str, report: &mut Report<'_>) {
    let kind = kind(item);
    if kind.is_empty() {
        return report(&rules::ITEM_TYPE, place.into(), String::new());
    }
    check_id(item, kind, place, report);
    match kind {
        "message" => check_message(item, place, report),
        "function_call" | "custom_tool_call" => check_call(item, kind, place, report),
        "function_call_output" | "custom_tool_call_output" => check_output(item, place, report),
        "reasoning" => check_reasoning(item, place, report),
        "additional_tools" => check_no_breakpoint(item, place, report),
        _ => {}
    }
}

fn check_id(item: &Value, kind: &str, place: &str, report: &mut Report<'_>) {
    let Some(id) = text(item, "id") else { return };
    if let Some(prefix) = id_prefix(kind)
        && !id.starts_with(prefix)
    {
        let detail = format!("{id:?} does not begin with {prefix:?}");
        report(&rules::ITEM_ID_PREFIX, format!("{place}/id"), detail);
    }
    let length = id.chars().count();
    if length > LONGEST_ITEM_ID {
        report(&rules::ITEM_ID_LENGTH, format!("{place}/id"), format!("it has {length}"));
    }
}

fn check_message(item: &Value, place: &str, report: &mut Report<'_>) {
    let side = match text(item, "role") {
        Some("assistant") => Side::Output,
        Some("user" | "system" | "developer") => Side::Input,
        _ => return report(&rules::ROLE, format!("{place}/role"), String::new()),
    };
    match item.get("content") {
        Some(Value::String(_)) => {}
        Some(Value::Array(parts)) => check_parts(parts, side, &format!("{place}/content"), report),
        _ => report(&rules::CONTENT, format!("{place}/content"), String::new()),
    }
}

fn check_no_breakpoint(item: &Value, place: &str, report: &mut Report<'_>) {
    if item.get("prompt_cache_breakpoint").is_some() {
        let place = format!("{place}/prompt_cache_breakpoint");
        report(&rules::CACHE_BREAKPOINT, place, "it is on additional tools".into());
    }
}

fn check_call(item: &Value, kind: &str, place: &str, report: &mut Report<'_>) {
    let input = if kind == "function_call" { "arguments" } else { "input" };
    for name in ["call_id", "name", input] {
        match item.get(name) {
            None | Some(Value::Null) => {
                report(&rules::CALL_FIELDS, place.into(), format!("`{name}` is missing"));
            }
            Some(value) if name != input && !value.is_string() => {
                report(&rules::CALL_FIELDS, format!("{place}/{name}"), "it is no text".into());
            }
            Some(_) => {}
        }
    }
    if item.get(input).is_some_and(|value| !value.is_string() && !value.is_null()) {
        report(&rules::ARGUMENTS_TEXT, format!("{place}/{input}"), String::new());
    }
    if let Some(name) = text(item, "name")
        && !is_name(name)
    {
        report(&rules::NAME, format!("{place}/name"), format!("{name:?}"));
    }
    check_call_id(item, place, report);
}

pub(super) fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn check_call_id(item: &Value, place: &str, report: &mut Report<'_>) {
    let Some(id) = text(item, "call_id") else { return };
    let length = id.chars().count();
    if !(1..=LONGEST_CALL_ID).contains(&length) {
        report(&rules::CALL_ID_LENGTH, format!("{place}/call_id"), format!("it has {length}"));
    }
}

fn check_output(item: &Value, place: &str, report: &mut Report<'_>) {
    if text(item, "call_id").is_none() {
        report(&rules::OUTPUT_CALL_ID, place.into(), String::new());
    }
    check_call_id(item, place, report);
    let place = format!("{place}/output");
    match item.get("output") {
        Some(Value::String(_)) => {}
        Some(Value::Array(parts)) if !parts.is_empty() => {
            check_parts(parts, Side::Input, &place, report);
        }
        _ => report(&rules::OUTPUT_FORM, place, String::new()),
    }
}

fn check_reasoning(item: &Value, place: &str, report: &mut Report<'_>) {
    if !item.get("summary").is_some_and(Value::is_array) {
        report(&rules::REASONING_SUMMARY, place.into(), String::new());
    }
    match item.get("encrypted_content") {
        None | Some(Value::Null) => {}
        Some(Value::String(sealed)) if is_sealed(sealed) => {}
        Some(_) => {
            report(&rules::REASONING_SEALED, format!("{place}/encrypted_content"), String::new());
        }
    }
}

/// Whether a text can be an encrypted thought: base64 of either alphabet.
pub(in crate::openai_responses) fn is_sealed(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_+/=".contains(&byte))
}
