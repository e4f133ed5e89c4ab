//! Rules of messages: what there must be, and in which order.

use serde_json::Value;

use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{list, text};

pub(super) const RULES: &[Rule] = rules![
    messages_are_given,
    messages_are_not_empty,
    system_has_a_form,
    the_first_message_is_the_users,
    turns_alternate,
    the_last_message_is_not_the_assistants,
];

fn messages_are_given(incoming: &Incoming<'_>) -> Verdict {
    let messages = &incoming.body["messages"];
    demand(!list(messages).is_empty(), || {
        Refusal::new(
            "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
        )
    })?;
    for (i, message) in list(messages).iter().enumerate() {
        let role = text(&message["role"]);
        demand(["user", "assistant", "system"].contains(&role), || {
            let at = format!("messages.{}.member.role", i + 1);
            Refusal::new(format!(
                "1 validation error detected: Value '{role}' at '{at}' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant, system]"
            ))
        })?;
        demand(message["content"].is_array() || message["content"].is_null(), || {
            Refusal::new(format!(
                "Unable to parse the request body: messages.{i}.content is not a list"
            ))
        })?;
    }
    Ok(())
}

fn messages_are_not_empty(incoming: &Incoming<'_>) -> Verdict {
    for (i, message) in list(&incoming.body["messages"]).iter().enumerate() {
        demand(!list(&message["content"]).is_empty(), || {
            Refusal::new(format!(
                "The content field in the Message object at messages.{i} is empty. Add a ContentBlock object to the content field and try again."
            ))
        })?;
    }
    Ok(())
}

fn system_has_a_form(incoming: &Incoming<'_>) -> Verdict {
    let system = &incoming.body["system"];
    demand(system.is_null() || system.is_array(), || {
        Refusal::new("Unable to parse the request body: system is not a list")
    })?;
    for (i, block) in list(system).iter().enumerate() {
        let known = ["text", "guardContent", "cachePoint"];
        let is_known = known.iter().filter(|kind| !block[**kind].is_null()).count() == 1;
        demand(is_known, || {
            Refusal::new(format!(
                "The SystemContentBlock object at system.{i} must set one of the following keys: text, guardContent, cachePoint."
            ))
        })?;
    }
    Ok(())
}

fn roles<'a>(incoming: &Incoming<'a>) -> Vec<&'a str> {
    let messages = list(&incoming.body["messages"]).iter();
    messages
        .map(|message: &Value| text(&message["role"]))
        .filter(|role| *role != "system")
        .collect()
}

/// Claude and Qwen take a conversation that the assistant begins.
fn the_first_message_is_the_users(incoming: &Incoming<'_>) -> Verdict {
    let is_tolerant = ["claude", "qwen"].iter().any(|name| incoming.model.contains(name));
    let first = text(&incoming.body["messages"][0]["role"]);
    demand(first == "user" || is_tolerant && first == "assistant", || {
        Refusal::new(
            "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
        )
    })
}

fn turns_alternate(incoming: &Incoming<'_>) -> Verdict {
    let roles = roles(incoming);
    demand(roles.windows(2).all(|two| two[0] != two[1]), || {
        Refusal::new(
            "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
        )
    })
}

/// Claude before 4.6 goes on with what it is said to have begun; newer models and others do not.
fn the_last_message_is_not_the_assistants(incoming: &Incoming<'_>) -> Verdict {
    let claude = crate::claude::claude(incoming.model);
    let refuses = claude.is_some_and(|claude| !claude.takes_prefill());
    demand(!refuses || roles(incoming).last() != Some(&"assistant"), || {
        Refusal::new(
            "The model returned the following errors: This model does not support assistant message prefill. The conversation must end with a user message.",
        )
    })
}
