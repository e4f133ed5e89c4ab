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

/// How hard to think is a known word.
pub(crate) fn effort(param: &str, value: &Value) -> Verdict {
    match value {
        Value::Null => Ok(()),
        Value::String(effort) if EFFORTS.contains(&effort.as_str()) => Ok(()),
        Value::String(effort) => Err(wrong_value(param, effort, &EFFORTS)),
        other => Err(wrong_type(param, "a string", other)),
    }
}

/// A model that thinks takes only the usual temperature and nucleus.
pub(crate) fn sampling(incoming: &Incoming<'_>, effort: &Value) -> Verdict {
    // From 5.1 on the effort is `none` unless another is asked for, and then they are free.
    let is_free = effort == "none" || (effort.is_null() && generation(incoming.model) > 5.0);
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
    Ok(())
}
