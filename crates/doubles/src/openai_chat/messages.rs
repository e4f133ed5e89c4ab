//! Rules of messages and their parts.

use serde_json::Value;

use crate::family::{Incoming, Rule, rules};
use crate::openai::{empty_array, marks, missing, name, string, wrong_type, wrong_value};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{list, text};

pub(super) const RULES: &[Rule] = rules![
    messages_are_given,
    roles_are_known,
    content_has_a_form,
    parts_are_known,
    pictures_are_in_user_messages,
    parts_have_what_they_need,
    a_refusal_stands_alone,
    cache_breakpoints_have_a_place,
    calls_have_a_form,
    call_ids_are_short,
    results_name_a_call,
    functions_have_names,
];

const ROLES: [&str; 6] = ["system", "assistant", "user", "function", "tool", "developer"];

/// The longest id of a call.
const LONGEST_ID: usize = 40;

fn each(incoming: &Incoming<'_>, mut rule: impl FnMut(String, &Value) -> Verdict) -> Verdict {
    let mut messages = list(&incoming.body["messages"]).iter().enumerate();
    messages.try_for_each(|(i, message)| rule(format!("messages[{i}]"), message))
}

fn each_part(incoming: &Incoming<'_>, rule: impl Fn(String, &str, &Value) -> Verdict) -> Verdict {
    each(incoming, |at, message| {
        let mut parts = list(&message["content"]).iter().enumerate();
        parts.try_for_each(|(i, part)| {
            rule(format!("{at}.content[{i}]"), text(&message["role"]), part)
        })
    })
}

fn messages_are_given(incoming: &Incoming<'_>) -> Verdict {
    match &incoming.body["messages"] {
        Value::Null => Err(missing("messages")),
        Value::Array(messages) if messages.is_empty() => Err(empty_array("messages")),
        Value::Array(_) => each(incoming, |at, message| {
            demand(message.is_object(), || wrong_type(&at, "an object", message))
        }),
        other => Err(wrong_type("messages", "an array of objects", other)),
    }
}

fn roles_are_known(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, message| match &message["role"] {
        Value::Null => Err(missing(&format!("{at}.role"))),
        role if ROLES.contains(&text(role)) => Ok(()),
        Value::String(role) => Err(wrong_value(&format!("{at}.role"), role, &ROLES)),
        other => Err(wrong_type(&format!("{at}.role"), "a string", other)),
    })
}

/// Content is a string or parts; it may be missing only beside calls.
fn content_has_a_form(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, message| {
        let at = format!("{at}.content");
        let calls = [
            &message["tool_calls"],
            &message["function_call"],
            &message["refusal"],
            &message["audio"],
        ];
        let may_be_null = message["role"] == "function"
            || message["role"] == "assistant" && calls.iter().any(|calls| !calls.is_null());
        match &message["content"] {
            Value::String(_) => Ok(()),
            Value::Null if may_be_null => Ok(()),
            Value::Null => {
                let message = "Invalid value for 'content': expected a string, got null.";
                Err(Refusal::new(message).at(at))
            }
            Value::Array(parts) if parts.is_empty() => Err(empty_array(&at)),
            Value::Array(_) if message["role"] != "function" => Ok(()),
            other => Err(wrong_type(&at, "one of a string or array of objects", other)),
        }
    })
}

/// Each role has parts of its own.
fn parts_are_known(incoming: &Incoming<'_>) -> Verdict {
    each_part(incoming, |at, role, part| {
        let known: &[&str] = match role {
            // A picture has a rule of its own.
            "user" | "tool" => &["text", "image_url", "input_audio", "file"],
            "assistant" => &["text", "refusal", "image_url"],
            _ => &["text"],
        };
        demand(part.is_object(), || wrong_type(&at, "an object", part))?;
        let at = format!("{at}.type");
        match &part["type"] {
            Value::Null => Err(missing(&at)),
            kind if known.contains(&text(kind)) => {
                let is_late = role == "tool" && ["input_audio", "file"].contains(&text(kind));
                demand(!is_late, || wrong_value(&at, text(kind), &["text"]))
            }
            kind => Err(wrong_value(&at, text(kind), known)),
        }
    })
}

fn pictures_are_in_user_messages(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, message| {
        let role = text(&message["role"]);
        let has = list(&message["content"]).iter().any(|part| part["type"] == "image_url");
        demand(role == "user" || !has, || {
            let rule = "Image URLs are only allowed for messages with role 'user'";
            let words = format!(
                "Invalid '{at}'. {rule}, but this message with role '{role}' contains an image URL."
            );
            Refusal::new(words).at(&at).code("invalid_value")
        })
    })
}

