//! Rules of the order of turns.

use serde_json::Value;

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

/// Contents of one role in a row, which the API takes as one.
struct Turn<'a>(&'a [Value]);

fn turns<'a>(incoming: &Incoming<'a>) -> Vec<Turn<'a>> {
    let is_model = |content: &Value| content["role"] == "model";
    let contents = list(&incoming.body["contents"]);
    contents.chunk_by(|a, b| is_model(a) == is_model(b)).map(Turn).collect()
}

impl<'a> Turn<'a> {
    fn of(&self, kind: &str) -> Vec<&'a Value> {
        let parts = self.0.iter().flat_map(|content| list(&content["parts"]));
        parts.filter_map(|part| part.get(kind)).collect()
    }

    fn calls(&self) -> Vec<&'a Value> {
        self.of("functionCall")
    }

    fn responses(&self) -> Vec<&'a Value> {
        self.of("functionResponse")
    }
}

/// Each turn with calls, and the responses of the turn after it.
fn called<'a>(incoming: &Incoming<'a>) -> Vec<(Vec<&'a Value>, Vec<&'a Value>)> {
    let turns = turns(incoming);
    let after = |i: usize| turns.get(i + 1).map(Turn::responses).unwrap_or_default();
    let pairs = turns.iter().enumerate().map(|(i, turn)| (turn.calls(), after(i)));
    pairs.filter(|(calls, _)| !calls.is_empty()).collect()
}

fn calls_follow_a_users_turn(incoming: &Incoming<'_>) -> Verdict {
    let is_first = turns(incoming).first().is_some_and(|turn| !turn.calls().is_empty());
    demand(!is_first, || {
        Refusal::new(
            "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        )
    })
}

fn responses_follow_calls(incoming: &Incoming<'_>) -> Verdict {
    let turns = turns(incoming);
    for (i, _) in turns.iter().enumerate().filter(|(_, turn)| !turn.responses().is_empty()) {
        let follows = i.checked_sub(1).is_some_and(|i| !turns[i].calls().is_empty());
        demand(follows, || {
            Refusal::new(
                "Please ensure that function response turn comes immediately after a function call turn.",
            )
        })?;
    }
    Ok(())
}

fn responses_are_as_many_as_calls(incoming: &Incoming<'_>) -> Verdict {
    called(incoming).iter().try_for_each(|(calls, responses)| {
        demand(calls.len() == responses.len(), || {
            Refusal::new(
                "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
            )
        })
    })
}

/// A response is matched by its name.
fn responses_name_the_calls(incoming: &Incoming<'_>) -> Verdict {
    let names = |list: &[&Value]| {
        let mut names: Vec<String> = list.iter().map(|v| text(&v["name"]).to_owned()).collect();
        names.sort_unstable();
        names
    };
    called(incoming).iter().try_for_each(|(calls, responses)| {
        demand(names(calls) == names(responses), || {
            Refusal::new(
                "Please ensure that function response turn comes immediately after a function call turn. And the function response names match the function call names.",
            )
        })
    })
}

fn response_ids_are_the_calls(incoming: &Incoming<'_>) -> Verdict {
    for (calls, responses) in called(incoming) {
        for id in responses.iter().map(|response| &response["id"]).filter(|id| !id.is_null()) {
            demand(calls.iter().any(|call| call["id"] == *id && id.is_string()), || {
                Refusal::new(format!(
                    "Function response id {id} does not match the id of any function call of the function call turn."
                ))
            })?;
        }
    }
    Ok(())
}
