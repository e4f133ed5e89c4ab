//! Fields without a meaning here, put together from pieces.

use std::collections::BTreeMap;

use interleaf_model::{Extra, Json, VendorName};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::openai_chat::OPENAI;
use crate::raw::{ObjectText, is_nothing, nearest_raw};

/// What of a field comes in pieces, where the field is an object.
const GROWING: [&str; 5] = ["text", "summary", "data", "transcript", "signature"];

/// Fields in the order in which they came first.
#[derive(Debug, Default)]
pub(super) struct Attached(Vec<(String, String)>);

impl Attached {
    /// Adds a field, or a further piece of it. Nothing, in whatever form, is not a
    /// field.
    pub(super) fn add(&mut self, name: &str, value: &RawValue) {
        if is_nothing(value) {
            return;
        }
        let text = value.get();
        match self.0.iter_mut().find(|(key, _)| key == name) {
            None => self.0.push((name.to_owned(), text.to_owned())),
            Some((_, before)) => {
                let parse = |text: &str| {
                    serde_json::from_str(text).map_or(Value::Null, |raw| {
                        serde_json::to_value(nearest_raw(raw)).unwrap_or_default()
                    })
                };
                *before = merged(parse(before), parse(text)).to_string();
            }
        }
    }

    /// Sets a field.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.0.retain(|(key, _)| key != name);
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// The value of a field, which then is no longer here.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(at).1)
    }

    /// All fields, as this API's own.
    pub(super) fn to_extra(&self) -> Result<Extra, interleaf_model::Error> {
        self.with([])
    }

    /// The same, beside what belongs to others.
    pub(super) fn with<const N: usize>(
        &self,
        others: [(&str, Json); N],
    ) -> Result<Extra, interleaf_model::Error> {
        let mut own = ObjectText::default();
        for (name, value) in &self.0 {
            own.push(name, value);
        }
        let mut map = BTreeMap::new();
        if let Some(own) = own.into_json()? {
            map.insert(VendorName::new(OPENAI), own);
        }
        map.extend(others.into_iter().map(|(owner, json)| (VendorName::new(owner), json)));
        Extra::from_map(map)
    }
}

/// A list goes on, an object grows field by field, anything else is replaced.
fn merged(before: Value, more: Value) -> Value {
    match (before, more) {
        (Value::Array(mut list), Value::Array(more)) => {
            for item in more {
                match list.last_mut() {
                    Some(last) if goes_on(last, &item) => *last = merged(last.take(), item),
                    _ => list.push(item),
                }
            }
            Value::Array(list)
        }
        (Value::Object(mut fields), Value::Object(more)) => {
            for (name, value) in more {
                let before = fields.get(&name).cloned();
                let value = match (before, value) {
                    (Some(before), Value::Null) => before,
                    (Some(Value::String(text)), Value::String(more))
                        if GROWING.contains(&&*name) =>
                    {
                        Value::String(text + &more)
                    }
                    (Some(before @ (Value::Object(_) | Value::Array(_))), value) => {
                        merged(before, value)
                    }
                    (_, value) => value,
                };
                fields.insert(name, value);
            }
            Value::Object(fields)
        }
        (_, more) => more,
    }
}

/// Whether an item of a list is a further piece of the one before it.
fn goes_on(last: &Value, item: &Value) -> bool {
    item["index"].is_u64() && last["index"] == item["index"] && last["type"] == item["type"]
}
