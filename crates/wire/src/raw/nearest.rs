//! Values that memory cannot hold, as near as it can.

use std::fmt;

use interleaf_model::Json;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::Number;
use serde_json::value::RawValue;

use super::{Fields, is_object, list};
use crate::tree::{Map, Value};

/// Values below this are null: no API nests so deep.
const DEEPEST: usize = 128;

/// The value, to look at: half a surrogate pair is U+FFFD in it, a number beyond f64 the
/// largest, and what is nested very deep is null. What is sent are the bytes themselves.
pub(crate) fn nearest(json: &Json) -> Value {
    nearest_raw(json.as_raw())
}

/// The same of a part of a text.
pub(crate) fn nearest_raw(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| by_hand(raw, 0))
}

fn by_hand(raw: &RawValue, depth: usize) -> Value {
    if depth == DEEPEST {
        return Value::Null;
    }
    match raw.get().as_bytes().first() {
        Some(b'{') if is_object(raw) => {
            let Ok(fields) = Fields::read(raw) else { return Value::Null };
            let fields = fields.iter();
            Value::Object(Map::of(
                fields.map(|(name, value)| (name.into(), by_hand(value, depth + 1))).collect(),
            ))
        }
        Some(b'[') => {
            let all = list(raw).unwrap_or_default();
            Value::Array(all.into_iter().map(|value| by_hand(value, depth + 1)).collect())
        }
        Some(b'"') => {
            let text = serde_json::from_str::<Lossy>(raw.get());
            text.map_or(Value::Null, |Lossy(text)| Value::String(text.into()))
        }
        _ => serde_json::from_str(raw.get()).unwrap_or_else(|_| {
            let is_negative = raw.get().starts_with('-');
            let number = Number::from_f64(if is_negative { f64::MIN } else { f64::MAX });
            number.map_or(Value::Null, Value::Number)
        }),
    }
}

/// A string whose half surrogate pairs are replaced.
struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Lossy;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Lossy, E> {
                Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}
