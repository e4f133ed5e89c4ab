//! Rules of the input's items.

use serde_json::Value;

use super::{items, kind};
use crate::family::{Incoming, Rule, rules};
use crate::openai::{empty_array, marks, missing, name, string, too_long, wrong_type, wrong_value};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{list, text};

pub(super) const RULES: &[Rule] = rules![
    an_input_is_given,
    items_are_known,
    messages_have_roles_and_content,
    parts_have_the_right_direction,
    media_have_a_source,
    calls_have_a_form,
    outputs_have_a_form,
    call_ids_are_short,
    thoughts_have_a_summary,
    item_ids_have_a_prefix,
    item_ids_differ,
    a_compaction_trigger_is_last,
    configuration_updates_stand_apart,
    cache_breakpoints_have_a_place,
];

#[rustfmt::skip]
const KINDS: &[&str] = &[
    "message", "function_call", "function_call_output", "custom_tool_call",
    "custom_tool_call_output", "reasoning", "compaction", "compaction_trigger",
    "configuration_update", "additional_tools", "item_reference", "web_search_call",
    "file_search_call", "computer_call", "computer_call_output", "code_interpreter_call",
    "image_generation_call", "mcp_call", "mcp_list_tools", "mcp_approval_request",
    "mcp_approval_response", "local_shell_call", "local_shell_call_output", "shell_call",
    "shell_call_output", "apply_patch_call", "apply_patch_call_output", "tool_search_call",
    "tool_search_output", "program", "program_output",
];

fn each(incoming: &Incoming<'_>, mut rule: impl FnMut(String, &Value) -> Verdict) -> Verdict {
    let items = items(&incoming.body["input"]);
    items.iter().enumerate().try_for_each(|(i, item)| rule(format!("input[{i}]"), item))
}

fn an_input_is_given(incoming: &Incoming<'_>) -> Verdict {
    let body = incoming.body;
    match &body["input"] {
        // A stored prompt may bring its own, and what is continued has it.
        _ if incoming.is_partial() && is_empty(&body["input"]) => Ok(()),
        Value::Null => Err(missing("input")),
        Value::String(text) if text.is_empty() => Err(missing("input")),
        Value::String(_) => Ok(()),
        Value::Array(items) if items.is_empty() => Err(empty_array("input")),
        Value::Array(_) => Ok(()),
        other => Err(wrong_type("input", "one of a string or array of objects", other)),
    }
}

fn is_empty(input: &Value) -> bool {
    input.is_null() || *input == "" || input.as_array().is_some_and(Vec::is_empty)
}

fn items_are_known(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, item| {
        demand(item.is_object(), || wrong_type(&at, "an object", item))?;
        let kind = kind(item);
        demand(!kind.is_empty(), || missing(&format!("{at}.type")))?;
        demand(KINDS.contains(&kind), || wrong_value(&at, kind, &KINDS[..11]))
    })
}

fn messages_have_roles_and_content(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, item| {
        if kind(item) != "message" {
            return Ok(());
        }
        let known = ["assistant", "system", "developer", "user"];
        let role = text(&item["role"]);
        demand(!role.is_empty(), || missing(&format!("{at}.role")))?;
        demand(known.contains(&role), || wrong_value(&format!("{at}.role"), role, &known))?;
        let at = format!("{at}.content");
        match &item["content"] {
            Value::Null => Err(missing(&at)),
            Value::String(_) | Value::Array(_) => Ok(()),
            other => Err(wrong_type(&at, "one of a string or array of objects", other)),
        }
    })
}

/// What the user's side says is `input_…`, what the assistant says is `output_text` or `refusal`.
fn parts_have_the_right_direction(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, item| {
        let (parts, field, known): (_, _, &[&str]) = match kind(item) {
            "message" if item["role"] == "assistant" => {
                (&item["content"], "content", &["output_text", "refusal"])
            }
            "message" => (
                &item["content"],
                "content",
                &["input_text", "input_image", "input_file", "input_audio"],
            ),
            "function_call_output" | "custom_tool_call_output" => {
                (&item["output"], "output", &["input_text", "input_image", "input_file"])
            }
            _ => return Ok(()),
        };
        for (i, part) in list(parts).iter().enumerate() {
            let at = format!("{at}.{field}[{i}]");
            demand(part.is_object(), || wrong_type(&at, "an object", part))?;
            let kind = text(&part["type"]);
            demand(known.contains(&kind), || wrong_value(&at, kind, known))?;
            if let "input_text" | "output_text" = kind {
                demand(part["text"].is_string(), || missing(&format!("{at}.text")))?;
            }
        }
        Ok(())
    })
}

fn media_have_a_source(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, item| {
        for field in ["content", "output"] {
            for (i, part) in list(&item[field]).iter().enumerate() {
                let at = format!("{at}.{field}[{i}]");
                let sources: &[&str] = match text(&part["type"]) {
                    "input_image" => &["image_url", "file_id"],
                    "input_file" => &["file_data", "file_id", "file_url"],
                    _ => continue,
                };
                let n = sources.iter().filter(|source| !text(&part[**source]).is_empty()).count();
                demand(n > 0, || missing(&format!("{at}.{}", sources[0])))?;
                for (field, inline) in [("image_url", "data:image/"), ("file_url", "data:")] {
                    let Some(url) = part[field].as_str() else { continue };
                    let begins = ["https://", "http://", inline];
                    demand(begins.iter().any(|begin| url.starts_with(begin)), || {
                        let words = format!(
                            "Invalid '{at}.{field}'. Expected a valid URL, but got a value with an invalid format."
                        );
                        Refusal::new(words).at(format!("{at}.{field}")).code("invalid_value")
                    })?;
                }
            }
        }
        Ok(())
    })
}

