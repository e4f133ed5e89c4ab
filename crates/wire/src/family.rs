//! The five wire families.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

use crate::{Error, ErrorKind};

/// A wire format. Many vendors speak one of the five.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// OpenAI Chat Completions, and the servers that imitate it.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Google Gemini generateContent.
    Gemini,
    /// AWS Bedrock Converse.
    Bedrock,
}

impl Family {
    /// All of them, in the order in which they are listed everywhere.
    pub const ALL: [Self; 5] =
        [Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic, Self::Gemini, Self::Bedrock];

    /// The family's name, as on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
        }
    }

    /// The owner of what only this family understands: opaque parts, extra fields,
    /// and the thinking that it made.
    pub fn owner(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai",
            Self::OpenaiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "google",
            Self::Bedrock => "bedrock",
        }
    }

    /// The field that marks where a cached prefix ends, if the family has one.
    pub fn cache_mark(self) -> Option<&'static str> {
        self.codec().cache_mark
    }

    /// The API of a maker or of a line of models, for those who name one of them instead:
    /// how the name begins, and the API.
    ///
    /// ```
    /// use interleaf_wire::Family;
    ///
    /// assert_eq!(Family::of_maker("claude-opus-4-5"), Some(("claude", Family::Anthropic)));
    /// ```
    pub fn of_maker(name: &str) -> Option<(&'static str, Self)> {
        const MAKERS: [(&str, Family); 9] = [
            ("claude", Family::Anthropic),
            ("gpt", Family::OpenaiChat),
            ("chatgpt", Family::OpenaiChat),
            ("openai", Family::OpenaiChat),
            ("responses", Family::OpenaiResponses),
            ("google", Family::Gemini),
            ("vertex", Family::Gemini),
            ("aws", Family::Bedrock),
            ("amazon", Family::Bedrock),
        ];
        MAKERS.into_iter().find(|(maker, _)| name.starts_with(maker))
    }

    /// Whether the address of a request names the model, and not its body.
    pub fn names_model_in_address(self) -> bool {
        self.codec().route.names_model
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Family {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|family| family.as_str() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            Error::new(ErrorKind::Rule, format!("unknown API {text:?}: it must be one of {known}"))
        })
    }
}

impl<'de> Deserialize<'de> for Family {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(|error: Error| serde::de::Error::custom(error.message()))
    }
}
