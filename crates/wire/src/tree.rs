//! A JSON value to look at, in little memory.
//!
//! A body of 20 MB may have ten million values. A node here takes 24 bytes, a third of what
//! `serde_json::Value` takes: lists and objects have no spare room, short strings and names
//! are held in place. What it costs is that nothing can be changed.

mod map;
mod read;

use std::fmt;
use std::ops::Index;

use serde::ser::{Serialize, Serializer};
use serde_json::Number;
use smol_str::SmolStr;

pub(crate) use self::map::Map;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    String(SmolStr),
    Array(Box<[Value]>),
    Object(Map),
}

const _: () = assert!(size_of::<Value>() == 24, "a node must stay small");

/// A name as a step of a JSON pointer.
pub(crate) fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

static NULL: Value = Value::Null;

impl Value {
    /// The value of a JSON text; null, if it is not readable.
    pub(crate) fn of(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or(Self::Null)
    }

    /// An object with one field.
    pub(crate) fn under(name: &str, value: Self) -> Self {
        Self::Object(Map::of(vec![(name.into(), value)]))
    }

    /// A field of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// What a JSON pointer leads to.
    pub(crate) fn pointer(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        let mut steps = pointer.strip_prefix('/')?.split('/');
        steps.try_fold(self, |value, step| match value {
            Self::Object(fields) => fields.get(&step.replace("~1", "/").replace("~0", "~")),
            Self::Array(list) => list.get(place(step)?),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => None,
        })
    }

    pub(crate) fn as_object(&self) -> Option<&Map> {
        if let Self::Object(fields) = self { Some(fields) } else { None }
    }

    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(list) = self { Some(list) } else { None }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    pub(crate) fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    pub(crate) fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    pub(crate) fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(flag) = self { Some(*flag) } else { None }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    pub(crate) fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    pub(crate) fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }
}

/// The place in a list that a step of a pointer names.
fn place(step: &str) -> Option<usize> {
    let is_written_otherwise = step.starts_with('+') || step.len() > 1 && step.starts_with('0');
    if is_written_otherwise { None } else { step.parse().ok() }
}

/// A field; null where there is none.
impl Index<&str> for Value {
    type Output = Self;

    fn index(&self, name: &str) -> &Self {
        self.get(name).unwrap_or(&NULL)
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, text: &str) -> bool {
        self.as_str() == Some(text)
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == Some(text)
    }
}

impl PartialEq<bool> for Value {
    fn eq(&self, flag: &bool) -> bool {
        self.as_bool() == Some(*flag)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(list) => serializer.collect_seq(list),
            Self::Object(fields) => serializer.collect_map(fields),
        }
    }
}

/// The JSON, without spaces.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}