fn calls_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, item| {
        let arguments = match kind(item) {
            "function_call" => "arguments",
            "custom_tool_call" => "input",
            _ => return Ok(()),
        };
        string(&format!("{at}.call_id"), &item["call_id"], usize::MAX)?;
        name(&format!("{at}.name"), &item["name"], 128)?;
        match &item[arguments] {
            Value::String(_) => Ok(()),
            Value::Null => Err(missing(&format!("{at}.{arguments}"))),
            other => Err(wrong_type(&format!("{at}.{arguments}"), "a string", other)),
        }
    })
}

fn outputs_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, item| {
        if !matches!(kind(item), "function_call_output" | "custom_tool_call_output") {
            return Ok(());
        }
        string(&format!("{at}.call_id"), &item["call_id"], usize::MAX)?;
        match &item["output"] {
            Value::Array(parts) if parts.is_empty() => Err(empty_array(&format!("{at}.output"))),
            Value::String(_) | Value::Array(_) => Ok(()),
            Value::Null => Err(missing(&format!("{at}.output"))),
            other => Err(wrong_type(
                &format!("{at}.output"),
                "one of a string or array of objects",
                other,
            )),
        }
    })
}

fn call_ids_are_short(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, item| {
        let length = text(&item["call_id"]).chars().count();
        demand(length <= 64, || too_long(&format!("{at}.call_id"), 64, length))
    })
}

fn thoughts_have_a_summary(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, item| {
        let lacks = kind(item) == "reasoning" && !item["summary"].is_array();
        demand(!lacks, || missing(&format!("{at}.summary")))
    })
}

fn item_ids_have_a_prefix(incoming: &Incoming<'_>) -> Verdict {
    each(incoming, |at, item| {
        let prefix = match kind(item) {
            "message" => "msg",
            "function_call" => "fc",
            "custom_tool_call" => "ctc",
            "reasoning" => "rs",
            _ => return Ok(()),
        };
        let Some(id) = item["id"].as_str() else { return Ok(()) };
        let length = id.chars().count();
        demand(length <= 64, || too_long(&format!("{at}.id"), 64, length))?;
        demand(id.starts_with(prefix), || {
            let words =
                format!("Invalid '{at}.id': '{id}'. Expected an ID that begins with '{prefix}'.");
            Refusal::new(words).at(format!("{at}.id")).code("invalid_id_prefix")
        })
    })
}

fn item_ids_differ(incoming: &Incoming<'_>) -> Verdict {
    let mut seen = std::collections::BTreeSet::new();
    each(incoming, |_, item| {
        let Some(id) = item["id"].as_str().filter(|_| kind(item) != "item_reference") else {
            return Ok(());
        };
        demand(seen.insert(id.to_owned()), || {
            let words = format!(
                "Duplicate item found with id {id}. Remove duplicate items from your input and try again."
            );
            Refusal::new(words).at("input")
        })
    })
}

fn configuration_updates_stand_apart(incoming: &Incoming<'_>) -> Verdict {
    let items = items(&incoming.body["input"]);
    let is_update = |item: &Value| kind(item) == "configuration_update";
    let side_by_side = items.windows(2).any(|two| two.iter().all(is_update));
    demand(!side_by_side, || {
        Refusal::new("Two 'configuration_update' items may not be adjacent.").at("input")
    })?;
    let is_automatic = incoming.body["truncation"] == "auto";
    demand(!is_automatic || !items.iter().any(is_update), || {
        Refusal::new("'configuration_update' items are not supported with automatic truncation.")
            .at("truncation")
    })
}

fn cache_breakpoints_have_a_place(incoming: &Incoming<'_>) -> Verdict {
    let lives = ["30m", "12h"];
    each(incoming, |at, item| {
        for field in ["content", "output"] {
            for (i, part) in list(&item[field]).iter().enumerate() {
                let (at, role) = (format!("{at}.{field}[{i}]"), text(&item["role"]));
                marks::breakpoint(&at, role, &part["prompt_cache_breakpoint"], &lives)?;
            }
        }
        let is_odd =
            kind(item) == "additional_tools" && item.get("prompt_cache_breakpoint").is_some();
        demand(!is_odd, || {
            let at = format!("{at}.prompt_cache_breakpoint");
            wrong_type(&at, "no breakpoint on tools", &item["prompt_cache_breakpoint"])
        })
    })?;
    marks::options(incoming.body, &lives)
}

fn a_compaction_trigger_is_last(incoming: &Incoming<'_>) -> Verdict {
    let items = items(&incoming.body["input"]);
    let at = items.iter().position(|item| kind(item) == "compaction_trigger");
    demand(at.is_none_or(|at| at + 1 == items.len()), || {
        Refusal::new("'compaction_trigger' must be the final item of 'input'.").at("input")
    })
}
