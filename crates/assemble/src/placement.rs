//! Where the context block may go, and where a rule wants it.

mod layout;
mod rule;

pub use layout::Layout;
pub use rule::{CustomRule, PlacementRule};

use std::fmt;

use interleaf_model::MessageId;
use serde::{Deserialize, Serialize};

/// Where the context block went, and how that came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[non_exhaustive]
pub struct Placement {
    /// The rule that was asked.
    pub rule: String,
    /// The message that the rule went by, if it went by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<MessageId>,
    /// What was done because the rule itself had no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// Whether the place was inside a tool block and went before it.
    pub before_block: bool,
    /// The message that the block stands right after; absent if only the system head
    /// stands before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<MessageId>,
    /// The index of the block in the request.
    pub index: usize,
    /// How many messages it has.
    pub messages: usize,
}

interleaf_model::only_objects!(Placement);

/// What is done when a rule has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fallback {
    /// After the last user message.
    AfterLastUser,
    /// At the end.
    AtEnd,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AfterLastUser => "there are too few: after the last user message",
            Self::AtEnd => "there are too few: at the end",
        })
    }
}

/// What a rule answers: a position, not yet made safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Before the message at this position of the layout; its length means the end.
    pub(crate) position: usize,
    /// The position of the message that the rule went by.
    pub(crate) anchor: Option<usize>,
    /// What was done because the rule had no answer.
    pub(crate) fallback: Option<Fallback>,
}
