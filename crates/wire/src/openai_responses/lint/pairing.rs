//! How the items fit together.

use std::collections::{HashMap, HashSet};

use super::settings::is_given;
use super::{Report, kind, rules, text};
use crate::openai_responses::models::always_reasons;
use crate::openai_responses::{CONTINUED, is_made_by_model};
use crate::tree::Value;

pub(super) fn check(body: &Value, input: &[Value], report: &mut Report<'_>) {
    check_calls(body, input, report);
    check_ids(input, report);
    check_reasoning(body, input, report);
    check_namespaces(body, input, report);
    check_stored(body, input, report);
    check_order(body, input, report);
}

fn check_calls(body: &Value, input: &[Value], report: &mut Report<'_>) {
    let continues = CONTINUED.iter().any(|name| is_given(body, name));
    // What is referred to may be the call or the output.
    let refers = input.iter().any(|item| kind(item) == "item_reference");
    let mut calls: HashMap<&str, (usize, bool)> = HashMap::new();
    let mut outputs: HashSet<&str> = HashSet::new();
    for (i, item) in input.iter().enumerate() {
        let Some(id) = text(item, "call_id") else { continue };
        let place = || format!("/input/{i}");
        match kind(item) {
            "function_call" | "custom_tool_call" => {
                let is_async = item.get("async") == Some(&Value::Bool(true));
                if calls.insert(id, (i, is_async)).is_some() {
                    report(&rules::CALL_ID_UNIQUE, place(), format!("{id:?} is called again"));
                }
            }
            "function_call_output" | "custom_tool_call_output" => {
                if !calls.contains_key(id) && !continues && !refers {
                    report(&rules::OUTPUT_HAS_CALL, place(), format!("no call {id:?} before it"));
                } else if !outputs.insert(id) {
                    report(&rules::CALL_ID_UNIQUE, place(), format!("{id:?} is answered again"));
                }
                if continues && is_given(item, "id") {
                    report(&rules::OUTPUT_ID, format!("/input/{i}/id"), String::new());
                }
            }
            _ => {}
        }
    }
    let mut open: Vec<_> = calls
        .into_iter()
        .filter(|(id, (_, is_async))| !is_async && !refers && !outputs.contains(id))
        .collect();
    open.sort_unstable_by_key(|(_, (i, _))| *i);
    for (id, (i, _)) in open {
        report(&rules::CALL_ANSWERED, format!("/input/{i}"), format!("no output for {id:?}"));
    }
}

fn check_ids(input: &[Value], report: &mut Report<'_>) {
    let mut seen: HashSet<&str> = HashSet::new();
    for (i, item) in input.iter().enumerate() {
        if let Some(id) = text(item, "id")
            && !seen.insert(id)
        {
            report(&rules::ITEM_ID_UNIQUE, format!("/input/{i}/id"), format!("{id:?}"));
        }
    }
}

fn check_reasoning(body: &Value, input: &[Value], report: &mut Report<'_>) {
    let needs_reasoning = text(body, "model").is_some_and(always_reasons);
    let mut reasoned = false;
    for (i, item) in input.iter().enumerate() {
        let place = || format!("/input/{i}");
        match kind(item) {
            "reasoning" => reasoned = true,
            "message" if text(item, "role") == Some("user") => reasoned = false,
            // A reference may be to the reasoning.
            "item_reference" | "compaction" => reasoned = true,
            "message" | "function_call" => {
                let is_named = is_from_model(item) && text(item, "id").is_some();
                if needs_reasoning && is_named && !reasoned {
                    report(&rules::REASONING_KEPT, place(), String::new());
                }
            }
            _ => {}
        }
    }
    check_followed(input, report);
}

/// Something that the model made follows each run of reasoning.
fn check_followed(input: &[Value], report: &mut Report<'_>) {
    let is_reasoning = |item: &Value| kind(item) == "reasoning";
    let mut at = 0;
    for run in input.chunk_by(|a, b| is_reasoning(a) == is_reasoning(b)) {
        let places = at..at + run.len();
        at = places.end;
        if run.first().is_some_and(is_reasoning) && !input.get(at).is_some_and(is_from_model) {
            for i in places {
                report(&rules::REASONING_FOLLOWED, format!("/input/{i}"), String::new());
            }
        }
    }
}

fn is_from_model(item: &Value) -> bool {
    match kind(item) {
        "message" => text(item, "role") == Some("assistant"),
        // It may be to anything.
        "item_reference" => true,
        kind => is_made_by_model(kind),
    }
}

fn check_namespaces(body: &Value, input: &[Value], report: &mut Report<'_>) {
    let Some(Value::Array(tools)) = body.get("tools") else { return };
    let in_namespaces: HashSet<&str> = tools
        .iter()
        .filter(|tool| text(tool, "type") == Some("namespace"))
        .filter_map(|tool| tool.get("tools")?.as_array())
        .flatten()
        .filter_map(|tool| text(tool, "name"))
        .collect();
    let plain: HashSet<&str> = tools
        .iter()
        .filter(|tool| text(tool, "type") != Some("namespace"))
        .filter_map(|tool| text(tool, "name"))
        .collect();
    for (i, item) in input.iter().enumerate() {
        if kind(item) == "function_call"
            && let Some(name) = text(item, "name")
            && in_namespaces.contains(name)
            && !plain.contains(name)
            && !is_given(item, "namespace")
        {
            report(&rules::NAMESPACE, format!("/input/{i}"), format!("{name:?} is in one"));
        }
    }
}

fn check_stored(body: &Value, input: &[Value], report: &mut Report<'_>) {
    if body.get("store") != Some(&Value::Bool(false)) {
        return;
    }
    for (i, item) in input.iter().enumerate() {
        let refers = match kind(item) {
            "item_reference" => true,
            "reasoning" => is_given(item, "id") && !is_given(item, "encrypted_content"),
            _ => false,
        };
        if refers {
            report(&rules::STORED_ONLY, format!("/input/{i}"), String::new());
        }
    }
}

fn check_order(body: &Value, input: &[Value], report: &mut Report<'_>) {
    let cuts_by_itself = text(body, "truncation") == Some("auto");
    for (i, item) in input.iter().enumerate() {
        let place = || format!("/input/{i}");
        match kind(item) {
            "compaction_trigger" if i + 1 < input.len() => {
                report(&rules::COMPACTION_LAST, place(), String::new());
            }
            "configuration_update" if cuts_by_itself => {
                let detail = "the truncation is automatic";
                report(&rules::CONFIGURATION_UPDATE, place(), detail.into());
            }
            "configuration_update"
                if input.get(i + 1).is_some_and(|next| kind(next) == "configuration_update") =>
            {
                report(&rules::CONFIGURATION_UPDATE, place(), "another follows".into());
            }
            _ => {}
        }
    }
}
