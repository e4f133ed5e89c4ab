//! JSON taken apart by hand: the fields of an object in order, each value as the
//! bytes it came in.
//!
//! Untagged and flattened serde forms would parse values we must keep as bytes,
//! and could not say where a fault lies.

mod nearest;

pub(crate) use nearest::{nearest, nearest_raw};

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use interleaf_model::Json;

use crate::error::Fault;

/// Whether a value says nothing, in whatever form: null, or a text, list or object with
/// nothing in it.
pub(crate) fn is_nothing(value: &RawValue) -> bool {
    let text = value.get();
    let inside = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let inside = inside('[', ']').or_else(|| inside('{', '}'));
    is_null(value) || text == r#""""# || inside.is_some_and(|text| text.trim_ascii().is_empty())
}

/// The fields of an object that nobody has taken yet.
///
/// A field whose value is `null` is the same as no field when it is taken, and
/// stays as it is when it is not. Of two fields of one name the last one counts.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    at: &'a RawValue,
    /// Where the object stands below the one that its faults are told of.
    path: &'static str,
    list: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Fields<'a> {
    /// Takes an object apart.
    pub(crate) fn read(at: &'a RawValue) -> Result<Self, Fault<'a>> {
        if !is_object(at) {
            return Err(wrong_type(at, "an object"));
        }
        let Pairs(list) = parse(at)?;
        Ok(Self { at, path: "", list })
    }

    /// Takes a body apart. A bare list stands for a body with nothing but that list, in
    /// the field `name`.
    pub(crate) fn of_body(at: &'a RawValue, name: &'static str) -> Result<Self, Fault<'a>> {
        match is_list(at) {
            true => Ok(Self { at, path: "", list: vec![(Cow::Borrowed(name), at)] }),
            false => Self::read(at),
        }
    }

    /// The value of a field, left in its place.
    pub(crate) fn peek(&self, name: &str) -> Option<&'a RawValue> {
        let (_, value) = self.list.iter().rev().find(|(key, _)| key == name)?;
        Some(*value).filter(|value| !is_null(value))
    }

    /// The value of a field.
    pub(crate) fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let value = self.peek(name);
        self.list.retain(|(key, _)| key != name);
        value
    }

    /// The value of a field that must be a string.
    pub(crate) fn take_text(&mut self, name: &str) -> Result<Option<Cow<'a, str>>, Fault<'a>> {
        let value = self.take(name);
        value.map(text).transpose().map_err(|fault| self.inside(fault.under(name)))
    }

    /// The value of a field that must be a list.
    pub(crate) fn take_list(&mut self, name: &str) -> Result<Vec<&'a RawValue>, Fault<'a>> {
        let value = self.take(name);
        let list = value.map(list).transpose().map_err(|fault| self.inside(fault.under(name)))?;
        Ok(list.unwrap_or_default())
    }

    /// The value of a field that must be an object.
    pub(crate) fn take_object(&mut self, name: &'static str) -> Result<Option<Self>, Fault<'a>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        match Self::read(value) {
            Ok(fields) => Ok(Some(Self { path: name, ..fields })),
            Err(fault) => Err(self.inside(fault.under(name))),
        }
    }

    /// Puts the fields of an object that stands under `name` in its place.
    pub(crate) fn inline(&mut self, name: &str) -> Result<(), Fault<'a>> {
        let Some(value) = self.peek(name).filter(|value| is_object(value)) else {
            return Ok(());
        };
        let inner = Self::read(value).map_err(|fault| self.inside(fault.under(name)))?;
        let at = self.list.iter().position(|(key, _)| key == name).unwrap_or_default();
        self.list.retain(|(key, _)| key != name);
        self.list.splice(at..at, inner.list);
        Ok(())
    }

    /// The value of a field that must be true or false.
    pub(crate) fn take_flag(&mut self, name: &str) -> Result<Option<bool>, Fault<'a>> {
        match self.take(name) {
            None => Ok(None),
            Some(raw) => match raw.get() {
                "true" => Ok(Some(true)),
                "false" => Ok(Some(false)),
                _ => Err(self.inside(wrong_type(raw, "true or false").under(name))),
            },
        }
    }

    /// The object misses something.
    pub(crate) fn incomplete(&self, rule: impl Into<String>) -> Fault<'a> {
        self.inside(Fault::form(self.at, rule))
    }

    /// The fields left, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.list.iter().map(|(key, value)| (&**key, *value))
    }

    /// The fields left, in order.
    pub(crate) fn into_list(self) -> Vec<(Cow<'a, str>, &'a RawValue)> {
        self.list
    }

    fn inside(&self, fault: Fault<'a>) -> Fault<'a> {
        fault.under(self.path)
    }
}

/// An object being written from values that are kept as their bytes.
#[derive(Debug, Default)]
pub(crate) struct ObjectText(String);

impl ObjectText {
    /// Adds a field; `value` is JSON.
    pub(crate) fn push(&mut self, name: &str, value: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push_str(&serde_json::Value::from(name).to_string());
        self.0.push(':');
        self.0.push_str(value);
    }

    /// Adds what is left of an object.
    pub(crate) fn push_all(&mut self, fields: &Fields<'_>) {
        for (name, value) in fields.iter() {
            self.push(name, value.get());
        }
    }

    /// Adds what is left of an object as a field that is an object, if there is
    /// anything left.
    pub(crate) fn push_object(&mut self, name: &str, fields: &Fields<'_>) {
        let mut inner = Self::default();
        inner.push_all(fields);
        if !inner.0.is_empty() {
            inner.0.push('}');
            self.push(name, &inner.0);
        }
    }

    /// The object, unless it is empty.
    pub(crate) fn into_json(mut self) -> Result<Option<Json>, interleaf_model::Error> {
        if self.0.is_empty() {
            return Ok(None);
        }
        self.0.push('}');
        Json::parse(self.0).map(Some)
    }
}

/// The text of a string.
pub(crate) fn text(at: &RawValue) -> Result<Cow<'_, str>, Fault<'_>> {
    if !is_text(at) {
        return Err(wrong_type(at, "a string"));
    }
    parse(at).map(|Borrowed(text)| text)
}

/// The elements of a list.
pub(crate) fn list(at: &RawValue) -> Result<Vec<&RawValue>, Fault<'_>> {
    if !is_list(at) {
        return Err(wrong_type(at, "a list"));
    }
    parse(at)
}

/// The value is of a type that is not `wanted`.
pub(crate) fn wrong_type<'a>(at: &'a RawValue, wanted: &str) -> Fault<'a> {
    let found = match at.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    };
    Fault::form(at, format!("must be {wanted}, not {found}"))
}

/// Whether the value is a string.
pub(crate) fn is_text(value: &RawValue) -> bool {
    value.get().starts_with('"')
}

/// Whether the value is an object.
pub(crate) fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

/// Whether the value is a list.
pub(crate) fn is_list(value: &RawValue) -> bool {
    value.get().starts_with('[')
}

fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// Parses one level of a value. What still can go wrong is an escape such as
/// `\ud800`, which raw values let pass.
fn parse<'a, T: Deserialize<'a>>(at: &'a RawValue) -> Result<T, Fault<'a>> {
    serde_json::from_str(at.get()).map_err(|e| Fault::unreadable(at, &e))
}

/// A string that is copied only if it has escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

struct Pairs<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;

        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(Borrowed(key)) = map.next_key()? {
                    list.push((key, map.next_value()?));
                }
                Ok(Pairs(list))
            }
        }

        deserializer.deserialize_map(PairsVisitor)
    }
}
