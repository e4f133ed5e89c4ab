//! Rules of messages: what there must be, and in which order.

use serde_json::Value;

use crate::claude::claude;
use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{is_blank, list, text};

pub(super) const RULES: &[Rule] = rules![
    messages_are_given,
    roles_are_known,
    content_has_a_form,
    the_first_message_is_the_users,
    messages_are_not_empty,
    system_messages_have_their_place,
    newer_models_take_no_prefill,
    a_prefill_ends_in_no_space,
];

fn messages_are_given(incoming: &Incoming<'_>) -> Verdict {
    match &incoming.body["messages"] {
        Value::Null => Err(Refusal::new("messages: Field required")),
        Value::Array(messages) if messages.is_empty() => {
            Err(Refusal::new("messages: at least one message is required"))
        }
        Value::Array(messages) => {
            let odd = messages.iter().position(|message| !message.is_object());
            odd.map_or(Ok(()), |i| {
                Err(Refusal::new(format!("messages.{i}: Input should be an object")))
            })
        }
        _ => Err(Refusal::new("messages: Input should be a valid list")),
    }
}

fn roles_are_known(incoming: &Incoming<'_>) -> Verdict {
    let takes_system = claude(incoming.model).is_some_and(|claude| claude.takes_system_in_place());
    for (i, message) in list(&incoming.body["messages"]).iter().enumerate() {
        let role = &message["role"];
        demand(!role.is_null(), || Refusal::new(format!("messages.{i}.role: Field required")))?;
        if role == "system" {
            demand(takes_system, || {
                let words = "Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role.";
                Refusal::new(format!("messages: {words}"))
            })?;
        } else {
            demand(role == "user" || role == "assistant", || {
                let words = "Input should be 'user' or 'assistant'";
                Refusal::new(format!("messages.{i}.role: {words}"))
            })?;
        }
    }
    Ok(())
}

fn content_has_a_form(incoming: &Incoming<'_>) -> Verdict {
    for (i, message) in list(&incoming.body["messages"]).iter().enumerate() {
        match &message["content"] {
            Value::Null => {
                return Err(Refusal::new(format!("messages.{i}.content: Field required")));
            }
            Value::String(_) | Value::Array(_) => {}
            _ => {
                let words = "Input should be a valid list";
                return Err(Refusal::new(format!("messages.{i}.content: {words}")));
            }
        }
    }
    Ok(())
}

fn the_first_message_is_the_users(incoming: &Incoming<'_>) -> Verdict {
    demand(incoming.body["messages"][0]["role"] == "user", || {
        Refusal::new("messages: first message must use the \"user\" role")
    })
}

fn messages_are_not_empty(incoming: &Incoming<'_>) -> Verdict {
    let messages = list(&incoming.body["messages"]);
    for (i, message) in messages.iter().enumerate() {
        let is_last = i + 1 == messages.len() && message["role"] == "assistant";
        let is_empty = message["content"] == "" || message["content"] == Value::Array(Vec::new());
        demand(!is_empty || is_last, || {
            let words = "all messages must have non-empty content except for the optional final assistant message";
            Refusal::new(format!("messages.{i}: {words}"))
        })?;
        let is_blank = message["content"].as_str().is_some_and(is_blank);
        demand(!is_blank || is_last || is_empty, || {
            Refusal::new("messages: text content blocks must contain non-whitespace text")
        })?;
    }
    Ok(())
}

/// A system message follows a user's turn, and is last or followed by an assistant's.
fn system_messages_have_their_place(incoming: &Incoming<'_>) -> Verdict {
    let messages = list(&incoming.body["messages"]);
    let role = |i: usize| messages.get(i).map_or("", |message| text(&message["role"]));
    for i in (0..messages.len()).filter(|i| role(*i) == "system") {
        let before = (0..i).rev().map(role).find(|role| *role != "system").unwrap_or_default();
        let after = (i + 1..messages.len()).map(role).find(|role| *role != "system");
        let server_result = list(&messages[i.saturating_sub(1)]["content"])
            .last()
            .is_some_and(|block| text(&block["type"]).ends_with("_tool_result"));
        demand(before == "user" || server_result, || {
            let words = "a `system` message must follow a `user` message";
            Refusal::new(format!("messages.{i}: {words}"))
        })?;
        demand(after.is_none_or(|role| role == "assistant"), || {
            let words = "a `system` message must be last or be followed by an `assistant` message";
            Refusal::new(format!("messages.{i}: {words}"))
        })?;
    }
    Ok(())
}

fn last<'a>(incoming: &Incoming<'a>) -> Option<&'a Value> {
    list(&incoming.body["messages"]).last().filter(|message| message["role"] == "assistant")
}

fn newer_models_take_no_prefill(incoming: &Incoming<'_>) -> Verdict {
    let takes = claude(incoming.model).is_none_or(|claude| claude.takes_prefill());
    demand(last(incoming).is_none() || takes, || {
        Refusal::new(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        )
    })
}

fn a_prefill_ends_in_no_space(incoming: &Incoming<'_>) -> Verdict {
    let Some(last) = last(incoming) else { return Ok(()) };
    let end = match &last["content"] {
        Value::String(text) => text.as_str(),
        content => match list(content).last() {
            Some(block) if block["type"] == "text" => text(&block["text"]),
            _ => return Ok(()),
        },
    };
    demand(end == end.trim_end(), || {
        Refusal::new("messages: final assistant content cannot end with trailing whitespace")
    })
}
