//! Compaction: the oldest part of a conversation gives way to a summary (F1 to F5, H7).
//!
//! ```text
//!   policy ──▶ due? ──▶ cover: what goes, what stays ──▶ request ──▶ a model ──▶ text
//!                                                           ▲                     │
//!                                        once, with what ───┘                  contract
//!                                        is missing                           kept │ broken twice
//!                                                                                  ▼        ▼
//!                                                                              summary   digest
//! ```
//!
//! A summary is taken in only if it keeps its contract: all that must survive is still there,
//! word for word. Where a model breaks it twice, a digest that is made without one takes the
//! summary's place: it says less, and loses none of what was to be kept.

mod contract;
mod cover;
mod digest;
mod facts;
mod language;
mod policy;
mod shown;
mod transcript;
mod whole_words;
mod words;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use interleaf_assemble::Summary;
use interleaf_model::{Message, MessageId};
use serde::Serialize;

use crate::Request;

pub(crate) use self::contract::{Held, check};
pub use self::contract::{Missing, Refusal};
pub(crate) use self::cover::{Ground, cover, protected};
pub use self::cover::{Spared, SparedCause};
pub(crate) use self::digest::digest;
pub use self::facts::{Fact, FactRule, FactSource};
pub(crate) use self::facts::{Finder, find};
pub use self::policy::{CompactionPolicy, Figures, Trigger};
pub(crate) use self::transcript::transcript;
pub(crate) use self::words::{again, extending, instructions};

/// What a compaction would do: which messages give way, what stays, and the figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Compaction {
    /// What made it due. Nothing, if it was asked for.
    pub due: Option<Trigger>,
    /// The session as it was.
    pub figures: Figures,
    /// The messages that give way, with those that the summary before covers.
    pub covers: BTreeSet<MessageId>,
    /// How many messages that are shown now give way.
    pub n_messages: usize,
    /// Messages that are older than others that give way, and stay.
    pub spared: Vec<Spared>,
    /// From this message on all stay.
    pub stays_from: Option<MessageId>,
    /// The tokens of the messages that give way, with the summary before.
    pub covered: u64,
    /// What the next request is expected to take, with a summary of the most tokens.
    pub after: u64,
    /// The first message that the summary covers.
    #[serde(skip)]
    pub(crate) start: MessageId,
    /// The messages that give way.
    #[serde(skip)]
    pub(crate) messages: Vec<Arc<Message>>,
    /// The summary that it takes the place of.
    #[serde(skip)]
    pub(crate) earlier: Option<Summary>,
    /// The texts that were refused, and why.
    #[serde(skip)]
    pub(crate) refused: Vec<(String, Vec<Refusal>)>,
    /// The facts in what gives way, and the rules by which they were found.
    #[serde(skip)]
    pub(crate) found: OnceLock<(Vec<FactRule>, Vec<Fact>)>,
}

/// A request that asks for a summary.
#[derive(Debug)]
#[non_exhaustive]
pub struct SummaryRequest {
    /// What is sent.
    pub request: Request,
    /// What the model reads.
    pub form: SummaryForm,
}

/// What the model reads that writes a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SummaryForm {
    /// The session's own next request, with one more message: most of it is in the cache.
    Extended,
    /// A transcript of what is to be covered.
    Transcript,
}

/// What became of a text that was to be the summary.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Compacted {
    /// It is the summary now.
    Taken(CompactedReport),
    /// It was refused: ask once more, the next request says why.
    Again(Vec<Refusal>),
    /// It was refused as the one before: a digest that was made without a model is the summary
    /// now.
    Digest(CompactedReport, Vec<Refusal>),
}

/// What an answer is that was to be the summary.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Judged {
    /// It keeps the contract.
    Kept,
    /// It breaks it: ask once more, the next request says why.
    Again(Vec<Refusal>),
    /// It breaks it as the one before.
    Broken(Vec<Refusal>),
}

/// The figures of a compaction that was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CompactedReport {
    /// The messages that gave way.
    pub n_messages: usize,
    /// The tokens of these, with the summary before.
    pub before: u64,
    /// The tokens of the summary.
    pub after: u64,
    /// The facts that were checked.
    pub n_facts: usize,
}

impl Compaction {
    /// Why the texts before were refused, in their order.
    pub fn refused(&self) -> impl Iterator<Item = &[Refusal]> {
        self.refused.iter().map(|(_, why)| &**why)
    }

    /// The messages that give way, in their order.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }
}
