//! Settings that both of OpenAI's APIs have.

use serde_json::Value;

use super::{generation, is_reasoning, unsupported, wrong_type, wrong_value};
use crate::family::Incoming;
use crate::refusal::{Refusal, Verdict, demand};

pub(crate) const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// A number between bounds.
pub(crate) fn number(body: &Value, param: &str, least: f64, most: f64) -> Verdict {
    let value = &body[param];
    let codes = ["decimal_below_min_value", "decimal_above_max_value"];
    match value.as_f64() {
        None if value.is_null() => Ok(()),
        None => Err(wrong_type(param, "a decimal", value)),
        Some(number) => between(param, "decimal", number, (least, most), codes),
    }
}

/// A whole number between bounds.
pub(crate) fn integer(body: &Value, param: &str, least: i64, most: i64) -> Verdict {
    let value = &body[param];
    let codes = ["integer_below_min_value", "integer_above_max_value"];
    match value.as_i64() {
        None if value.is_null() => Ok(()),
        None => Err(wrong_type(param, "an integer", value)),
        Some(number) => between(param, "integer", number, (least, most), codes),
    }
}

fn between<T: PartialOrd + std::fmt::Display>(
    param: &str,
    kind: &str,
    number: T,
    (least, most): (T, T),
    [below, above]: [&'static str; 2],
) -> Verdict {
    let (what, sign, bound, code) = match () {
        () if number < least => ("below minimum", ">=", least, below),
        () if number > most => ("above maximum", "<=", most, above),
        () => return Ok(()),
    };
    let message = format!(
        "Invalid '{param}': {kind} {what} value. Expected a value {sign} {bound}, but got {number} instead."
    );
    Err(Refusal::new(message).at(param).code(code))
}

pub(crate) fn boolean(body: &Value, param: &str) -> Verdict {
    let value = &body[param];
    demand(value.is_null() || value.is_boolean(), || wrong_type(param, "a boolean", value))
}

/// How hard to think is a known word, and one that the model has.
pub(crate) fn effort(incoming: &Incoming<'_>, param: &str, value: &Value) -> Verdict {
    let effort = match value {
        Value::Null => return Ok(()),
        Value::String(effort) if EFFORTS.contains(&effort.as_str()) => effort,
        Value::String(effort) => return Err(wrong_value(param, effort, &EFFORTS)),
        other => return Err(wrong_type(param, "a string", other)),
    };
    let model = incoming.model;
    let is_plain = ["gpt-3", "gpt-4"].iter().any(|name| model.starts_with(name))
        || model.starts_with("gpt-") && model.contains("-chat");
    demand(!is_plain, || {
        let message = format!("Unsupported parameter: '{param}' is not supported with this model.");
        Refusal::new(message).at(param).code("unsupported_parameter")
    })?;
    // Only GPT-5.1 to the last GPT-5 can be told not to think at all.
    let always = is_reasoning(model) && !(5.05..6.0).contains(&generation(model));
    demand(!(always && effort == "none"), || {
        let message =
            format!("Unsupported value: '{param}' does not support 'none' with this model.");
        unsupported(param, message)
    })
}

/// Settings that are texts.
pub(crate) fn texts(body: &Value, params: &[&str]) -> Verdict {
    params.iter().try_for_each(|param| {
        let value = &body[*param];
        demand(value.is_null() || value.is_string(), || wrong_type(param, "a string", value))
    })
}

/// A model that thinks takes only the usual temperature and nucleus.
pub(crate) fn sampling(incoming: &Incoming<'_>, effort: &Value) -> Verdict {
    // From 5.1 to 5.5 the effort is `none` unless another is asked for, and then they are free.
    // Models for code and for hard questions always think.
    let is_deep = ["-codex", "-pro"].iter().any(|name| incoming.model.contains(name));
    let is_default = effort.is_null() && (5.05..5.45).contains(&generation(incoming.model));
    let is_free = (effort == "none" || is_default) && !is_deep;
    if !is_reasoning(incoming.model) || is_free {
        return Ok(());
    }
    for param in ["temperature", "top_p"] {
        let value = &incoming.body[param];
        demand(value.is_null() || value.as_f64() == Some(1.0), || {
            let message = format!(
                "Unsupported value: '{param}' does not support {value} with this model. Only the default (1) value is supported."
            );
            unsupported(param, message)
        })?;
    }
    for param in ["presence_penalty", "frequency_penalty"] {
        let value = &incoming.body[param];
        demand(value.is_null() || value.as_f64() == Some(0.0), || {
            let message = format!(
                "Unsupported value: '{param}' does not support {value} with this model. Only the default (0) value is supported."
            );
            unsupported(param, message)
        })?;
    }
    Ok(())
}
