//! Calls and their results.

use std::collections::HashSet;

use super::facts::Facts;
use super::rules;
use crate::lint::Faults;
use crate::tree::Value;

/// Whether an assistant message has calls, in the old form or the new.
pub(super) fn has_any(message: &Value) -> bool {
    let has_calls = message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty());
    has_calls || message["function_call"].is_object()
}

/// The calls of one message.
pub(super) fn check_each(list: &[Value], at: &str, facts: &Facts, faults: &mut Faults) {
    let mut seen = HashSet::new();
    for (i, call) in list.iter().enumerate() {
        let at = format!("{at}/tool_calls/{i}");
        match call["id"].as_str() {
            None => faults.add(&rules::CALL, &at, "it has no id"),
            Some(id) if !facts.quirks.call_ids.takes(id) && !may_stay(id, facts) => {
                let is_exact = facts.quirks.call_ids.is_exact();
                let rule = if is_exact { &rules::EXACT_CALL_ID } else { &rules::CALL_ID };
                faults.add(rule, format!("{at}/id"), format!("{id:?}"));
            }
            Some(id) if !seen.insert(id) => {
                faults.add(&rules::CALL_ID_TWICE, format!("{at}/id"), format!("{id:?}"));
            }
            Some(_) => {}
        }
        check_form(call, &at, facts, faults);
    }
}

/// OpenAI looks at the length only; what we write is narrower than that.
fn may_stay(id: &str, facts: &Facts) -> bool {
    let ids = &facts.quirks.call_ids;
    ids.admits_length(id.chars().count())
}

fn check_form(call: &Value, at: &str, facts: &Facts, faults: &mut Faults) {
    let (kind, input) = match call["type"].as_str() {
        Some("function") => ("function", "arguments"),
        Some("custom") if facts.quirks.native => ("custom", "input"),
        Some(kind) => {
            faults.add(&rules::CALL, format!("{at}/type"), format!("{kind:?}"));
            return;
        }
        None => {
            faults.add(&rules::CALL, at, "it has no type");
            return;
        }
    };
    match call[kind]["name"].as_str() {
        None => faults.add(&rules::CALL, at, format!("it has no `{kind}.name`")),
        Some(name) if !facts.quirks.tool_names.takes(name) => {
            faults.add(&rules::NAME, format!("{at}/{kind}/name"), format!("{name:?}"));
        }
        Some(_) => {}
    }
    let at = format!("{at}/{kind}/{input}");
    match call[kind][input].as_str() {
        None => faults.add(&rules::CALL, at, format!("`{kind}.{input}` must be a string")),
        Some(text) if kind == "function" && !facts.quirks.native && !is_object(text) => {
            faults.add(&rules::ARGUMENTS, at, "");
        }
        Some(_) => {}
    }
}

fn is_object(text: &str) -> bool {
    let raw = serde_json::from_str::<&serde_json::value::RawValue>(text);
    raw.is_ok_and(|raw| raw.get().starts_with('{'))
}

/// The calls of an assistant message, and which of them are answered.
struct Group<'a> {
    at: String,
    /// The ids, in order and to look them up.
    calls: Vec<&'a str>,
    called: HashSet<&'a str>,
    answered: HashSet<&'a str>,
}

/// That every call has its result, and every result its call.
pub(super) fn check(list: &[Value], faults: &mut Faults) {
    let mut group: Option<Group<'_>> = None;
    for (i, message) in list.iter().enumerate() {
        if message["role"] == "tool" {
            check_result(message, &format!("/messages/{i}"), group.as_mut(), faults);
            continue;
        }
        close(group.take(), faults);
        if let Some(calls) = message["tool_calls"].as_array()
            && message["role"] == "assistant"
        {
            let calls: Vec<&str> = calls.iter().filter_map(|call| call["id"].as_str()).collect();
            let at = format!("/messages/{i}/tool_calls");
            let called = calls.iter().copied().collect();
            group = Some(Group { at, calls, called, answered: HashSet::new() });
        }
    }
    close(group, faults);
}

fn check_result<'a>(
    message: &'a Value,
    at: &str,
    group: Option<&mut Group<'a>>,
    faults: &mut Faults,
) {
    let Some(id) = message["tool_call_id"].as_str() else {
        return;
    };
    match group {
        Some(group) if group.answered.contains(id) => {
            faults.add(&rules::RESULT_TWICE, at, format!("{id:?}"));
        }
        Some(group) if group.called.contains(id) => {
            group.answered.insert(id);
        }
        _ => faults.add(&rules::ORPHAN, at, format!("{id:?}")),
    }
}

fn close(group: Option<Group<'_>>, faults: &mut Faults) {
    let Some(Group { at, mut calls, answered, .. }) = group else { return };
    calls.retain(|id| !answered.contains(id));
    if !calls.is_empty() {
        faults.add(&rules::UNANSWERED, at, calls.join(", "));
    }
}
