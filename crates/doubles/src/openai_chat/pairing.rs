//! Rules of calls and results.

use serde_json::Value;

use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{list, text};

pub(super) const RULES: &[Rule] =
    rules![results_answer_calls, calls_are_answered, a_call_is_answered_once, call_ids_differ];

fn ids(message: &Value) -> Vec<&str> {
    let is_assistant = message["role"] == "assistant";
    list(if is_assistant { &message["tool_calls"] } else { &Value::Null })
        .iter()
        .map(|call| text(&call["id"]))
        .collect()
}

/// The messages, each with the calls that are open before it: those of the assistant whose
/// results are being given.
fn open<'a>(incoming: &Incoming<'a>) -> Vec<(usize, &'a Value, Vec<&'a str>)> {
    let mut open = Vec::new();
    let mut messages = Vec::new();
    for (i, message) in list(&incoming.body["messages"]).iter().enumerate() {
        let is_result = message["role"] == "tool";
        let before = if is_result { open.clone() } else { Vec::new() };
        messages.push((i, message, before));
        if !is_result {
            open = ids(message);
        }
    }
    messages
}

fn results_answer_calls(incoming: &Incoming<'_>) -> Verdict {
    for (i, message, open) in open(incoming) {
        let is_orphan =
            message["role"] == "tool" && !open.contains(&text(&message["tool_call_id"]));
        demand(!is_orphan, || {
            let words = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
            Refusal::new(words).at(format!("messages.[{i}].role"))
        })?;
    }
    Ok(())
}

fn calls_are_answered(incoming: &Incoming<'_>) -> Verdict {
    let messages = list(&incoming.body["messages"]);
    for (i, message) in messages.iter().enumerate() {
        let results = messages[i + 1..].iter().take_while(|message| message["role"] == "tool");
        let answered: Vec<&str> = results.map(|result| text(&result["tool_call_id"])).collect();
        let open: Vec<&str> =
            ids(message).into_iter().filter(|id| !answered.contains(id)).collect();
        demand(open.is_empty(), || {
            let rule = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
            let open = open.join(", ");
            let words = format!(
                "{rule} The following tool_call_ids did not have response messages: {open}"
            );
            Refusal::new(words).at(format!("messages.[{}].role", i + 1))
        })?;
    }
    Ok(())
}

fn a_call_is_answered_once(incoming: &Incoming<'_>) -> Verdict {
    let messages = list(&incoming.body["messages"]);
    for (i, message) in messages.iter().enumerate() {
        let mut seen = Vec::new();
        let results = messages[i + 1..].iter().take_while(|message| message["role"] == "tool");
        for result in results.take(if ids(message).is_empty() { 0 } else { messages.len() }) {
            let id = text(&result["tool_call_id"]);
            demand(!seen.contains(&id), || {
                Refusal::new(format!("Duplicate value for 'tool_call_id' of '{id}'")).at("messages")
            })?;
            seen.push(id);
        }
    }
    Ok(())
}

fn call_ids_differ(incoming: &Incoming<'_>) -> Verdict {
    for (i, message) in list(&incoming.body["messages"]).iter().enumerate() {
        let ids = ids(message);
        for (j, id) in ids.iter().enumerate() {
            demand(!ids[..j].contains(id), || {
                let at = format!("messages[{i}].tool_calls[{j}].id");
                Refusal::new(format!(
                    "Duplicate value for 'tool_call_id' of '{id}' in message with role 'assistant'"
                ))
                .at(at)
            })?;
        }
    }
    Ok(())
}
