//! Settings that both of OpenAI's APIs have.

use serde_json::Value;

use super::{generation, is_reasoning, unsupported, wrong_type, wrong_value};
use crate::family::Incoming;
use crate::refusal::{Refusal, Verdict, demand};

pub(crate) const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// A number between bounds.
pub(crate) fn number(body: &Value, param: &str, least: f64, most: f64) -> Verdict {
    let value = &body[param];
    if value.is_null() {
        return Ok(());
    }
    let number = value.as_f64().ok_or_else(|| wrong_type(param, "a decimal", value))?;
    let outside = match number {
        number if number < least => Some(("below minimum", ">=", least, "decimal_below_min_value")),
        number if number > most => Some(("above maximum", "<=", most, "decimal_above_max_value")),
        _ => None,
    };
    match outside {
        None => Ok(()),
        Some((what, sign, bound, code)) => {
            let message = format!(
                "Invalid '{param}': decimal {what} value. Expected a value {sign} {bound}, but got {number} instead."
            );
            Err(Refusal::new(message).at(param).code(code))
        }
    }
}

/// A whole number between bounds.
pub(crate) fn integer(body: &Value, param: &str, least: i64, most: i64) -> Verdict {
    let value = &body[param];
    if value.is_null() {
        return Ok(());
    }
    let number = value.as_i64().ok_or_else(|| wrong_type(param, "an integer", value))?;
    let outside = match number {
        number if number < least => Some(("below minimum", ">=", least, "integer_below_min_value")),
        number if number > most => Some(("above maximum", "<=", most, "integer_above_max_value")),
        _ => None,
    };
    match outside {
        None => Ok(()),
        Some((what, sign, bound, code)) => {
            let message = format!(
                "Invalid '{param}': integer {what} value. Expected a value {sign} {bound}, but got {number} instead."
            );
            Err(Refusal::new(message).at(param).code(code))
        }
    }
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
