//! An element: what was said of a source, once, in one place.

use std::fmt;
use std::sync::Arc;

use interleaf_model::{ContextKind, Entry, Message, MessageId, Provenance};
use serde::{Deserialize, Serialize};

use super::SourceWay;
use crate::Carrier;
use crate::draft::entry;
use crate::fence::{self, Said, Whole};
use crate::{Authority, Gap};

/// What was said of a context source, once, in one place of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[non_exhaustive]
pub struct Element {
    /// What the source is about.
    pub kind: ContextKind,
    /// Which of the sources of that kind it is.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nth: u32,
    /// The version of the source's text.
    pub version: u32,
    /// How it is said.
    pub form: ElementForm,
    /// The message that it stands after; absent if it opens the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<MessageId>,
    /// In what it was sent, if that could be: it stays so.
    #[serde(default, skip_serializing_if = "Carrier::is_message")]
    pub carrier: Carrier,
    /// How many messages of the conversation came before it.
    pub n_before: usize,
    /// About how many bytes were said between it and the element before it.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub since: u64,
    /// Whether it tells how elements are read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explains: bool,
    /// Whether the request that showed it dropped others that had been shown. Then nothing of
    /// the requests before it ends where it begins.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after_cut: bool,
    /// What the source says, if this is the whole of it, or which of its lines changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Arc<str>>,
    /// What is left out of the whole of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
    /// Who says it, if the model is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
}

interleaf_model::only_objects!(Element);

/// How an element says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ElementForm {
    /// The whole text.
    #[serde(alias = "again")]
    Whole,
    /// The lines that changed since the version before.
    Changes,
    /// That it no longer holds.
    Withdrawn,
}

/// The elements of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[non_exhaustive]
pub struct Elements {
    /// How many of those that were shown before it still shows.
    pub kept: usize,
    /// Why it does not show all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebased: Option<Rebase>,
    /// The new ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new: Vec<Arc<Element>>,
    /// How each source is shown, and why, if the rule chooses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<SourceWay>,
}

interleaf_model::only_objects!(Elements);

/// Why elements that were shown are shown no more, and their sources are shown anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rebase {
    /// A message that one of them stood after is not sent any more.
    PlaceGone,
    /// The turns around one of them are left out to fit the window.
    LeftOut,
    /// One of them would stand after the message that is to be answered.
    AfterQuestion,
    /// What they cost is more than showing the context anew.
    Cost,
    /// They take more than the context may.
    Budget,
}

impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} before stay", self.kept)?;
        if let Some(why) = self.rebased {
            write!(f, ", the rest is shown anew: {}", why.as_str())?;
        }
        self.ways.iter().try_for_each(|way| write!(f, "; {way}"))
    }
}

impl Rebase {
    /// The reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PlaceGone => "a message that it stood after is gone",
            Self::LeftOut => "the turns around it are left out",
            Self::AfterQuestion => "it would stand after the question",
            Self::Cost => "a fresh copy is cheaper",
            Self::Budget => "it takes more than the context may",
        }
    }
}

impl Element {
    /// What is sent.
    pub fn text(&self) -> String {
        let says = self.says.as_deref().unwrap_or_default();
        let said = match self.form {
            ElementForm::Whole => {
                let (gap, authority) = (self.gap, self.authority);
                Said::Whole(Whole { text: says, gap, authority })
            }
            ElementForm::Changes => Said::Changes(says),
            ElementForm::Withdrawn => Said::Withdrawn,
        };
        let text = fence::element((&self.kind, self.nth), self.version, said);
        if self.explains { format!("{text}\n\n{}", fence::AMENDED) } else { text }
    }

    /// About how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        const AROUND: usize = 60;
        self.says.as_ref().map_or(0, |says| says.len()) + AROUND
    }

    /// The element as a message of a request, the `no`th of its session.
    pub(crate) fn entry(&self, no: usize) -> Entry {
        let id = MessageId::new(format!("context:{}:{no}", self.kind.as_str()));
        let message = Message::user(&self.text()).with_id(id);
        entry(message, Provenance::Element(self.kind.clone()))
    }
}

fn is_nothing(bytes: &u64) -> bool {
    *bytes == 0
}

fn is_zero(nth: &u32) -> bool {
    *nth == 0
}
