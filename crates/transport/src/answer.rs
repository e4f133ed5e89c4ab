//! An answer, and what it took to get it.

use std::sync::Arc;

use interleaf::Impact;
use interleaf::model::{Message, Reply, Spent};
use smol_str::SmolStr;

use crate::{Amount, Attempts, CompactionDone};

/// An answer, and what it took to get it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Answer {
    /// What the model said.
    pub reply: Reply,
    /// Who served it: with a fall-back, not always the first that was asked.
    pub vendor: SmolStr,
    /// Which model was asked.
    pub model: SmolStr,
    /// What it cost, in parts that do not overlap, as the API reported it. None: unknown.
    pub spent: Option<Spent>,
    /// What that comes to in money, if the model's rates are known.
    pub price: Option<Amount>,
    /// How the stream ended, if that was before its end mark (the `[DONE]` of OpenAI Chat). The
    /// model had said why it stops, so the answer is whole; what comes after that, such as its
    /// usage, may be missing.
    pub ended_early: Option<String>,
    /// All that was tried.
    pub attempts: Attempts,
    /// The message that a session keeps of it, if it was asked in one and said something.
    pub message: Option<Arc<Message>>,
    /// In a session: what the request had in common with the one before, and what its cache
    /// was expected to make of it.
    pub impact: Option<Impact>,
    /// How the session was compacted for it.
    pub compactions: Vec<CompactionDone>,
    /// Why a compaction that was due was not done.
    pub not_compacted: Option<String>,
}

impl Answer {
    /// The tokens that the cache was expected to give, in the API's own count, as `explain` tells
    /// them. None, if nobody knows.
    pub fn expected_read(&self) -> Option<u64> {
        self.impact.as_ref()?.predicted(self.reply.usage?)
    }
}
