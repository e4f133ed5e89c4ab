//! The settings.

use super::facts::Facts;
use super::{Found, rules};
use crate::Alphabet;
use crate::lint::Faults;
use crate::openai_chat::{ONLY_DEFAULT, SETTINGS};
use crate::strict_schema;
use crate::tree::{Map, Value};

const MOST_STOPS: usize = 4;
const MOST_CHOICES: u64 = 128;
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// What is wrong with a setting. Null is no setting.
pub(in crate::openai_chat) fn setting_fault(
    name: &str,
    value: &Value,
    facts: &Facts,
) -> Option<Found> {
    if let Some(found) = type_fault(name, value) {
        return Some(found);
    }
    let native = facts.quirks.native;
    let found = |rule, detail: &str| Some(Found::new(rule, "", detail));
    match name {
        _ if value.is_null() => None,
        "tool_choice" => tool_choice_fault(value, facts),
        "parallel_tool_calls" if facts.tools.is_empty() => {
            found(&rules::PARALLEL, "there are no tools")
        }
        "response_format" => format_fault(value),
        "stop" if native => stop_fault(value, facts),
        "n" if native && !value.as_u64().is_some_and(|n| (1..=MOST_CHOICES).contains(&n)) => {
            found(&rules::CHOICES, &value.to_string())
        }
        "max_tokens" | "max_completion_tokens" if native && value.as_f64() == Some(0.0) => {
            found(&rules::MAX_TOKENS, "it is 0")
        }
        "max_tokens" if native && facts.model.reasons() => {
            found(&rules::MAX_TOKENS, "this model takes `max_completion_tokens`")
        }
        "temperature" if !is_within(value, 2.0) => found(&rules::RANGE, &value.to_string()),
        "top_p" if !is_within(value, 1.0) => found(&rules::RANGE, &value.to_string()),
        "temperature" | "top_p" if native && !facts.samples && value.as_f64() != Some(1.0) => {
            found(&rules::SAMPLING, ONLY_DEFAULT)
        }
        "presence_penalty" | "frequency_penalty"
            if native && facts.model.reasons() && value.as_f64() != Some(0.0) =>
        {
            found(&rules::SAMPLING, ONLY_DEFAULT)
        }
        "reasoning_effort" if native => effort_fault(value, facts),
        "stream_options" if !facts.is_stream => found(&rules::STREAM, "there is no stream"),
        "prompt_cache_options" if native => cache_fault(value),
        _ => None,
    }
}

fn type_fault(name: &str, value: &Value) -> Option<Found> {
    let (_, wanted) = SETTINGS.iter().find(|(own, _)| *own == name)?;
    let wrong = wanted.fault(value)?;
    Some(Found::new(&rules::SETTING_TYPE, wrong.path(), wrong.detail))
}

fn is_within(value: &Value, most: f64) -> bool {
    value.as_f64().is_some_and(|number| (0.0..=most).contains(&number))
}

/// What only several settings, or settings and messages, show together.
pub(super) fn check_together(fields: &Map, facts: &Facts, faults: &mut Faults) {
    if facts.refuses_tools() {
        faults.add(&rules::EFFORT_TOOLS, "/tools", "this model has none on this API");
    } else if facts.needs_no_effort() && fields.get("reasoning_effort").is_none_or(Value::is_null) {
        faults.add(&rules::EFFORT_TOOLS, "", "`reasoning_effort` must be none");
    }
    let limits = ["max_tokens", "max_completion_tokens"];
    let is_given = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    if facts.quirks.native && !facts.model.reasons() && limits.into_iter().all(is_given) {
        faults.add(&rules::MAX_TOKENS, "/max_tokens", "`max_completion_tokens` is there as well");
    }
    let format = fields.get("response_format").and_then(|format| format["type"].as_str());
    let says_json = || fields.get("messages").is_some_and(says_json);
    if facts.quirks.native && format == Some("json_object") && !says_json() {
        faults.add(&rules::JSON_WORD, "/messages", "");
    }
}

