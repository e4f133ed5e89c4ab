//! What a step changed, and why.

use std::fmt;

use interleaf_model::MessageId;
use serde::Serialize;

/// One thing that a step did to one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was done.
    pub change: Change,
    /// To which message.
    pub message: MessageId,
    /// Why.
    pub cause: Cause,
    /// Particulars, such as an id or a count; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What was done to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// It is not in the request.
    Dropped,
    /// It stands elsewhere.
    Moved,
    /// It was not in the conversation.
    Made,
    /// It is shown otherwise than it was said.
    Altered,
    /// It stayed, though it was to go.
    Spared,
    /// Nothing; the caller should know.
    Warned,
}

/// Why a step did what it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// The summary stands for it.
    Summarised,
    /// The message with which the summary begins is not in the view.
    SummaryStartGone,
    /// Nothing that the summary covers may be swallowed.
    SummaryStandsForNothing,
    /// The latest user message is never summarised.
    LatestUser,
    /// Pinned messages, and the tool block around one, are never summarised or left out.
    Pinned,
    /// A tool block is summarised whole or not at all, and only when it is answered.
    BlockNotCovered,
    /// System messages are never summarised.
    SystemMessage,
    /// It says nothing.
    Blank,
    /// It is internal to another agent.
    OtherAgent,
    /// It is the program's own note.
    Internal,
    /// Its call is not in the conversation.
    NoCall,
    /// Its call has a result already.
    SecondResult,
    /// It did not stand at its place behind its call.
    NotAtItsCall,
    /// The call has no result.
    NoResult,
    /// The call names no tool.
    NoToolName,
    /// Its call id was used before.
    CallIdReused,
    /// A conversation must be opened by a user message.
    NoUserBefore,
    /// System messages stand at the head.
    SystemToHead,
    /// There is no system prompt, so the role definition takes its place.
    RoleAsSystem,
    /// It is longer than a single result may be.
    LongResult,
    /// The request does not fit the window.
    Budget,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Dropped => "dropped",
            Self::Moved => "moved",
            Self::Made => "made",
            Self::Altered => "altered",
            Self::Spared => "spared",
            Self::Warned => "warned",
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Summarised => "the summary stands for it",
            Self::SummaryStartGone => {
                "the message with which the summary begins is not in the view: sent without summary"
            }
            Self::SummaryStandsForNothing => {
                "nothing that the summary covers may be swallowed: sent without summary"
            }
            Self::LatestUser => "the latest user message is never summarised",
            Self::Pinned => "it is pinned, or in a tool block with a pinned message",
            Self::BlockNotCovered => {
                "a tool block is summarised whole, and only when it is answered"
            }
            Self::SystemMessage => "system messages are never summarised",
            Self::Blank => "it says nothing",
            Self::OtherAgent => "it is internal to another agent",
            Self::Internal => "it is the program's own note",
            Self::NoCall => "its call is not in the conversation",
            Self::SecondResult => "its call has a result already",
            Self::NotAtItsCall => "it did not stand at its place behind its call",
            Self::NoResult => "no result was recorded for the call",
            Self::NoToolName => "the call names no tool",
            Self::CallIdReused => "its call id was used before",
            Self::NoUserBefore => "no user message stood before the first assistant message",
            Self::SystemToHead => "system messages are joined at the head",
            Self::RoleAsSystem => {
                "there is no system prompt: the role definition is the system message"
            }
            Self::LongResult => "it is longer than a single tool result may be",
            Self::Budget => "the request would not fit the window",
        })
    }
}

/// Where a step puts what it found.
#[derive(Debug, Default)]
pub(crate) struct Findings(pub(crate) Vec<Finding>);

impl Findings {
    pub(crate) fn add(&mut self, change: Change, message: &MessageId, cause: Cause) {
        self.add_with(change, message, cause, String::new());
    }

    pub(crate) fn add_with(
        &mut self,
        change: Change,
        message: &MessageId,
        cause: Cause,
        detail: String,
    ) {
        self.0.push(Finding { change, message: message.clone(), cause, detail });
    }
}
