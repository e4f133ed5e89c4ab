//! Fields that go back.

use std::borrow::Cow;
use std::collections::HashSet;

use interleaf_model::{Extra, Json};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::known_names::KnownNames;
use crate::raw::Fields;

/// Fields that we have no word for, in order, each value as the bytes that it came in.
/// They are written after the fields that we know. Each name is there once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rest<'a> {
    list: Vec<(Cow<'a, str>, &'a RawValue)>,
    /// Their names, once there are many.
    names: Option<Box<KnownNames>>,
}

impl<'a> Rest<'a> {
    /// Nothing.
    pub(crate) const NONE: Self = Self { list: Vec::new(), names: None };

    /// What an owner attached, but for fields that are written anyway.
    pub(crate) fn of(extra: &'a Extra, owner: &str, written: &[&str]) -> Self {
        extra.get(owner).map_or(Self::NONE, |own| Self::of_json(own, written))
    }

    /// What an owner attached under `name`, but for fields that are written anyway.
    pub(crate) fn inside(extra: &'a Extra, owner: &str, name: &str, written: &[&str]) -> Self {
        let inner = extra.get(owner).and_then(fields).and_then(|fields| fields.peek(name));
        inner.map_or(Self::NONE, |inner| Self::of_value(inner, written))
    }

    /// The fields of an object, but for those that are written anyway.
    pub(crate) fn of_json(json: &'a Json, written: &[&str]) -> Self {
        fields(json).map_or(Self::NONE, |fields| Self::of_list(fields.into_list(), written))
    }

    /// The fields of an object, but for those that are written anyway.
    pub(crate) fn of_value(value: &'a RawValue, written: &[&str]) -> Self {
        let fields = Fields::read(value);
        fields.map_or(Self::NONE, |fields| Self::of_list(fields.into_list(), written))
    }

    /// The fields that nobody has taken, but for those that are written anyway; of two of
    /// one name the last one.
    pub(crate) fn of_fields(fields: &Fields<'a>, written: &[&str]) -> Self {
        let owned = |(name, value): (&str, _)| (Cow::Owned(name.to_owned()), value);
        Self::of_list(fields.iter().map(owned).collect(), written)
    }

    fn of_list(mut list: Vec<(Cow<'a, str>, &'a RawValue)>, written: &[&str]) -> Self {
        list.retain(|(name, _)| !written.contains(&&**name));
        if list.len() < 2 {
            return Self { list, names: None };
        }
        let mut later = HashSet::new();
        let mut is_last: Vec<bool> =
            list.iter().rev().map(|(name, _)| later.insert(name)).collect();
        drop(later);
        list.retain(|_| is_last.pop().unwrap_or_default());
        Self { list, names: None }
    }

    /// Adds a field; it takes the place of one of the same name.
    pub(crate) fn push(&mut self, name: Cow<'a, str>, value: &'a RawValue) {
        if self.knows(&name) {
            self.list.retain(|(before, _)| *before != name);
        }
        self.list.push((name, value));
    }

    /// Whether it has a field, which is there from now on.
    fn knows(&mut self, name: &str) -> bool {
        let names = self.names.get_or_insert_default();
        names.add(name, self.list.iter().map(|(name, _)| &**name))
    }

    /// Adds a field that is always the same.
    pub(crate) fn push_static(&mut self, name: &'static str, json: &'static str) {
        // What is no JSON is nobody's field.
        if let Ok(value) = serde_json::from_str(json) {
            self.push(name.into(), value);
        }
    }

    /// Adds a field, unless there is one of the same name.
    pub(crate) fn add(&mut self, name: Cow<'a, str>, value: &'a RawValue) {
        if !self.knows(&name) {
            self.list.push((name, value));
        }
    }

    /// Adds what another has and this has not.
    pub(crate) fn merge(&mut self, other: Self) {
        for (name, value) in other.list {
            self.add(name, value);
        }
    }

    /// The value of a field.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.list.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The value of a field, which then is no longer here.
    pub(crate) fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let at = self.list.iter().position(|(key, _)| key == name)?;
        Some(self.list.remove(at).1)
    }

    /// The fields of an object that stands under `name`, which then is no longer here, but
    /// for those that are written anyway.
    pub(crate) fn take_inner(&mut self, name: &str, written: &[&str]) -> Self {
        self.take(name).map_or(Self::NONE, |inner| Self::of_value(inner, written))
    }

    /// Keeps the fields of which this is so, and tells whether all are kept.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&str, &RawValue) -> bool) -> bool {
        let n_before = self.list.len();
        self.list.retain(|(name, value)| is_kept(name, value));
        self.list.len() == n_before
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl<'a> IntoIterator for Rest<'a> {
    type Item = (Cow<'a, str>, &'a RawValue);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl Serialize for Rest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.list.iter().map(|(name, value)| (name, value)))
    }
}

fn fields(json: &Json) -> Option<Fields<'_>> {
    let raw: &RawValue = serde_json::from_str(json.as_str()).ok()?;
    Fields::read(raw).ok()
}
