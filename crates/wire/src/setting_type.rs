//! The types of settings. Each family has one list of them: its reader refuses what is of
//! another type, and lint finds it.

use serde_json::value::RawValue;

use crate::error::Fault;
use crate::raw::list;
use crate::tree::Value;

/// What the value of a setting is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingType {
    Flag,
    Number,
    /// A whole number that is not negative. Some clients write `100.0`.
    Count,
    /// A count, also as a string of digits.
    CountOrDigits,
    Text,
    Texts,
    /// One text, or several.
    TextOrTexts,
    Object,
}

use SettingType::{Count, CountOrDigits, Flag, Number, Object, Text, TextOrTexts, Texts};

const WHOLE: &str = "a whole number of 0 or more";

/// The settings of an object: their names and types.
pub(crate) type Settings = [(&'static str, SettingType)];

/// What is wrong with the value of a setting.
pub(crate) struct Wrong {
    /// The element that is not as it must be, unless it is the whole.
    element: Option<usize>,
    pub(crate) detail: String,
}

impl Wrong {
    /// Where it is below the setting, as a JSON pointer.
    pub(crate) fn path(&self) -> String {
        self.element.map(|i| format!("/{i}")).unwrap_or_default()
    }
}

impl SettingType {
    /// What is wrong with a value. Null is no setting.
    pub(crate) fn fault(self, value: &Value) -> Option<Wrong> {
        let takes = match (self, value) {
            (_, Value::Null)
            | (Flag, Value::Bool(_))
            | (Number, Value::Number(_))
            | (Text | TextOrTexts, Value::String(_))
            | (Object, Value::Object(_)) => true,
            (Texts | TextOrTexts, Value::Array(list)) => {
                let i = list.iter().position(|text| !text.is_string())?;
                return Some(Wrong { element: Some(i), detail: must_be("a string", &list[i]) });
            }
            (Count, _) => whole(value).is_some(),
            (CountOrDigits, _) => count_or_digits(value).is_some(),
            _ => false,
        };
        (!takes).then(|| Wrong { element: None, detail: must_be(self.wanted(), value) })
    }

    fn wanted(self) -> &'static str {
        match self {
            Flag => "true or false",
            Number => "a number",
            Count | CountOrDigits => WHOLE,
            Text => "a string",
            Texts => "a list of strings",
            TextOrTexts => "a string or a list of strings",
            Object => "an object",
        }
    }
}

/// Refuses a setting of another type; `get` gives the value of one.
pub(crate) fn refuse<'a>(
    settings: &Settings,
    get: impl Fn(&str) -> Option<&'a RawValue>,
) -> Result<(), Fault<'a>> {
    for (name, wanted) in settings {
        let Some(raw) = get(name) else { continue };
        let Some(wrong) = wanted.fault(&Value::of(raw.get())) else { continue };
        let Some(i) = wrong.element else { return Err(Fault::form(raw, wrong.detail).under(name)) };
        let element = list(raw).ok().and_then(|list| list.get(i).copied());
        let fault = Fault::form(element.unwrap_or(raw), wrong.detail);
        return Err(fault.under(&format!("{name}[{i}]")));
    }
    Ok(())
}

/// Tells of each setting of another type where it is, below the object, and what must be;
/// `get` gives the value of one.
pub(crate) fn find<'v>(
    settings: &Settings,
    get: impl Fn(&str) -> Option<&'v Value>,
    mut found: impl FnMut(String, String),
) {
    for (name, wanted) in settings {
        if let Some(wrong) = get(name).and_then(|value| wanted.fault(value)) {
            found(format!("/{name}{}", wrong.path()), wrong.detail);
        }
    }
}

/// The count that stands here.
pub(crate) fn count(raw: &RawValue) -> Option<u64> {
    count_or_digits(&Value::of(raw.get()))
}

/// The count that a value is, also as a string of digits.
pub(crate) fn count_or_digits(value: &Value) -> Option<u64> {
    value.as_str().map_or_else(|| whole(value), |digits| digits.parse().ok())
}

fn whole(value: &Value) -> Option<u64> {
    // Beyond it a floating-point number is no longer exact.
    const MOST: f64 = (1_u64 << 53) as f64;
    let of_float = |n: f64| (n.fract() == 0.0 && (0.0..=MOST).contains(&n)).then_some(n as u64);
    value.as_u64().or_else(|| value.as_f64().and_then(of_float))
}

fn must_be(wanted: &str, value: &Value) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if wanted == WHOLE => {
            return format!("must be {wanted}, not {number}");
        }
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("must be {wanted}, not {found}")
}
