//! Names and ids, each a type of its own so that they cannot be mixed up.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use smol_str::SmolStr;

use crate::Error;

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(SmolStr);

        impl $name {
            /// Wraps a text as it is.
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(SmolStr::new(text))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::new(text)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        name_type!(@shown $name);
    };
    (@shown $name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.0.as_str())
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name_type! {
    /// The name of a message, kept for ever (A1).
    ///
    /// The empty id means *not named yet*: a conversation gives such a message an
    /// id when it is appended, derived from its place in the log.
    #[derive(Default)]
    MessageId
}

name_type! {
    /// The name of a tool, as the model was told it.
    ToolName
}

name_type! {
    /// The name of an agent or sub-agent.
    AgentName
}

name_type! {
    /// Whose words an opaque field is: `anthropic`, `openai`, `google`, …
    VendorName
}

impl MessageId {
    /// The id that a message gets when it comes without one.
    pub fn of_index(index: usize) -> Self {
        Self::new(format!("m{index}"))
    }

    /// Whether the message still waits for its name.
    pub fn is_unassigned(&self) -> bool {
        self.0.is_empty()
    }
}

/// The id that ties a tool result to its call. Never empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct CallId(SmolStr);

name_type!(@shown CallId);

impl CallId {
    /// Wraps an id.
    ///
    /// # Errors
    /// If it is empty or only white space: such a result could not be matched.
    pub fn new(text: impl AsRef<str>) -> Result<Self, Error> {
        let text = text.as_ref();
        if text.trim().is_empty() {
            return Err(Error::rule(
                "a call id must not be empty: it is what ties a tool result to its call",
            ));
        }
        Ok(Self(SmolStr::new(text)))
    }

    /// The id's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for CallId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = SmolStr::deserialize(deserializer)?;
        Self::new(text).map_err(|e| serde::de::Error::custom(e.message()))
    }
}
