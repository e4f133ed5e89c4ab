//! A JSON value kept as the bytes it came in.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::{Error, fragment};

/// How many levels of lists and objects a readable value has at most. Parsers stop at 128,
/// and a value may stand deep inside a request.
const DEEPEST: usize = 100;

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

    /// The text, known to be JSON.
    pub fn as_raw(&self) -> &RawValue {
        &self.0
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    /// Whether every parser can hold the value in memory, also inside another value: no
    /// half of a surrogate pair, no number beyond f64, at most 100 levels.
    pub fn is_readable(&self) -> bool {
        let mut text = serde_json::Deserializer::from_str(self.as_str());
        Readable { depth: DEEPEST }.deserialize(&mut text).is_ok()
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

impl From<&Self> for Json {
    fn from(json: &Self) -> Self {
        json.clone()
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
#[derive(Clone, Copy)]
struct Readable {
    /// How many levels may still be below.
    depth: usize,
}

impl Readable {
    fn inner<E: serde::de::Error>(self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1);
        Ok(Self { depth: depth.ok_or_else(|| E::custom("it is nested too deeply"))? })
    }
}

impl<'de> DeserializeSeed<'de> for Readable {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Readable {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let inner = self.inner()?;
        while list.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let inner = self.inner()?;
        while object.next_entry_seed(inner, inner)?.is_some() {}
        Ok(())
    }
}
