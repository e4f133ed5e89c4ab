//! A text of the context: what it is about, until when it holds, and who says it (H8).

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use interleaf_model::{ContextKind, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Error, fence};

/// A text for the context block.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextText {
    /// What it is about, which decides its place in the block.
    pub kind: ContextKind,
    /// What it says; a blank one is left out.
    pub text: Arc<str>,
    /// Its source cannot be read now: what it says is not known, and what was shown of it
    /// holds.
    pub is_unread: bool,
    /// From then on it does not hold any more, and is not shown.
    pub until: Option<Timestamp>,
    /// What of it holds no more, by name: it is not in the text, but in the report.
    pub expired: Vec<Arc<str>>,
    /// Who says it, if the model is to be told; see [`authority`](Self::authority).
    pub told_authority: Option<Authority>,
    /// What is left out of it.
    pub(crate) gap: Option<Gap>,
}

/// Who says a text of the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Authority {
    /// Whoever runs the agent: its instructions hold.
    Operator,
    /// The user.
    User,
    /// The agent itself, in an earlier step.
    Agent,
    /// Nobody: it is material, and what it asks for is not an instruction.
    Data,
}

/// What is left out of a text: this many characters at a place of what is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[non_exhaustive]
pub struct Gap {
    /// Before this byte.
    pub at: usize,
    /// How many characters.
    pub left_out: usize,
}

interleaf_model::only_objects!(Gap);

impl Authority {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Operator, Self::User, Self::Agent, Self::Data];

    /// Who says a text of a kind, unless it says otherwise.
    pub fn of_kind(kind: &ContextKind) -> Self {
        match kind {
            ContextKind::Role => Self::Operator,
            ContextKind::Todo => Self::Agent,
            ContextKind::Info | ContextKind::Notes | ContextKind::Other(_) => Self::Data,
        }
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::User => "user",
            Self::Agent => "agent",
            Self::Data => "data",
        }
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Authority {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|authority| authority.as_str() == text.trim());
        known.ok_or_else(|| {
            Error::settings(format!(
                "{text:?} is nobody who says a context text: operator, user, agent and data are"
            ))
        })
    }
}

impl ContextText {
    /// A text of a kind.
    pub fn new(kind: ContextKind, text: impl Into<Arc<str>>) -> Self {
        let (is_unread, until, expired) = (false, None, Vec::new());
        let (told_authority, gap) = (None, None);
        Self { kind, text: text.into(), is_unread, until, expired, told_authority, gap }
    }

    /// A source that cannot be read now. Under a rule that amends, what was shown of it stays;
    /// under the others it is left out.
    pub fn unread(kind: ContextKind) -> Self {
        Self { is_unread: true, ..Self::new(kind, "") }
    }

    /// What is left of a text: its beginning and its end, either of which may be empty, and how
    /// many characters are left out between them.
    ///
    /// ```
    /// use interleaf_assemble::ContextText;
    /// use interleaf_model::ContextKind;
    ///
    /// let notes = ContextText::shortened(ContextKind::Notes, "Build it with just.", 900, "Bye.");
    /// assert_eq!(&*notes.text, "Build it with just.Bye.");
    /// ```
    pub fn shortened(kind: ContextKind, head: &str, left_out: usize, tail: &str) -> Self {
        let gap = Some(Gap { at: head.len(), left_out });
        Self { gap, ..Self::new(kind, format!("{head}{tail}")) }
    }

    /// The text, which holds until then.
    #[must_use]
    pub fn until(mut self, until: Timestamp) -> Self {
        self.until = Some(until);
        self
    }

    /// The text without what holds no more, which the report names.
    #[must_use]
    pub fn without(mut self, expired: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Self {
        self.expired.extend(expired.into_iter().map(Into::into));
        self
    }

    /// The text, of which the model is told who says it.
    #[must_use]
    pub fn said_by(mut self, authority: Authority) -> Self {
        self.told_authority = Some(authority);
        self
    }

    /// Who says it.
    pub fn authority(&self) -> Authority {
        self.told_authority.unwrap_or_else(|| Authority::of_kind(&self.kind))
    }

    /// Whether it holds no more at a time.
    pub fn is_expired(&self, at: Option<Timestamp>) -> bool {
        self.until.zip(at).is_some_and(|(until, at)| until <= at)
    }

    /// What it says, without the heading that it may bring along.
    pub(crate) fn content(&self) -> &str {
        match self.gap {
            Some(_) => &self.text,
            None => fence::content(&self.kind, &self.text),
        }
    }

    pub(crate) fn says_something(&self) -> bool {
        self.gap.is_some() || !self.content().trim().is_empty()
    }
}
