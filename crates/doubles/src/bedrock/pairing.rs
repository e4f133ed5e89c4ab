//! Rules of calls and results.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::family::{Incoming, Rule, rules};
use crate::place::blocks;
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{list, text};

pub(super) const RULES: &[Rule] = rules![
    tools_are_configured,
    call_ids_differ,
    calls_are_answered_at_once,
    results_answer_calls,
    a_call_has_one_result,
    results_may_stand_alone,
];

fn ids<'a>(message: Option<&'a Value>, kind: &str) -> Vec<&'a str> {
    let blocks = message.map_or(&[][..], |message| list(&message["content"]));
    blocks.iter().filter_map(|block| block.get(kind)).map(|b| text(&b["toolUseId"])).collect()
}

fn tools_are_configured(incoming: &Incoming<'_>) -> Verdict {
    let has = |kind: &str| blocks(incoming).any(|place| place.block.get(kind).is_some());
    let uses = has("toolUse") || has("toolResult");
    demand(!uses || incoming.body["toolConfig"].is_object(), || {
        Refusal::new(
            "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        )
    })
}

fn call_ids_differ(incoming: &Incoming<'_>) -> Verdict {
    let mut seen = BTreeSet::new();
    for place in blocks(incoming).filter(|place| place.block.get("toolUse").is_some()) {
        let id = text(&place.block["toolUse"]["toolUseId"]);
        demand(seen.insert(id), || {
            Refusal::new(format!(
                "The toolUse blocks at messages.{}.content contain duplicate Ids: {id}",
                place.message
            ))
        })?;
    }
    Ok(())
}

fn calls_are_answered_at_once(incoming: &Incoming<'_>) -> Verdict {
    let messages = list(&incoming.body["messages"]);
    for (i, message) in messages.iter().enumerate() {
        let answered = ids(messages.get(i + 1), "toolResult");
        let calls = ids(Some(message), "toolUse");
        let open: Vec<&str> = calls.into_iter().filter(|id| !answered.contains(id)).collect();
        demand(open.is_empty(), || {
            let (at, open) = (i + 1, open.join(", "));
            Refusal::new(format!(
                "Expected toolResult blocks at messages.{at}.content for the following Ids: {open}"
            ))
        })?;
    }
    Ok(())
}

fn results_answer_calls(incoming: &Incoming<'_>) -> Verdict {
    let messages = list(&incoming.body["messages"]);
    for (i, message) in messages.iter().enumerate() {
        let calls = ids(i.checked_sub(1).and_then(|i| messages.get(i)), "toolUse");
        let results = ids(Some(message), "toolResult");
        let unique: BTreeSet<&str> = results.iter().copied().collect();
        demand(unique.len() <= calls.len(), || {
            Refusal::new(format!(
                "The number of toolResult blocks at messages.{i}.content exceeds the number of toolUse blocks of previous turn."
            ))
        })?;
        let orphan = results.iter().find(|id| !calls.contains(id));
        orphan.map_or(Ok(()), |id| {
            Err(Refusal::new(format!("The toolResult blocks at messages.{i}.content contain an Id that no toolUse block of the previous turn has: {id}")))
        })?;
    }
    Ok(())
}

fn a_call_has_one_result(incoming: &Incoming<'_>) -> Verdict {
    for (i, message) in list(&incoming.body["messages"]).iter().enumerate() {
        let mut seen = BTreeSet::new();
        for id in ids(Some(message), "toolResult") {
            demand(seen.insert(id), || {
                Refusal::new(format!(
                    "The toolResult blocks at messages.{i}.content contain duplicate Ids: {id}"
                ))
            })?;
        }
    }
    Ok(())
}

/// Llama and Mistral take nothing beside results.
fn results_may_stand_alone(incoming: &Incoming<'_>) -> Verdict {
    let is_strict = ["llama", "mistral"].iter().any(|name| incoming.model.contains(name));
    for message in list(&incoming.body["messages"]).iter().filter(|_| is_strict) {
        let blocks = list(&message["content"]);
        let n_results = blocks.iter().filter(|block| block.get("toolResult").is_some()).count();
        let n_points = blocks.iter().filter(|block| block.get("cachePoint").is_some()).count();
        demand(n_results == 0 || n_results + n_points == blocks.len(), || {
            Refusal::new(
                "Conversation blocks and tool result blocks cannot be provided in the same turn.",
            )
        })?;
    }
    Ok(())
}
