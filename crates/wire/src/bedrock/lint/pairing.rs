//! Faults in the order of messages, and between calls and results.

use std::collections::HashSet;

use super::rules::{
    CALL_ID_UNIQUE, CALLS_ANSWERED, PREFILL, RESULT_ONCE, RESULTS_CALLED, TOOL_CONFIG,
    TURNS_ALTERNATE, USER_FIRST,
};
use super::{Report, blocks_of};
use crate::anthropic::refuses_prefill;
use crate::tree::Value;

pub(super) fn check(
    messages: &[Value],
    tool_config: Option<&Value>,
    model: &str,
    report: &mut Report<'_>,
) {
    let role = |i: usize| messages.get(i)?.get("role")?.as_str();
    if role(0).is_some_and(|role| role != "user") {
        report(&USER_FIRST, "/messages/0".to_owned(), String::new());
    }
    // A system message among the others is nobody's turn.
    let turns = (0..messages.len()).filter_map(|i| role(i).map(|role| (i, role)));
    let turns: Vec<_> = turns.filter(|(_, role)| *role != "system").collect();
    for pair in turns.windows(2) {
        if pair[0].1 == pair[1].1 {
            report(&TURNS_ALTERNATE, format!("/messages/{}", pair[1].0), String::new());
        }
    }
    if let Some((i, "assistant")) = turns.last()
        && refuses_prefill(model)
    {
        report(&PREFILL, format!("/messages/{i}"), String::new());
    }
    check_pairs(messages, report);
    let has_tool_block = blocks_of(messages)
        .any(|(_, value, _)| value.get("toolUse").or(value.get("toolResult")).is_some());
    if has_tool_block && tool_config.is_none() {
        report(&TOOL_CONFIG, "/toolConfig".to_owned(), String::new());
    }
}

/// Calls or results of one message: the id, and the place.
fn ids<'a>(message: &'a Value, i: usize, kind: &str) -> Vec<(&'a str, String)> {
    let found = blocks_of(std::slice::from_ref(message)).filter_map(|(_, value, at)| {
        let inner = value.get(kind)?;
        // What the API runs itself is answered in the same message.
        let is_hosted = inner.get("type").and_then(Value::as_str).is_some_and(|k| k != "tool_use");
        if is_hosted {
            return None;
        }
        Some((inner.get("toolUseId")?.as_str()?, format!("/messages/{i}{at}/{kind}")))
    });
    found.collect()
}

fn check_pairs(messages: &[Value], report: &mut Report<'_>) {
    let mut seen = HashSet::new();
    let mut open: Vec<(&str, String)> = Vec::new();
    for (i, message) in messages.iter().enumerate() {
        let is_user = message.get("role").and_then(Value::as_str) == Some("user");
        let results = if is_user { ids(message, i, "toolResult") } else { Vec::new() };
        check_results(i, &open, &results, report);
        open = if is_user { Vec::new() } else { ids(message, i, "toolUse") };
        for (id, at) in &open {
            if !seen.insert(*id) {
                report(&CALL_ID_UNIQUE, format!("{at}/toolUseId"), (*id).to_owned());
            }
        }
    }
    check_results(messages.len(), &open, &[], report);
}

/// The results that stand in message `i` against the calls before it.
fn check_results(
    i: usize,
    calls: &[(&str, String)],
    results: &[(&str, String)],
    report: &mut Report<'_>,
) {
    let called: HashSet<&str> = calls.iter().map(|(id, _)| *id).collect();
    let said: HashSet<&str> = results.iter().map(|(id, _)| *id).collect();
    let missing: Vec<&str> =
        calls.iter().map(|(id, _)| *id).filter(|id| !said.contains(id)).collect();
    if !missing.is_empty() {
        report(&CALLS_ANSWERED, format!("/messages/{i}/content"), missing.join(", "));
    }
    let mut answered = HashSet::new();
    for (id, at) in results {
        if !called.contains(id) {
            report(&RESULTS_CALLED, at.clone(), (*id).to_owned());
        } else if !answered.insert(*id) {
            report(&RESULT_ONCE, at.clone(), (*id).to_owned());
        }
    }
}
