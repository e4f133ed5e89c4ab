//! Rules of calls and outputs, and of thoughts and what they led to.

use serde_json::Value;

use super::say::{encrypted, thought_of};
use super::{items, kind};
use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{list, text};

pub(super) const RULES: &[Rule] = rules![
    outputs_have_calls,
    calls_have_outputs,
    call_ids_differ,
    a_call_has_one_output,
    thoughts_are_followed,
    items_keep_their_thought,
    thoughts_are_sealed,
    nothing_refers_to_what_is_not_stored,
    a_continued_output_has_no_id,
    calls_name_their_namespace,
];

/// What answers each kind of call.
const PAIRS: [(&str, &str); 6] = [
    ("function_call", "function_call_output"),
    ("custom_tool_call", "custom_tool_call_output"),
    ("computer_call", "computer_call_output"),
    ("local_shell_call", "local_shell_call_output"),
    ("shell_call", "shell_call_output"),
    ("apply_patch_call", "apply_patch_call_output"),
];

fn is_call(item: &Value) -> bool {
    PAIRS.iter().any(|(call, _)| *call == kind(item))
}

fn is_output(item: &Value) -> bool {
    PAIRS.iter().any(|(_, output)| *output == kind(item))
}

/// A call of a shell may have only an id.
fn call_id(item: &Value) -> &str {
    item["call_id"].as_str().unwrap_or_else(|| text(&item["id"]))
}

fn outputs_have_calls(incoming: &Incoming<'_>) -> Verdict {
    let items = items(&incoming.body["input"]);
    for (i, output) in items.iter().enumerate().filter(|(_, item)| is_output(item)) {
        let id = call_id(output);
        let mut before = items[..i].iter().filter(|item| is_call(item));
        let is_known = before.any(|call| call_id(call) == id) || incoming.is_partial();
        demand(is_known, || {
            let words = format!("No tool call found for function call output with call_id {id}.");
            Refusal::new(words).at("input")
        })?;
    }
    Ok(())
}

fn calls_have_outputs(incoming: &Incoming<'_>) -> Verdict {
    let items = items(&incoming.body["input"]);
    for (i, call) in items.iter().enumerate().filter(|(_, item)| is_call(item)) {
        let id = call_id(call);
        let mut after = items[i + 1..].iter().filter(|item| is_output(item));
        let may_wait = call["async"] == true;
        demand(may_wait || after.any(|output| call_id(output) == id), || {
            Refusal::new(format!("No tool output found for function call {id}.")).at("input")
        })?;
    }
    Ok(())
}

fn once(incoming: &Incoming<'_>, of: fn(&Value) -> bool, what: &str) -> Verdict {
    let mut seen = std::collections::BTreeSet::new();
    for item in items(&incoming.body["input"]).iter().filter(|item| of(item)) {
        let id = call_id(item).to_owned();
        demand(seen.insert(id.clone()), || {
            Refusal::new(format!("Duplicate {what} found with call_id {id}.")).at("input")
        })?;
    }
    Ok(())
}

fn call_ids_differ(incoming: &Incoming<'_>) -> Verdict {
    once(incoming, is_call, "function call")
}

fn a_call_has_one_output(incoming: &Incoming<'_>) -> Verdict {
    once(incoming, is_output, "function call output")
}

/// A thought is followed by what it led to.
fn thoughts_are_followed(incoming: &Incoming<'_>) -> Verdict {
    let items = items(&incoming.body["input"]);
    for (i, item) in items.iter().enumerate().filter(|(_, item)| kind(item) == "reasoning") {
        let mut after = items[i + 1..].iter().skip_while(|item| kind(item) == "reasoning");
        let is_followed = after.next().is_some_and(|next| match kind(next) {
            "message" => next["role"] == "assistant",
            next => !next.ends_with("_output") || next == "program_output",
        });
        demand(is_followed, || {
            let id = text(&item["id"]);
            let words = format!(
                "Item '{id}' of type 'reasoning' was provided without its required following item."
            );
            Refusal::new(words).at("input")
        })?;
    }
    Ok(())
}

/// An item that has the id which the double gave it needs the thought it came with.
fn items_keep_their_thought(incoming: &Incoming<'_>) -> Verdict {
    let items = items(&incoming.body["input"]);
    for (i, item) in items.iter().enumerate() {
        let (id, kind) = (text(&item["id"]), kind(item));
        let Some(thought) = thought_of(id).filter(|_| !incoming.is_partial()) else { continue };
        demand(items[..i].iter().any(|item| item["id"] == thought.as_str()), || {
            let words = format!(
                "Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: '{thought}'."
            );
            Refusal::new(words).at("input")
        })?;
    }
    Ok(())
}

fn thoughts_are_sealed(incoming: &Incoming<'_>) -> Verdict {
    for item in items(&incoming.body["input"]).iter().filter(|item| kind(item) == "reasoning") {
        let Some(given) = item["encrypted_content"].as_str() else { continue };
        let is_base64 = given.chars().all(|c| c.is_ascii_alphanumeric() || "+/=_-".contains(c));
        let is_ours = given == encrypted(text(&item["id"]));
        demand(is_base64 && (is_ours || !incoming.verify), || {
            let begin: String = given.chars().take(4).collect();
            let words = format!(
                "The encrypted content {begin}... could not be verified. Reason: Encrypted content could not be decrypted or parsed."
            );
            Refusal::new(words).code("invalid_encrypted_content")
        })?;
    }
    Ok(())
}

fn nothing_refers_to_what_is_not_stored(incoming: &Incoming<'_>) -> Verdict {
    for item in items(&incoming.body["input"]) {
        let is_reference = kind(&item) == "item_reference";
        let is_bare = kind(&item) == "reasoning" && !item["encrypted_content"].is_string();
        demand(incoming.body["store"] != false || !(is_reference || is_bare), || {
            let id = text(&item["id"]);
            let rule = "Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.";
            Refusal::with_status(404, format!("Item with id '{id}' not found. {rule}")).at("input")
        })?;
    }
    Ok(())
}

/// An output that continues an answer and has an id is not taken for the answer to its call.
fn a_continued_output_has_no_id(incoming: &Incoming<'_>) -> Verdict {
    let continues = !incoming.body["previous_response_id"].is_null();
    for item in items(&incoming.body["input"]).iter().filter(|item| continues && is_output(item)) {
        demand(item["id"].is_null(), || {
            let words = format!("No tool output found for function call {}.", call_id(item));
            Refusal::new(words).at("input")
        })?;
    }
    Ok(())
}

/// A function that is only in a namespace is called with the namespace's name.
fn calls_name_their_namespace(incoming: &Incoming<'_>) -> Verdict {
    let tools = list(&incoming.body["tools"]);
    let (spaces, plain): (Vec<&Value>, Vec<&Value>) =
        tools.iter().partition(|tool| tool["type"] == "namespace");
    for item in items(&incoming.body["input"]).iter().filter(|item| kind(item) == "function_call") {
        let name = text(&item["name"]);
        let is_inside =
            spaces.iter().flat_map(|space| list(&space["tools"])).any(|t| t["name"] == name);
        let is_bare = item["namespace"].is_null() && !plain.iter().any(|tool| tool["name"] == name);
        demand(!(is_inside && is_bare && !name.is_empty()), || {
            let words = format!(
                "Missing namespace for function_call '{name}'. It does not exist in the default namespace. Round-trip the model's function_call item with its namespace field included."
            );
            Refusal::new(words).at("input")
        })?;
    }
    Ok(())
}