fn says_json(value: &Value) -> bool {
    match value {
        Value::String(text) => text.to_ascii_lowercase().contains("json"),
        Value::Array(list) => list.iter().any(says_json),
        Value::Object(fields) => fields.values().any(says_json),
        _ => false,
    }
}

fn tool_choice_fault(value: &Value, facts: &Facts) -> Option<Found> {
    let found = |detail: &str| Some(Found::new(&rules::TOOL_CHOICE, "", detail));
    let chosen = match value {
        Value::String(word) => match &**word {
            "auto" | "none" | "required" => None,
            "any" if facts.quirks.prefix_last => None,
            _ => return found(&format!("{word:?}")),
        },
        Value::Object(_) => match value["type"].as_str() {
            Some(kind @ ("function" | "custom")) => {
                let Some(name) = value[kind]["name"].as_str() else {
                    return found("it names no tool");
                };
                Some((kind, name))
            }
            Some("allowed_tools") => None,
            _ => return found("it has no type that is known"),
        },
        _ => return found("it is neither a word nor an object"),
    };
    if facts.tools.is_empty() {
        return found("there are no tools");
    }
    if let Some((kind, name)) = chosen
        && !facts.tools.iter().any(|tool| tool.0 == kind && tool.1 == name)
    {
        return found(&format!("there is no tool {name:?}"));
    }
    let forces = chosen.is_some() || value == "required" || value == "any";
    if forces && !facts.quirks.forced_tools {
        return Some(Found::new(&rules::FORCED, "", "the vendor cannot force a tool"));
    }
    None
}

fn format_fault(value: &Value) -> Option<Found> {
    let found = |path: &str, detail: &str| Some(Found::new(&rules::FORMAT, path, detail));
    match value["type"].as_str() {
        Some("json_schema") => {}
        Some("text" | "json_object") => return None,
        Some(kind) => return found("/type", &format!("{kind:?}")),
        None => return found("", "it has no type"),
    }
    let schema = &value["json_schema"];
    match schema["name"].as_str() {
        None => return found("/json_schema", "it has no name"),
        Some(name) if !Alphabet::NAME.takes(name) => {
            return found("/json_schema/name", &format!("{name:?}"));
        }
        Some(_) => {}
    }
    if schema["strict"] == true
        && let Some(fault) = strict_schema::fault(&schema["schema"])
    {
        return Some(Found::strict("/json_schema/schema", fault));
    }
    None
}

fn stop_fault(value: &Value, facts: &Facts) -> Option<Found> {
    let found = |detail: &str| Some(Found::new(&rules::STOP, "", detail));
    match value {
        Value::Array(list) if list.is_empty() => None,
        _ if facts.model.never_stops() => found("this model takes none"),
        Value::String(_) => None,
        Value::Array(list) if list.len() > MOST_STOPS => found(&format!("{} texts", list.len())),
        _ => None,
    }
}

fn effort_fault(value: &Value, facts: &Facts) -> Option<Found> {
    let model = facts.model;
    let found = |detail: &str| Some(Found::new(&rules::EFFORT, "", detail));
    match value.as_str() {
        Some(_) if model.never_reasons() => found("the model does not think"),
        Some("none") if model.always_reasons() && !facts.needs_no_effort() => {
            found("the model always thinks")
        }
        Some(effort) if EFFORTS.contains(&effort) => {
            let fits =
                effort == "none" || !facts.model.tools_without_effort() || !facts.has_functions();
            let detail = "there are function tools";
            (!fits).then(|| Found::new(&rules::EFFORT_TOOLS, "", detail))
        }
        _ => Some(Found::new(&rules::EFFORT, "", value.to_string())),
    }
}

fn cache_fault(value: &Value) -> Option<Found> {
    if !value.is_object() && !value.is_null() {
        return Some(Found::new(&rules::CACHE, "", "must be an object"));
    }
    let mode = &value["mode"];
    if !mode.is_null() && mode != "implicit" && mode != "explicit" {
        return Some(Found::new(&rules::CACHE, "/mode", mode.to_string()));
    }
    let ttl = &value["ttl"];
    let fits = ttl.is_null() || ttl == "30m";
    (!fits).then(|| Found::new(&rules::CACHE, "/ttl", ttl.to_string()))
}
