//! A JSON value kept as the bytes it came in.

use std::fmt;
use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::{Error, fragment};

/// A JSON value, byte for byte as it was written.
///
/// A parsed value would turn `1e2` into `100.0`, round large integers and forget
/// white space; a prompt cache sees every one of these. Equality is equality of
/// the text.
#[derive(Clone, Serialize)]
#[serde(transparent)]
pub struct Json(Arc<RawValue>);

impl Json {
    /// Takes a JSON text.
    ///
    /// # Errors
    /// If the text is not one JSON value.
    pub fn parse(text: impl Into<String>) -> Result<Self, Error> {
        let text: String = text.into();
        // Surrounding white space is no part of a value.
        fragment::read_json::<&RawValue>(&text).map(Self::from)
    }

    /// The JSON of a value.
    ///
    /// # Errors
    /// If the value has none: a map whose keys are no texts, for example.
    pub fn of(value: &impl Serialize) -> Result<Self, Error> {
        let raw = serde_json::value::to_raw_value(value);
        raw.map(|raw| Self(raw.into())).map_err(|e| Error::rule(e.to_string()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    /// Whether the value can be held in memory: no half of a surrogate pair, no number
    /// beyond f64, no very deep nesting.
    pub fn is_readable(&self) -> bool {
        serde_json::from_str::<Readable>(self.as_str()).is_ok()
    }

    /// The value, parsed; null, if it is not readable.
    pub fn to_value(&self) -> serde_json::Value {
        // The text was checked once already. What can still fail has no value in
        // memory: half a surrogate pair, a number beyond f64, a very deep nesting.
        serde_json::from_str(self.as_str()).unwrap_or(serde_json::Value::Null)
    }
}

impl From<&RawValue> for Json {
    fn from(raw: &RawValue) -> Self {
        Self(raw.to_owned().into())
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Self {
        let raw = RawValue::from_string(value.to_string()).unwrap_or_default();
        Self(raw.into())
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Self::from(&value)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self(raw.into()))
    }
}

/// A value that is read as if it were to be kept, and is not kept: unlike what is passed
/// over unread, it has to be sound in every part.
struct Readable;

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Readable {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}
