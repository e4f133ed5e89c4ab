//! What carries the context to the model (C16).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// In what the texts of the context are sent. The rule of placement says where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Carrier {
    /// Each is a user message of its own.
    #[default]
    Message,
    /// They are texts at the end of the message right before their place: a tool result, or
    /// what the user said. So no user message stands inside a tool loop, for chat templates
    /// that drop the reasoning before one.
    Attached,
    /// Each is a system message in its place, where the target takes one there; else a user
    /// message.
    System,
}

/// Why the texts are user messages though another carrier was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refused {
    /// They stand right before the message that is to be answered: no loop is running.
    BeforeQuestion,
    /// What stands right before them can carry no text.
    NoBearer,
    /// The target takes a system message at the head only.
    NoSystemInPlace,
    /// The target takes a system message in other places, not here.
    NoSystemHere,
    /// Nothing is said before them: a system message there is the system text's.
    NothingBefore,
}

/// What becomes of system messages that a conversation has after its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SystemMessages {
    /// They are joined at the head. One that comes in mid-session changes the prompt from its
    /// beginning on.
    #[default]
    Head,
    /// They stay in their place: as system messages where the target takes one there, else as
    /// text in a user's turn.
    InPlace,
}

impl Carrier {
    /// The carrier's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Attached => "attached",
            Self::System => "system",
        }
    }

    pub(crate) fn is_message(&self) -> bool {
        *self == Self::Message
    }
}

impl Refused {
    /// The reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BeforeQuestion => {
                "not attached: it stands right before the message that is to be answered"
            }
            Self::NoBearer => "not attached: what stands right before it can carry no text",
            Self::NoSystemInPlace => {
                "not system: the target takes system messages at the head only"
            }
            Self::NoSystemHere => "not system: the target takes no system message in this place",
            Self::NothingBefore => {
                "not system: nothing is said before it, where it would belong to the system text"
            }
        }
    }
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Carrier {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let all = [Self::Message, Self::Attached, Self::System];
        all.into_iter().find(|carrier| carrier.as_str() == text).ok_or_else(|| {
            Error::settings(format!(
                "{text:?} is not a carrier: message, attached and system are known"
            ))
        })
    }
}

impl SystemMessages {
    /// The setting's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::InPlace => "in_place",
        }
    }
}

impl FromStr for SystemMessages {
    type Err = Error;

    /// Reads `head` or `in_place`.
    fn from_str(text: &str) -> Result<Self, Error> {
        [Self::Head, Self::InPlace].into_iter().find(|s| s.as_str() == text).ok_or_else(|| {
            Error::settings(format!(
                "{text:?} is no place for system messages: head and in_place are known"
            ))
        })
    }
}
