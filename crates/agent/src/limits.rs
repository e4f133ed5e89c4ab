//! How much an agent may use.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use interleaf_transport::{Amount, Answer, SummaryText};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// How much a run of an agent may use. What its sub-agents use counts as its own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Requests of its own: each agent has its own number.
    pub rounds: Option<u32>,
    /// Tokens, sent and made.
    pub tokens: Option<u64>,
    /// Money, as far as prices are known.
    pub money: Option<Amount>,
    /// Time.
    pub time: Option<Duration>,
    /// Sub-agents in all.
    pub sub_agents: usize,
    /// Sub-agents of one agent, or steps of a plan, at the same time.
    pub at_once: usize,
    /// Sub-agents of sub-agents: how deep.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rounds: Some(200),
            tokens: None,
            money: None,
            time: None,
            sub_agents: 64,
            at_once: 4,
            depth: 2,
        }
    }
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// Of requests.
    Rounds,
    /// Of tokens.
    Tokens,
    /// Of money.
    Money,
    /// Of time.
    Time,
    /// Of the length of an answer, as the API has it: the last word is not whole.
    Length,
}

impl Limit {
    const ALL: [Self; 5] = [Self::Rounds, Self::Tokens, Self::Money, Self::Time, Self::Length];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Tokens => "tokens",
            Self::Money => "money",
            Self::Time => "time",
            Self::Length => "length",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.as_str() == name)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a run has used so far, and those above it with it.
#[derive(Debug)]
pub(crate) struct Tally {
    above: Option<Arc<Tally>>,
    rounds: AtomicU32,
    /// Requests that were sent, of those below it too.
    requests: AtomicU32,
    /// Those of them of whose usage not all was told.
    unknown: AtomicU32,
    tokens: AtomicU64,
    money: std::sync::Mutex<Amount>,
    pub(crate) sub_agents: AtomicUsize,
    began: Instant,
    limits: Limits,
}

impl Tally {
    pub(crate) fn new(limits: Limits, above: Option<Arc<Self>>) -> Self {
        Self {
            above,
            rounds: AtomicU32::new(0),
            requests: AtomicU32::new(0),
            unknown: AtomicU32::new(0),
            tokens: AtomicU64::new(0),
            money: std::sync::Mutex::default(),
            sub_agents: AtomicUsize::new(0),
            began: Instant::now(),
            limits,
        }
    }

    /// Counts a request.
    pub(crate) fn begin_round(&self) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request that was sent, and whether it is known what it took.
    pub(crate) fn sent(&self, is_known: bool) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.unknown.fetch_add(u32::from(!is_known), Ordering::Relaxed);
        if let Some(above) = &self.above {
            above.sent(is_known);
        }
    }

    pub(crate) fn requests(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    pub(crate) fn unknown(&self) -> u32 {
        self.unknown.load(Ordering::Relaxed)
    }

    /// Counts an answer.
    pub(crate) fn note(&self, answer: &Answer) {
        let tokens = answer.spent.map_or(0, |spent| spent.total());
        self.add(tokens, answer.price.unwrap_or_default());
    }

    /// Counts texts that were asked for as summaries.
    pub(crate) fn note_texts(&self, texts: &[SummaryText]) {
        for text in texts {
            let tokens = text.spent.map_or(0, |spent| spent.total());
            self.add(tokens, text.price.unwrap_or_default());
        }
    }

    pub(crate) fn add(&self, tokens: u64, money: Amount) {
        self.tokens.fetch_add(tokens, Ordering::Relaxed);
        let mut sum = self.money.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *sum = *sum + money;
        drop(sum);
        if let Some(above) = &self.above {
            above.add(tokens, money);
        }
    }

    pub(crate) fn rounds(&self) -> u32 {
        self.rounds.load(Ordering::Relaxed)
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    pub(crate) fn money(&self) -> Amount {
        *self.money.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The limit that is reached, of this run or of one above it.
    pub(crate) fn reached(&self) -> Option<Limit> {
        let Limits { rounds, tokens, money, time, .. } = self.limits;
        let own = [
            (Limit::Rounds, rounds.is_some_and(|most| self.rounds() >= most)),
            (Limit::Tokens, tokens.is_some_and(|most| self.tokens() >= most)),
            (Limit::Money, money.is_some_and(|most| self.money() >= most)),
            (Limit::Time, time.is_some_and(|most| self.began.elapsed() >= most)),
        ];
        let own = own.into_iter().find(|(_, is_reached)| *is_reached).map(|(limit, _)| limit);
        own.or_else(|| self.above.as_ref()?.reached().filter(|limit| *limit != Limit::Rounds))
    }

    /// When its time ends, or that of one above it.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let own = self.limits.time.and_then(|time| self.began.checked_add(time));
        let above = self.above.as_ref().and_then(|above| above.deadline());
        [own, above].into_iter().flatten().min()
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The run of the main agent.
    pub(crate) fn top(&self) -> &Self {
        self.above.as_ref().map_or(self, |above| above.top())
    }
}
