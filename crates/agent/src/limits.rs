//! How much an agent may use.

use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};
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
    /// Money, as far as prices are known; a run tells for which models they are not.
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

/// What a run has used, that of its sub-agents included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Used {
    /// The rounds that it began, without those of sub-agents: what its limit counts.
    pub rounds: u32,
    /// The requests that were sent.
    pub requests: u32,
    /// Those of them whose usage is not known, or only a part of it, such as one that was
    /// interrupted: what they took beyond that is neither in `tokens` nor in `money`.
    pub unknown: u32,
    /// The tokens.
    pub tokens: u64,
    /// What those cost whose price is known.
    pub money: Amount,
    /// How many of the tokens have no known price.
    pub unpriced: u64,
}

impl Used {
    /// What it cost, at least; none, if nothing is known of that.
    pub fn price(&self) -> Option<Amount> {
        let is_known = match self.tokens {
            0 => self.unknown == 0,
            tokens => self.unpriced < tokens,
        };
        is_known.then_some(self.money)
    }

    /// Whether it cost more than is known.
    pub fn is_part(&self) -> bool {
        self.unknown > 0 || self.unpriced > 0
    }
}

/// What a run has used so far, and those above it with it.
#[derive(Debug)]
pub(crate) struct Tally {
    above: Option<Arc<Tally>>,
    used: Mutex<Used>,
    pub(crate) sub_agents: AtomicUsize,
    began: Instant,
    limits: Limits,
}

impl Tally {
    pub(crate) fn new(limits: Limits, above: Option<Arc<Self>>) -> Self {
        Self {
            above,
            used: Mutex::default(),
            sub_agents: AtomicUsize::new(0),
            began: Instant::now(),
            limits,
        }
    }

    fn change(&self, change: impl FnOnce(&mut Used)) {
        change(&mut self.used.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn used(&self) -> Used {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request.
    pub(crate) fn begin_round(&self) {
        self.change(|used| used.rounds += 1);
    }

    /// Counts a request that was sent, and whether it is known what it took.
    pub(crate) fn sent(&self, is_known: bool) {
        self.change(|used| {
            used.requests += 1;
            used.unknown += u32::from(!is_known);
        });
        if let Some(above) = &self.above {
            above.sent(is_known);
        }
    }

    /// Counts an answer.
    pub(crate) fn note(&self, answer: &Answer) {
        self.add(answer.spent.map_or(0, |spent| spent.total()), answer.price);
    }

    /// Counts texts that were asked for as summaries.
    pub(crate) fn note_texts(&self, texts: &[SummaryText]) {
        for text in texts {
            self.add(text.spent.map_or(0, |spent| spent.total()), text.price);
        }
    }

    /// Counts tokens, and what they cost if that is known.
    pub(crate) fn add(&self, tokens: u64, price: Option<Amount>) {
        self.change(|used| {
            used.tokens += tokens;
            match price {
                Some(price) => used.money = used.money + price,
                None => used.unpriced += tokens,
            }
        });
        if let Some(above) = &self.above {
            above.add(tokens, price);
        }
    }

    /// The limit that is reached, of this run or of one above it.
    pub(crate) fn reached(&self) -> Option<Limit> {
        let (Limits { rounds, tokens, money, time, .. }, used) = (&self.limits, self.used());
        let own = [
            (Limit::Rounds, rounds.is_some_and(|most| used.rounds >= most)),
            (Limit::Tokens, tokens.is_some_and(|most| used.tokens >= most)),
            (Limit::Money, money.is_some_and(|most| used.money >= most)),
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

    /// Whether this run, or one above it, has a limit of money.
    pub(crate) fn limits_money(&self) -> bool {
        self.limits.money.is_some() || self.above.as_ref().is_some_and(|above| above.limits_money())
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The run of the main agent.
    pub(crate) fn top(&self) -> &Self {
        self.above.as_ref().map_or(self, |above| above.top())
    }
}
