//! What came of playing sessions, for programs.

use interleaf_cache::Certainty;
use interleaf_model::Usage;
use serde::Serialize;
use smol_str::SmolStr;

use super::{Figures, Script, Shares};

/// The version of the form.
const VERSION: u32 = 1;

/// Sessions that were played, each in every way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    interleaf_replay: u32,
    /// What a million tokens cost, if somebody says so. The costs are in tokens all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
    /// The sessions.
    pub sessions: Vec<PlayedSession>,
}

/// A session that was played.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlayedSession {
    /// What people call it.
    pub name: String,
    /// The sub-agent whose requests they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<SmolStr>,
    /// The context sources that were found.
    pub context: Vec<SmolStr>,
    /// What its reader should know.
    pub notes: Vec<String>,
    /// The requests as they were recorded.
    pub recorded: Vec<RecordedRequest>,
    /// Each way.
    pub plays: Vec<Play>,
}

/// A request as it was recorded.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// Its number in the session.
    pub request: u64,
    /// When it was made, in seconds since the first.
    pub at: u64,
    /// Who was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor: Option<SmolStr>,
    /// Which model was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<SmolStr>,
    /// What happened since the request before, beside what was said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<SmolStr>,
    /// What the API says that it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// A session played in one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Play {
    /// The rule of placement; `none` is the session without context.
    pub rule: String,
    /// The context window; absent if it is as it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Whose cache it is.
    pub vendor: SmolStr,
    /// How sure the rules of that cache are.
    pub certainty: &'static str,
    /// All requests together.
    pub totals: Totals,
    /// Each request.
    pub requests: Vec<PlayedRequest>,
}

/// All requests together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Totals {
    /// How many were made.
    pub requests: usize,
    /// How many could not be made.
    pub refused: usize,
    /// The tokens of their prompts.
    pub tokens: u64,
    /// The tokens that are read from the cache.
    pub read: u64,
    /// The tokens that are written to it at a price of their own.
    pub written: u64,
    /// The tokens that the model computes.
    pub computed: u64,
    /// What they cost, in tokens that are not cached.
    pub cost: f64,
}

/// A request that was played.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PlayedRequest {
    /// It was made.
    Made(Reading),
    /// It could not be made.
    Refused {
        /// Its number in the session.
        request: u64,
        /// Why.
        refused: String,
    },
}

/// What a request takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Reading {
    /// Its number in the session.
    pub request: u64,
    /// The tokens of its prompt.
    pub tokens: u64,
    /// The system text.
    pub system: u64,
    /// The tools.
    pub tools: u64,
    /// The summary.
    pub summary: u64,
    /// The conversation and the context, by who said them.
    #[serde(flatten)]
    pub shares: Shares,
    /// The tokens that are read from the cache.
    pub read: u64,
    /// The tokens that are written to it at a price of their own.
    pub written: u64,
    /// The tokens that the model computes.
    pub computed: u64,
    /// What it costs, in tokens that are not cached.
    pub cost: f64,
}

impl Outcome {
    /// What its JSON begins with, by which it is known.
    pub const BEGINS: &'static str = "{\"interleaf_replay\":";

    pub(super) fn of(sessions: Vec<PlayedSession>) -> Self {
        Self { interleaf_replay: VERSION, price: None, sessions }
    }
}

impl PlayedSession {
    pub(super) fn of(script: &Script) -> Self {
        let told = script.turns.iter().filter(|turn| !turn.is_shared);
        let recorded = told.map(|turn| RecordedRequest {
            request: turn.number,
            at: turn.at,
            vendor: turn.target.as_ref().map(|target| SmolStr::new(&target.vendor.name)),
            model: turn.target.as_ref().map(|target| SmolStr::new(target.model())),
            events: turn.events.clone(),
            usage: turn.usage,
        });
        Self {
            name: script.name.clone(),
            agent: script.agent.name().map(|name| SmolStr::new(name.as_str())),
            context: script.sources(),
            notes: script.notes.clone(),
            recorded: recorded.collect(),
            plays: Vec::new(),
        }
    }

    /// What the API says that all requests took, if it said so of each.
    pub fn reported(&self) -> Option<Usage> {
        let mut all = Usage::default();
        for request in &self.recorded {
            all += request.usage?;
        }
        (!self.recorded.is_empty()).then_some(all)
    }
}

impl Outcome {
    /// How many requests could be made, in all ways.
    pub fn n_made(&self) -> usize {
        let plays = self.sessions.iter().flat_map(|session| &session.plays);
        plays.map(|play| play.totals.requests).sum()
    }
}

impl Totals {
    pub(super) fn add(&mut self, request: &PlayedRequest) {
        let PlayedRequest::Made(made) = request else {
            self.refused += 1;
            return;
        };
        self.requests += 1;
        self.tokens += made.tokens;
        self.read += made.read;
        self.written += made.written;
        self.computed += made.computed;
        self.cost += made.cost;
    }

    /// The part of the prompts that is read from the cache.
    pub fn reuse(&self) -> f64 {
        self.read as f64 / self.tokens.max(1) as f64
    }
}

impl PlayedRequest {
    /// What it takes, if it was made.
    pub fn made(&self) -> Option<&Reading> {
        match self {
            Self::Made(made) => Some(made),
            Self::Refused { .. } => None,
        }
    }
}

impl Reading {
    pub(super) fn of(request: u64, figures: Figures) -> Self {
        let Figures { tokens, shares, used, cost } = figures;
        Self {
            request,
            tokens: used.prompt,
            system: tokens.system,
            tools: tokens.tools,
            summary: tokens.summary,
            shares,
            read: used.read,
            written: used.written,
            computed: used.computed(),
            cost,
        }
    }
}

pub(super) fn certainty(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Measured => "measured",
        Certainty::Documented => "documented",
        Certainty::Reported => "reported",
    }
}
