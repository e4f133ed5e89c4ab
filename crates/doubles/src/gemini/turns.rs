//! Rules of the order of turns.

use serde_json::Value;

use super::contents::contents;
use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{list, text};

pub(super) const RULES: &[Rule] = rules![
    calls_follow_a_users_turn,
    responses_follow_calls,
    responses_are_as_many_as_calls,
    responses_name_the_calls,
    response_ids_are_the_calls,
];

/// The calls or responses in a content.
fn of<'a>(content: Option<&'a Value>, kind: &'a str) -> Vec<&'a Value> {
    let parts = content.map_or(&[][..], |content| list(&content["parts"]));
    parts.iter().filter_map(|part| part.get(kind)).collect()
}

fn calls(content: Option<&Value>) -> Vec<&Value> {
    of(content, "functionCall")
}

fn responses(content: Option<&Value>) -> Vec<&Value> {
    of(content, "functionResponse")
}

fn calls_follow_a_users_turn(incoming: &Incoming<'_>) -> Verdict {
    let all = list(&incoming.body["contents"]);
    for (i, content) in contents(incoming).filter(|(_, content)| !calls(Some(content)).is_empty()) {
        let before = i.checked_sub(1).map(|i| &all[i]);
        let is_right = content["role"] == "model" && before.is_some_and(|b| b["role"] != "model");
        demand(is_right, || {
            Refusal::new(
                "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
            )
        })?;
    }
    Ok(())
}

fn responses_follow_calls(incoming: &Incoming<'_>) -> Verdict {
    let all = list(&incoming.body["contents"]);
    let words =
        "Please ensure that function response turn comes immediately after a function call turn.";
    for (i, content) in contents(incoming) {
        let before = i.checked_sub(1).and_then(|i| all.get(i));
        let is_orphan = !responses(Some(content)).is_empty() && calls(before).is_empty();
        demand(!is_orphan, || Refusal::new(words))?;
    }
    Ok(())
}

fn responses_are_as_many_as_calls(incoming: &Incoming<'_>) -> Verdict {
    let all = list(&incoming.body["contents"]);
    for (i, content) in contents(incoming) {
        let n_calls = calls(Some(content)).len();
        let n_responses = responses(all.get(i + 1)).len();
        demand(n_calls == 0 || n_calls == n_responses, || {
            Refusal::new(
                "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
            )
        })?;
    }
    Ok(())
}

/// A response is matched by its name.
fn responses_name_the_calls(incoming: &Incoming<'_>) -> Verdict {
    let all = list(&incoming.body["contents"]);
    for (i, content) in contents(incoming).filter(|(_, content)| !calls(Some(content)).is_empty()) {
        let names = |list: Vec<&Value>| {
            let mut names: Vec<String> = list.iter().map(|v| text(&v["name"]).to_owned()).collect();
            names.sort_unstable();
            names
        };
        let is_same = names(calls(Some(content))) == names(responses(all.get(i + 1)));
        demand(is_same, || {
            Refusal::new(
                "Please ensure that function response turn comes immediately after a function call turn. And the function response names match the function call names.",
            )
        })?;
    }
    Ok(())
}

fn response_ids_are_the_calls(incoming: &Incoming<'_>) -> Verdict {
    let all = list(&incoming.body["contents"]);
    for (i, content) in contents(incoming) {
        let before = i.checked_sub(1).and_then(|i| all.get(i));
        let known: Vec<&str> =
            calls(before).iter().filter_map(|call| call["id"].as_str()).collect();
        for response in responses(Some(content)) {
            let id = response["id"].as_str().unwrap_or_default();
            demand(id.is_empty() || known.contains(&id), || {
                Refusal::new(format!(
                    "Function response id `{id}` does not match the id of any function call of the function call turn."
                ))
            })?;
        }
    }
    Ok(())
}
