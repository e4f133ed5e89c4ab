//! Operations on the view, as data that a workflow, a command line and HTTP carry
//! alike.

use interleaf_model::{Message, Role};
use serde::{Deserialize, Serialize};

/// A change of the view: `{"truncate": {"keep_last": 5, "role": "user"}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Hide by position.
    Truncate(Truncate),
    /// Show new messages at a position.
    Insert(Insert),
    /// Show a new message in place of another.
    Replace(Replace),
    /// Hide everything.
    Clear(Clear),
    /// Hide by role or text.
    Filter(Filter),
}

/// Hides messages by position.
///
/// One of `keep_first`, `keep_last`, `remove_first`, `remove_last`, `range` says
/// which stay; `keep_first` with `keep_last` keeps both ends, `remove_first` with
/// `remove_last` cuts both. Pinned messages stay.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Truncate {
    /// How many to keep at the start. More than there are keeps all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_first: Option<usize>,
    /// How many to keep at the end; 0 keeps none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_last: Option<usize>,
    /// How many to hide at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove_first: Option<usize>,
    /// How many to hide at the end; 0 hides none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove_last: Option<usize>,
    /// Keep these positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Span>,
    /// Count only messages of this role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// With `role`: what happens to the other roles. Hidden, if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
    /// Allow part of a tool block to stay visible.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub split_blocks: bool,
}

/// Positions from `start` up to, but without, `end`; both counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// The first position.
    pub start: usize,
    /// The position after the last.
    pub end: usize,
}

/// What a truncation by role does to the other roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Others {
    /// They are hidden.
    Hide,
    /// They are left alone.
    Keep,
}

/// Shows new messages at a position of the view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Insert {
    /// Before the message that stands at this position now; the length of the view
    /// means at its end.
    pub position: usize,
    /// The new messages.
    pub messages: Vec<Message>,
    /// Allow a position inside a tool block.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub split_blocks: bool,
}

/// Shows a new message in place of another, which stays in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replace {
    /// The position in the view.
    pub index: usize,
    /// The new message.
    pub message: Message,
    /// Allow it to leave calls without their results, or results without a call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub split_blocks: bool,
}

/// Hides everything, pinned messages too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Clear {
    /// Leave system messages visible; so it is unless it is said.
    pub keep_system: bool,
}

/// Hides what does not match. All criteria that are given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Keep messages of one of these roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<Role>>,
    /// Keep messages whose text contains one of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<Vec<String>>,
    /// Hide messages whose text contains one of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excludes: Option<Vec<String>>,
    /// Allow part of a tool block to stay visible.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub split_blocks: bool,
}

impl Default for Clear {
    fn default() -> Self {
        Self { keep_system: true }
    }
}

impl Operation {
    /// The operation's name, as in its JSON form.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Truncate(_) => "truncate",
            Self::Insert(_) => "insert",
            Self::Replace(_) => "replace",
            Self::Clear(_) => "clear",
            Self::Filter(_) => "filter",
        }
    }
}
