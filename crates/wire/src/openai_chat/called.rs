//! Which object of a call says what is called.
//!
//! Servers send empty objects of other forms beside the real one. The `type` decides; where
//! there is none, or where its object says nothing, another that says something does.

use serde_json::value::RawValue;

use crate::raw::{Fields, is_text};

/// The object that says what is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Called {
    /// `function`, with `arguments`.
    Function,
    /// `custom`, with `input`.
    Custom,
}

impl Called {
    /// The object that counts in an element of `tool_calls`. The other one is taken out if
    /// it says nothing.
    pub(super) fn of(call: &mut Fields<'_>) -> Self {
        let is_custom = call.peek("type").is_some_and(|kind| kind.get() == r#""custom""#);
        let [first, second] = match is_custom {
            true => [Self::Custom, Self::Function],
            false => [Self::Function, Self::Custom],
        };
        let [own, other] = [first, second].map(|called| call.peek(called.place()));
        let counts = match (own, other) {
            (_, None) => first,
            (None, Some(_)) => second,
            (Some(own), Some(other)) if says_nothing(own) && !says_nothing(other) => second,
            (Some(_), Some(_)) => first,
        };
        let rest = if counts == first { second } else { first };
        if call.peek(rest.place()).is_some_and(says_nothing) {
            call.take(rest.place());
        }
        counts
    }

    /// The object's name.
    pub(super) const fn place(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Custom => "custom",
        }
    }

    /// The name of what the tool is called with.
    pub(super) const fn input(self) -> &'static str {
        match self {
            Self::Function => "arguments",
            Self::Custom => "input",
        }
    }
}

/// Whether an object of a call names no tool and gives it nothing.
pub(super) fn says_nothing(object: &RawValue) -> bool {
    let is_blank = |value: &RawValue| is_text(value) && value.get().trim_matches('"').is_empty();
    Fields::read(object).is_ok_and(|fields| {
        ["name", "arguments", "input"].iter().all(|name| fields.peek(name).is_none_or(is_blank))
    })
}
