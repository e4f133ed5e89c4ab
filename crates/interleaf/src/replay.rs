//! A session played again under other rules of placement, windows and caches: what each of its
//! requests would have taken (H3).
//!
//! ```text
//!   Session::scripts ──┐              rules × windows × vendors
//!                      ├──▶ Script ──────────▶ play ──────────▶ Outcome ──▶ JSON, plots
//!   read_bodies ───────┘   (what was said,    (the requests,
//!                           what the context   made again; a
//!                           sources said)      cache for each)
//! ```
//!
//! A [`Script`] is what a session's requests were made from. [`run`] makes them again in every
//! way that is asked for, and the [`Outcome`] has the figures of each request; [`plot`] draws
//! them. Played in the way in which it was recorded, a session's requests are the same,
//! message by message.

mod as_sent;
mod bodies;
mod decoded;
mod outcome;
mod play;
pub mod plot;
mod run;
mod seen;
mod stretches;
mod table;
mod way;

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_assemble::{Agent, CachePrices, ContextText, Rate, Summary, View};
use interleaf_cache::{Match, Prices, Rules};
use interleaf_model::{Message, MessageId, Tool, Usage};
use smol_str::SmolStr;

use crate::Target;
use crate::session::Terms;

pub(crate) use self::as_sent::AsSent;
pub use self::bodies::read_bodies;
pub(crate) use self::decoded::{Decoded, Form};
pub use self::outcome::{
    Outcome, Play, PlayedRequest, PlayedSession, Reading, RecordedRequest, Totals,
};
pub use self::play::{Figures, Shares};
pub use self::run::{plan, run};
pub use self::way::{PlayRule, PlayVendor, Way, Ways};

/// A session to be played.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Script {
    /// What people call it.
    pub name: String,
    /// The agent whose requests they are.
    pub agent: Agent,
    /// The system prompts.
    pub system: Vec<Arc<str>>,
    /// The tools of every request.
    pub tools: Arc<[Tool]>,
    /// What comes before each request.
    pub turns: Vec<Turn>,
    /// What its reader should know: where the context comes from, and what is not known.
    pub notes: Vec<String>,
}

/// What comes before a request.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Turn {
    /// Its number in the session.
    pub number: u64,
    /// What is visible from here on, if an operation changed that.
    pub view: Option<View>,
    /// What was said since the request before.
    pub said: Vec<Arc<Message>>,
    /// Which messages are pinned from here on, if these are others.
    pub pinned: Option<BTreeSet<MessageId>>,
    /// The head from here on, if it is another.
    pub head: Option<Arc<ScriptHead>>,
    /// What the context sources say.
    pub context: Vec<ContextText>,
    /// When the request was made, in seconds since the first.
    pub at: u64,
    /// The turn that it goes on from, if that is not the one before: a rollback took later
    /// requests back. Nothing, if it goes on from none.
    pub goes_on_from: Option<Option<usize>>,
    /// Whether the request is that of a session which this one is a fork of. It is played, for
    /// what comes after goes by it, and not told.
    pub is_shared: bool,
    /// Whom the request was made for.
    pub target: Option<Arc<Target>>,
    /// The rate at which its tokens were counted.
    pub rate: Option<Rate>,
    /// What happened since the request before, beside what was said.
    pub events: Vec<SmolStr>,
    /// What the API says that the request took.
    pub usage: Option<Usage>,
    /// How the recipe had it made.
    pub(crate) terms: Option<Arc<Terms>>,
    /// Whether it is known to have been sent without marks for the cache.
    pub(crate) is_unmarked: bool,
    /// The body as it was sent, where that is all that is known.
    pub(crate) sent: Option<Arc<AsSent>>,
}

/// What stands before the conversation of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ScriptHead {
    /// The system prompts.
    pub system: Vec<Arc<str>>,
    /// The tools.
    pub tools: Arc<[Tool]>,
    /// The active summary.
    pub summary: Option<Arc<Summary>>,
}

impl Turn {
    /// These messages and these texts.
    pub fn new(said: Vec<Arc<Message>>, context: Vec<ContextText>) -> Self {
        Self { said, context, ..Self::default() }
    }
}

impl Script {
    /// A session with these turns, and nothing beside them.
    pub fn of(turns: impl IntoIterator<Item = Turn>) -> Self {
        let mut turns: Vec<Turn> = turns.into_iter().collect();
        (0..).zip(&mut turns).for_each(|(number, turn)| turn.number = number);
        Self { turns, ..Self::default() }
    }

    /// Tells how often the head of the requests changed.
    pub(crate) fn note_changes(&mut self) {
        let n_of = |what: &str| {
            let has = |turn: &&Turn| turn.events.iter().any(|event| event == what);
            self.turns.iter().filter(has).count()
        };
        let (system, tools, n) = (n_of("system"), n_of("tools"), self.turns.len());
        if system > 0 {
            self.notes.push(format!(
                "the system text changed before {system} of {n} requests, which breaks the cache \
                 from there on; move what changes into a context source, such as the TODO list"
            ));
        }
        if tools > 0 {
            self.notes.push(format!(
                "the tools or their order changed before {tools} of {n} requests, which breaks the \
                 cache from the start; every rule but `recorded` keeps tools in the order in which \
                 they first came"
            ));
        }
    }

    /// Tells whoever reads the figures if a cache heeds marks, and no request had any.
    pub(crate) fn note_marks(&mut self) {
        let heeds = |turn: &&Turn| {
            let rules = turn.target.as_ref().and_then(|target| target.rules());
            rules.is_some_and(|rules| matches!(rules.matches, Match::Marks { implicit: false, .. }))
        };
        let had_none = |turn: &Turn| match &turn.sent {
            Some(sent) => sent.marks.is_empty(),
            None => turn.is_unmarked,
        };
        let mut heeding = self.turns.iter().filter(heeds).peekable();
        if heeding.peek().is_some() && heeding.all(had_none) {
            let note = "sent without marks, so that nothing was cached where it was sent; every \
                        rule but `recorded` is played with marks";
            self.notes.push(note.to_owned());
        }
    }

    /// The context sources that say something in any of its requests, in their order.
    pub fn sources(&self) -> Vec<SmolStr> {
        let texts = self.turns.iter().flat_map(|turn| &turn.context);
        let spoken = texts.filter(|text| text.is_unread || !text.text.trim().is_empty());
        let mut kinds: Vec<_> = spoken.map(|text| &text.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.into_iter().map(|kind| SmolStr::new(kind.as_str())).collect()
    }
}

/// What a cache charges, for the rule `auto`. Where reads are free nothing is said: there, what
/// was shown always stays.
pub fn cache_prices(rules: &Rules) -> Option<CachePrices> {
    let Prices { read, write } = rules.prices;
    let reach = match rules.matches {
        Match::Prefix { .. } | Match::Units { .. } => usize::MAX,
        // A message has more than one content block.
        Match::Marks { lookback, .. } => lookback * 3 / 5,
        _ => 0,
    };
    let lags = matches!(rules.matches, Match::Units { .. });
    (read > 0.0).then_some(CachePrices { read, write, reach, lags })
}
