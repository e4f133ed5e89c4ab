//! What an owner attached, on its way back.

use std::borrow::Cow;

use serde_json::value::RawValue;

use interleaf_model::{Extra, Json};

use crate::openai_responses::wire::Rest;
use crate::raw::{Fields, is_text, text};

/// The fields of an owner that nobody has taken yet.
pub(super) struct Own<'a>(Option<Fields<'a>>);

impl<'a> Own<'a> {
    pub(super) fn of(extra: &'a Extra, owner: &str) -> Self {
        Self(extra.get(owner).and_then(fields))
    }

    pub(super) fn of_json(json: &'a Json) -> Self {
        Self(fields(json))
    }

    pub(super) fn of_raw(raw: &'a RawValue) -> Self {
        Self(Fields::read(raw).ok())
    }

    pub(super) fn of_none() -> Self {
        Self(None)
    }

    pub(super) fn peek(&self, name: &str) -> Option<&'a RawValue> {
        self.0.as_ref()?.peek(name)
    }

    pub(super) fn peek_text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.peek(name).filter(|raw| is_text(raw)).and_then(|raw| text(raw).ok())
    }

    pub(super) fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        self.0.as_mut()?.take(name)
    }

    pub(super) fn take_text(&mut self, name: &str) -> Option<Cow<'a, str>> {
        self.take(name).filter(|raw| is_text(raw)).and_then(|raw| text(raw).ok())
    }

    /// What is left, but for the fields that are written otherwise; of two of one
    /// name the last one.
    pub(super) fn rest(self, but: &[&str]) -> Rest<'a> {
        self.0.map_or(Rest::NONE, |fields| Rest::of_fields(&fields, but))
    }
}

fn fields(json: &Json) -> Option<Fields<'_>> {
    let raw: &RawValue = serde_json::from_str(json.as_str()).ok()?;
    Fields::read(raw).ok()
}
