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

mod changes;
mod contract;
mod cover;
mod covers;
mod digest;
mod facts;
mod find;
mod language;
mod outlook;
mod policy;
mod shown;
mod transcript;
mod whole_words;
mod words;

use std::fmt;
use std::sync::{Arc, OnceLock};

use interleaf_assemble::{Ledger, Summary};
use interleaf_model::{Message, MessageId};
use serde::Serialize;

use crate::Request;

pub(crate) use self::contract::{Held, check, unsaid};
pub use self::contract::{Missing, Refusal};
pub(crate) use self::cover::{Glance, Ground, cover, protected};
pub use self::cover::{Spared, SparedCause};
pub use self::covers::Covers;
pub(crate) use self::digest::digest;
pub use self::facts::{Fact, FactLimit, FactRule, FactSource, Facts, PastLimit};
pub(crate) use self::find::find;
pub use self::outlook::{Asks, Outlook};
pub use self::policy::{CompactionPolicy, Figures, Trigger};
pub(crate) use self::transcript::{shortened, transcript};
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
    pub covers: Covers,
    /// How many messages that are shown now give way.
    pub n_messages: usize,
    /// Messages that are older than others that give way, and stay.
    pub spared: Vec<Spared>,
    /// Messages that are newer than all that give way, and may never go: pinned ones, open
    /// calls and the user's latest words.
    pub newest: Vec<Spared>,
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
    pub(crate) messages: Arc<[Arc<Message>]>,
    /// The summary that it takes the place of.
    #[serde(skip)]
    pub(crate) earlier: Option<Arc<Summary>>,
    /// The texts that were refused, and why.
    #[serde(skip)]
    pub(crate) refused: Vec<(String, Vec<Refusal>)>,
    /// The facts in what gives way, and the rules by which they were found.
    #[serde(skip)]
    pub(crate) found: OnceLock<(Vec<FactRule>, Facts)>,
    /// What counted its tokens. The summary is held against them, and so is counted by it too.
    #[serde(skip)]
    pub(crate) counted_by: CountedBy,
}

/// Why no compaction is planned.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NoCompaction {
    /// What made one due, if one is: nothing could be gained then.
    pub due: Option<Trigger>,
    /// The reason, with its figures.
    pub why: String,
}

/// What counted a plan.
#[derive(Clone)]
pub(crate) struct CountedBy(pub(crate) Arc<Ledger>);

impl CountedBy {
    pub(crate) fn tokens(&self, text: &str) -> u64 {
        self.0.text(text)
    }
}

impl fmt::Debug for CountedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.counter().name())
    }
}

impl PartialEq for CountedBy {
    fn eq(&self, other: &Self) -> bool {
        self.0.counter().name() == other.0.counter().name()
    }
}

/// A request that asks for a summary.
#[derive(Debug)]
#[non_exhaustive]
pub struct SummaryRequest {
    /// What is sent.
    pub request: Request,
    /// What the model reads.
    pub form: SummaryForm,
    /// Why it reads that.
    pub because: FormCause,
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

/// Why a model reads a transcript, or the session's own request, to write a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FormCause {
    /// The session's own request is the cheaper one, in tokens at the full price.
    Cheaper {
        /// What the request costs, with what its cache has.
        extended: u64,
        /// What a transcript costs. None: it does not fit.
        transcript: Option<u64>,
    },
    /// A transcript is the cheaper one, in tokens at the full price.
    Dearer {
        /// What the session's own request costs, with what its cache has.
        extended: u64,
        /// What a transcript costs.
        transcript: u64,
    },
    /// Another model than the session's own writes it.
    OtherModel,
    /// No request of the session was recorded: no cache has anything of it.
    NothingCached,
    /// The session's own request does not fit, or leaves out what is to be summarised.
    LeavesOut,
    /// The session's own request waits for results.
    Waits,
    /// What the model's cache makes of a request is not known.
    UnknownCache,
    /// A text was refused, and the next request says why.
    Refused,
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
    /// The facts that were not, for they are past a limit of their rule.
    pub n_left_out: usize,
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