fn parts_have_what_they_need(incoming: &Incoming<'_>) -> Verdict {
    each_part(incoming, |at, _, part| match text(&part["type"]) {
        kind @ ("text" | "refusal") => {
            let at = format!("{at}.{kind}");
            match &part[kind] {
                Value::String(_) => Ok(()),
                Value::Null => Err(missing(&at)),
                other => Err(wrong_type(&at, "a string", other)),
            }
        }
        "image_url" => {
            let url = &part["image_url"]["url"];
            string(&format!("{at}.image_url.url"), url, usize::MAX)?;
            let is_known =
                ["https://", "http://", "data:image/"].iter().any(|p| text(url).starts_with(p));
            demand(is_known, || {
                let words = format!(
                    "Invalid '{at}.image_url.url'. Expected a valid URL, but got a value with an invalid format."
                );
                Refusal::new(words).at(format!("{at}.image_url.url")).code("invalid_value")
            })
        }
        "input_audio" => {
            string(&format!("{at}.input_audio.data"), &part["input_audio"]["data"], usize::MAX)?;
            let format = text(&part["input_audio"]["format"]);
            let known = ["wav", "mp3"];
            demand(known.contains(&format), || {
                wrong_value(&format!("{at}.input_audio.format"), format, &known)
            })
        }
        "file" => {
            let file = &part["file"];
            let has = ["file_data", "file_id"].iter().any(|field| file[field].is_string());
            demand(has, || missing(&format!("{at}.file.file_id")))
        }
        _ => Ok(()),
    })
}

fn a_refusal_stands_alone(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, message| {
        let parts = list(&message["content"]);
        let has = parts.iter().any(|part| part["type"] == "refusal");
        demand(!has || parts.len() == 1, || {
            let words = format!("Invalid '{at}.content': a 'refusal' part must be the only part.");
            Refusal::new(words).at(format!("{at}.content")).code("invalid_value")
        })
    })
}

/// A breakpoint of the cache lives half an hour, and none stands on what the assistant said.
fn cache_breakpoints_have_a_place(incoming: &Incoming<'_>) -> Verdict {
    each_part(incoming, |at, role, part| {
        marks::breakpoint(&at, role, &part["prompt_cache_breakpoint"], &["30m"])
    })?;
    marks::options(incoming.body, &["30m"])
}

/// The results of calls in their old form name the function.
fn functions_have_names(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, message| match message["role"] == "function" {
        true => string(&format!("{at}.name"), &message["name"], usize::MAX),
        false => Ok(()),
    })
}

fn calls_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, message| {
        if message["role"] != "assistant" {
            return Ok(());
        }
        let at = format!("{at}.tool_calls");
        let calls = &message["tool_calls"];
        match calls {
            Value::Null => return Ok(()),
            Value::Array(calls) if calls.is_empty() => return Err(empty_array(&at)),
            Value::Array(_) => {}
            other => return Err(wrong_type(&at, "an array of objects", other)),
        }
        for (i, call) in list(calls).iter().enumerate() {
            let at = format!("{at}[{i}]");
            string(&format!("{at}.id"), &call["id"], usize::MAX)?;
            match &call["type"] {
                Value::Null => return Err(missing(&format!("{at}.type"))),
                kind if kind == "function" => {
                    name(&format!("{at}.function.name"), &call["function"]["name"], 64)?;
                    text_at(&format!("{at}.function.arguments"), &call["function"]["arguments"])?;
                }
                kind if kind == "custom" => {
                    name(&format!("{at}.custom.name"), &call["custom"]["name"], 64)?;
                    text_at(&format!("{at}.custom.input"), &call["custom"]["input"])?;
                }
                kind => {
                    let known = ["function", "custom"];
                    return Err(wrong_value(&format!("{at}.type"), text(kind), &known));
                }
            }
        }
        Ok(())
    })
}

fn text_at(at: &str, value: &Value) -> Verdict {
    match value {
        Value::String(_) => Ok(()),
        Value::Null => Err(missing(at)),
        other => Err(wrong_type(at, "a string", other)),
    }
}

fn call_ids_are_short(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, message| {
        for (i, call) in list(&message["tool_calls"]).iter().enumerate() {
            string(&format!("{at}.tool_calls[{i}].id"), &call["id"], LONGEST_ID)?;
        }
        match &message["tool_call_id"] {
            Value::Null => Ok(()),
            id => string(&format!("{at}.tool_call_id"), id, LONGEST_ID),
        }
    })
}

fn results_name_a_call(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, message| match message["role"] == "tool" {
        true => string(&format!("{at}.tool_call_id"), &message["tool_call_id"], usize::MAX),
        false => Ok(()),
    })
}
