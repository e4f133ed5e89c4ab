//! What happened to a conversation, as data.

use std::sync::Arc;

use interleaf_model::{AgentName, Message, Ranges, Usage};
use serde::{Deserialize, Serialize};

use crate::Operation;

/// One thing that happened. A store keeps these; folding them with
/// [`Conversation::apply`](crate::Conversation::apply) gives the conversation.
///
/// An operation is recorded with the view that it led to, so that a later version
/// of this crate with other rules still rebuilds the same conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// A message was said.
    Appended {
        /// With the id that it keeps.
        message: Arc<Message>,
    },
    /// The view was changed.
    Operated {
        /// By this; new messages carry the ids that they keep.
        operation: Operation,
        /// To this, in log indices; new messages are counted after the old log.
        view: Ranges,
    },
    /// A message got a mark.
    Marked {
        /// Which, by log index.
        index: u32,
        /// The mark.
        mark: String,
    },
    /// A message lost a mark.
    Unmarked {
        /// Which, by log index.
        index: u32,
        /// The mark.
        mark: String,
    },
    /// The view went back to the end of a batch.
    RolledBack {
        /// Which.
        batch: u32,
    },
    /// A request was made.
    RequestBegan {
        /// By this sub-agent; absent for the main agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<AgentName>,
    },
    /// The API reported what the current request has cost so far.
    UsageNoted {
        /// All of it, not what was added.
        usage: Usage,
        /// The sub-agent that made it; absent for the main agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<AgentName>,
        /// Whether an earlier request is meant, whose answer came after the current one began.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        earlier: bool,
    },
    /// The view was emptied and the counters set to zero, except lifetime's.
    Reset {},
}

interleaf_model::only_objects!(Event);

impl Event {
    /// The messages that it adds to the log, in order.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        let (one, many): (Option<&Message>, &[Message]) = match self {
            Self::Appended { message } => (Some(message), &[]),
            Self::Operated { operation, .. } => match operation {
                Operation::Insert(insert) => (None, &insert.messages),
                Operation::Replace(replace) => (Some(&replace.message), &[]),
                Operation::Truncate(_) | Operation::Clear(_) | Operation::Filter(_) => (None, &[]),
            },
            Self::Marked { .. }
            | Self::Unmarked { .. }
            | Self::RolledBack { .. }
            | Self::RequestBegan { .. }
            | Self::UsageNoted { .. }
            | Self::Reset {} => (None, &[]),
        };
        one.into_iter().chain(many)
    }
}
