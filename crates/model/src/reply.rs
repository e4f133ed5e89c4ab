//! What a model answered.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

use crate::{Message, Usage};

/// A model's answer.
///
/// ```
/// use interleaf_model::{Finish, Message, Reply};
///
/// let reply = Reply::new(Message::assistant("Hello."), Finish::Stop);
/// assert!(!reply.message.has_calls() && reply.usage.is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// What it said: always an assistant message. It says nothing if the model did
    /// not.
    pub message: Message,
    /// Why it stopped.
    pub finish: Finish,
    /// What it cost, where the API said so.
    pub usage: Option<Usage>,
    /// Which model answered, where the API said so.
    pub model: Option<SmolStr>,
    /// The API's name for the answer.
    pub id: Option<SmolStr>,
    /// The number in its session of the request that it answers, where that is known.
    pub request: Option<u64>,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Finish {
    /// It had said all.
    Stop,
    /// The output limit, or the window, was reached.
    Length,
    /// It wants results for its calls.
    ToolCalls,
    /// A filter stopped it, or it refused.
    ContentFilter,
    /// The API paused a long turn: send the answer back to go on.
    Paused,
    /// It did not: the connection ended before the answer did, and this is what had come.
    Cut,
    /// Something else, in the API's words.
    Other(SmolStr),
}

impl Reply {
    /// An answer of which no more is known.
    pub fn new(message: Message, finish: Finish) -> Self {
        Self { message, finish, usage: None, model: None, id: None, request: None }
    }
}

impl Finish {
    /// The reasons that have a word of their own.
    const KNOWN: [Self; 6] =
        [Self::Stop, Self::Length, Self::ToolCalls, Self::ContentFilter, Self::Paused, Self::Cut];

    /// Whether the model was stopped in the middle of what it said last. What is left of a
    /// connection that ended is not: half a call is not kept of it.
    pub(crate) fn cuts_off(&self) -> bool {
        match self {
            Self::Length | Self::ContentFilter => true,
            Self::Stop | Self::ToolCalls | Self::Paused | Self::Cut | Self::Other(_) => false,
        }
    }

    /// The reason's name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
            Self::Paused => "paused",
            Self::Cut => "cut",
            Self::Other(reason) => reason,
        }
    }
}

/// The reason of this name; any other is in the API's words.
impl From<&str> for Finish {
    fn from(name: &str) -> Self {
        let found = Self::KNOWN.into_iter().find(|finish| finish.as_str() == name);
        found.unwrap_or_else(|| Self::Other(name.into()))
    }
}

impl fmt::Display for Finish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Finish {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Finish {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(SmolStr::deserialize(deserializer)?.as_str()))
    }
}
