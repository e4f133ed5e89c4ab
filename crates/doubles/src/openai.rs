//! What OpenAI's two APIs share: the words of refusals, and schemas.

pub(crate) mod marks;
pub(crate) mod schema;
pub(crate) mod settings;

use serde_json::{Value, json};

use crate::Usage;
use crate::refusal::{Refusal, Verdict};
use crate::value::kind;

pub(crate) fn missing(param: &str) -> Refusal {
    let message = format!("Missing required parameter: '{param}'.");
    Refusal::new(message).at(param).code("missing_required_parameter")
}

pub(crate) fn wrong_type(param: &str, expected: &str, got: &Value) -> Refusal {
    let got = kind(got);
    let message =
        format!("Invalid type for '{param}': expected {expected}, but got {got} instead.");
    Refusal::new(message).at(param).code("invalid_type")
}

pub(crate) fn wrong_value(param: &str, got: &str, known: &[&str]) -> Refusal {
    let known: Vec<String> = known.iter().map(|known| format!("'{known}'")).collect();
    let known = match known.as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{}, and {last}", before.join(", ")),
        all => all.join(", "),
    };
    let message = format!("Invalid value: '{got}'. Supported values are: {known}.");
    Refusal::new(message).at(param).code("invalid_value")
}

pub(crate) fn empty_array(param: &str) -> Refusal {
    let expected = "Expected an array with minimum length 1, but got an empty array instead.";
    Refusal::new(format!("Invalid '{param}': empty array. {expected}"))
        .at(param)
        .code("empty_array")
}

pub(crate) fn empty_string(param: &str) -> Refusal {
    let expected = "Expected a string with minimum length 1, but got an empty string instead.";
    let message = format!("Invalid '{param}': empty string. {expected}");
    Refusal::new(message).at(param).code("empty_string")
}

pub(crate) fn too_long(param: &str, most: usize, length: usize) -> Refusal {
    let expected = format!("Expected a string with maximum length {most}");
    let message = format!(
        "Invalid '{param}': string too long. {expected}, but got a string with length {length} instead."
    );
    Refusal::new(message).at(param).code("string_above_max_length")
}

pub(crate) fn no_match(param: &str) -> Refusal {
    let expected = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.";
    let message = format!("Invalid '{param}': string does not match pattern. {expected}");
    Refusal::new(message).at(param).code("invalid_value")
}

pub(crate) fn unsupported(param: &str, message: String) -> Refusal {
    Refusal::new(message).at(param).code("unsupported_value")
}

/// A string of 1 to this many characters.
pub(crate) fn string(param: &str, value: &Value, most: usize) -> Verdict {
    let text = match value {
        Value::Null => return Err(missing(param)),
        Value::String(text) => text,
        other => return Err(wrong_type(param, "a string", other)),
    };
    match text.chars().count() {
        0 => Err(empty_string(param)),
        length if length > most => Err(too_long(param, most, length)),
        _ => Ok(()),
    }
}

/// The name of a function.
pub(crate) fn name(param: &str, value: &Value, most: usize) -> Verdict {
    string(param, value, most)?;
    let is_known = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let is_name = value.as_str().is_some_and(|name| name.chars().all(is_known));
    if is_name { Ok(()) } else { Err(no_match(param)) }
}

/// Whether a model thinks before it answers.
pub(crate) fn is_reasoning(model: &str) -> bool {
    let thinks = ["o1", "o3", "o4", "gpt-5", "gpt-6"];
    thinks.iter().any(|name| model.starts_with(name)) && !model.contains("chat")
}

/// The number in the name of a model, such as 5.4 in `gpt-5.4-mini`.
pub(crate) fn generation(model: &str) -> f64 {
    let rest = model.strip_prefix("gpt-").unwrap_or_default();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].parse().unwrap_or_default()
}

pub(crate) fn refused(refusal: &Refusal) -> Value {
    let kind = match refusal.status {
        408 => "timeout",
        429 => "requests",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    let code = match (refusal.code, refusal.status) {
        (None, 429) => Some("rate_limit_exceeded"),
        (code, _) => code,
    };
    json!({"error": {"message": refusal.message, "type": kind, "param": refusal.param, "code": code}})
}

pub(crate) fn no_key(is_missing: bool) -> Refusal {
    let message = match is_missing {
        true => {
            "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
        }
        false => {
            "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."
        }
    };
    let refusal = Refusal::with_status(401, message);
    if is_missing { refusal } else { refusal.code("invalid_api_key") }
}

/// What of a usage is cached; OpenAI's older models tell no writes.
pub(crate) fn cached(usage: &Usage) -> Value {
    let mut cached = json!({"cached_tokens": usage.read, "audio_tokens": 0});
    let written = usage.written + usage.written_hour;
    if written > 0 {
        cached["cache_write_tokens"] = written.into();
    }
    cached
}
