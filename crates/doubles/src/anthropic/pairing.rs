//! Rules of calls and results.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::family::{Incoming, Rule, rules};
use crate::place::blocks;
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{list, text};

pub(super) const RULES: &[Rule] = rules![
    call_ids_are_unique,
    calls_are_answered_at_once,
    results_answer_calls,
    a_call_has_one_result,
    results_come_first,
    server_calls_and_results_are_pairs,
    nothing_is_said_while_a_server_tool_waits,
];

/// The blocks of a kind in a message.
fn of_kind<'a>(message: &'a Value, kind: &'a str) -> impl Iterator<Item = (usize, &'a Value)> {
    let blocks = list(&message["content"]).iter().enumerate();
    blocks.filter(move |(_, block)| block["type"] == kind)
}

fn ids<'a>(message: &'a Value, kind: &'a str, field: &'a str) -> Vec<&'a str> {
    of_kind(message, kind).map(|(_, block)| text(&block[field])).collect()
}

fn call_ids_are_unique(incoming: &Incoming<'_>) -> Verdict {
    let mut seen = BTreeSet::new();
    for place in blocks(incoming).filter(|place| place.kind() == "tool_use") {
        demand(seen.insert(text(&place.block["id"])), || {
            place.refuse("", "`tool_use` ids must be unique")
        })?;
    }
    Ok(())
}

fn calls_are_answered_at_once(incoming: &Incoming<'_>) -> Verdict {
    let messages = list(&incoming.body["messages"]);
    for (i, message) in messages.iter().enumerate() {
        let next = messages.get(i + 1).unwrap_or(&Value::Null);
        let answered = ids(next, "tool_result", "tool_use_id");
        let open: Vec<&str> = ids(message, "tool_use", "id")
            .into_iter()
            .filter(|id| !answered.contains(id))
            .collect();
        demand(open.is_empty(), || {
            let open = open.join(", ");
            let rule = "Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
            Refusal::new(format!(
                "messages.{i}: `tool_use` ids were found without `tool_result` blocks immediately after: {open}. {rule}"
            ))
        })?;
    }
    Ok(())
}

fn results_answer_calls(incoming: &Incoming<'_>) -> Verdict {
    let messages = list(&incoming.body["messages"]);
    for place in blocks(incoming).filter(|place| place.kind() == "tool_result") {
        let before = place.message.checked_sub(1).map_or(&Value::Null, |i| &messages[i]);
        let id = text(&place.block["tool_use_id"]);
        demand(ids(before, "tool_use", "id").contains(&id), || {
            let rule = "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.";
            let words =
                format!("unexpected `tool_use_id` found in `tool_result` blocks: {id}. {rule}");
            place.refuse("", &words)
        })?;
    }
    Ok(())
}

fn a_call_has_one_result(incoming: &Incoming<'_>) -> Verdict {
    for (i, message) in list(&incoming.body["messages"]).iter().enumerate() {
        let mut seen = BTreeSet::new();
        for id in ids(message, "tool_result", "tool_use_id") {
            demand(seen.insert(id), || {
                let rule = "each tool_use must have a single result.";
                Refusal::new(format!(
                    "messages.{i}: {rule} Found multiple `tool_result` blocks with id: {id}"
                ))
            })?;
        }
    }
    Ok(())
}

/// Nothing stands before a result in its message.
fn results_come_first(incoming: &Incoming<'_>) -> Verdict {
    for (i, message) in list(&incoming.body["messages"]).iter().enumerate() {
        let results: Vec<&str> = ids(message, "tool_result", "tool_use_id");
        let n_first = list(&message["content"])
            .iter()
            .take_while(|block| block["type"] == "tool_result")
            .count();
        demand(n_first == results.len(), || {
            let late = results[n_first..].join(", ");
            let rule = "Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
            Refusal::new(format!(
                "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {late}. {rule}",
                i.saturating_sub(1)
            ))
        })?;
    }
    Ok(())
}

/// A tool that the API runs is called and answered in assistant messages.
fn server_calls_and_results_are_pairs(incoming: &Incoming<'_>) -> Verdict {
    let is_result = |kind: &str| kind.ends_with("_tool_result") && kind != "tool_result";
    let mut called = BTreeSet::new();
    for place in blocks(incoming) {
        if place.kind() == "server_tool_use" || place.kind() == "mcp_tool_use" {
            called.insert(text(&place.block["id"]));
        } else if is_result(place.kind()) {
            let (kind, id) = (place.kind(), text(&place.block["tool_use_id"]));
            demand(called.contains(id), || {
                let rule = format!(
                    "Each `{kind}` block must have a corresponding `server_tool_use` block before it."
                );
                let words =
                    format!("unexpected `tool_use_id` found in `{kind}` blocks: {id}. {rule}");
                place.refuse("", &words)
            })?;
        }
    }
    let answered: BTreeSet<&str> = blocks(incoming)
        .filter(|place| is_result(place.kind()))
        .map(|place| text(&place.block["tool_use_id"]))
        .collect();
    let messages = list(&incoming.body["messages"]);
    for place in blocks(incoming).filter(|place| place.kind() == "server_tool_use") {
        let (name, id) = (text(&place.block["name"]), text(&place.block["id"]));
        // The last turn may still be at work.
        let is_open = place.message + 2 >= messages.len();
        demand(answered.contains(id) || is_open, || {
            Refusal::new(format!(
                "messages.{}: `{name}` tool use with id `{id}` was found without a corresponding `{name}_tool_result` block",
                place.message
            ))
        })?;
    }
    Ok(())
}

/// While a tool of the API's own waits beside calls, the user gives results and nothing else.
fn nothing_is_said_while_a_server_tool_waits(incoming: &Incoming<'_>) -> Verdict {
    let messages = list(&incoming.body["messages"]);
    let is_answered = |id: &str| {
        let mut blocks = blocks(incoming).map(|place| place.block);
        blocks.any(|block| block["type"] != "tool_result" && block["tool_use_id"] == id)
    };
    for (i, pair) in messages.windows(2).enumerate() {
        let waits = ids(&pair[0], "server_tool_use", "id").iter().any(|id| !is_answered(id));
        let blocks = list(&pair[1]["content"]);
        let says_more = blocks.iter().any(|block| block["type"] != "tool_result");
        demand(!(waits && says_more && of_kind(&pair[0], "tool_use").next().is_some()), || {
            Refusal::new(format!(
                "messages.{}: while a server tool use has no result, the next user message may hold only `tool_result` blocks",
                i + 1
            ))
        })?;
    }
    Ok(())
}
