//! What changes if a session's next request goes to another vendor or model (H9).
//!
//! ```text
//!   the next request, for the current target ─┐
//!                                             ├─▶ what is lost · does it fit · the cold cache
//!   the same request, for the new one ────────┘                                     └─▶ pays back
//! ```

mod losses;
mod pay_back;
mod words;

use interleaf_assemble::{Finding, Rate, Tokens};
use interleaf_cache::{Match, Rules, SentPrompt, last_used};
use serde::Serialize;
use smol_str::SmolStr;

pub use losses::{Loss, Losses, LostThinking};
pub use pay_back::{BreakEven, Money, PayBack, Price};

use crate::Cost;

/// What changes if a session's next request goes to another vendor or model. Nothing is sent
/// or noted to find out.
///
/// It is data for programs; as text it is a report for people.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Switch {
    /// The target of the session's requests so far.
    pub from: Side,
    /// The target that it may go to.
    pub to: Side,
    /// What the two APIs cannot take as it was.
    pub losses: Losses,
    /// Whether the request fits the new model's window.
    pub fit: Fit,
    /// What further requests cost at each, and when the change pays back.
    pub pay_back: PayBack,
}

/// The next request, made for one target.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Side {
    /// Who is asked.
    pub vendor: SmolStr,
    /// Which model.
    pub model: SmolStr,
    /// The tokens of the request, as this model's are counted.
    pub tokens: u64,
    /// What counted them.
    pub counter: SmolStr,
    /// At which rate: an estimate learns from what the API reports.
    pub rate: Rate,
    /// What its cache should make of the request. None, if nothing is known of that cache: then
    /// every token is taken to cost its full price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// Whether a request fits a window.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Fit {
    /// The window of the new model.
    pub window: u64,
    /// What is kept free of it for the answer.
    pub reserve: u64,
    /// The tokens of the request, by part, if nothing gives way.
    pub tokens: Tokens,
    /// Whether they fit.
    pub fits: bool,
    /// What would give way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gives_way: Vec<Finding>,
    /// The tokens of the request that would be left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<u64>,
    /// Why it cannot be made to fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Side {
    /// What the prompt costs, in tokens of a prompt without a cache.
    pub fn price(&self) -> f64 {
        self.cost.as_ref().map_or(self.tokens as f64, |cost| cost.price)
    }
}

/// A request that was sent, or is the next: what it shares with the one before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) shared: u64,
    pub(crate) tokens: u64,
    /// Up to where a cache that goes by marks had the one before, and up to where it has this
    /// one, if that is known.
    pub(crate) marks: Option<(u64, u64)>,
    /// The tokens of its answer, if it is known.
    pub(crate) answer: Option<u64>,
}

/// Whose cache requests are sent to, and whether they carry marks for it.
pub(crate) struct Caching {
    pub(crate) rules: Option<Rules>,
    pub(crate) marked: bool,
    /// How many of this model's tokens one of a sample's is.
    pub(crate) scale: f64,
}

impl Caching {
    /// What a request like this one costs, if the one before it was sent here too.
    pub(crate) fn warm(&self, sample: Sample) -> f64 {
        let scaled = |tokens: u64| (tokens as f64 * self.scale) as u64;
        let (shared, tokens) = (scaled(sample.shared.min(sample.tokens)), scaled(sample.tokens));
        let Some(rules) = &self.rules else { return tokens as f64 };
        let by_marks = matches!(rules.matches, Match::Marks { .. });
        let marks = sample.marks.filter(|_| by_marks);
        let (kept, own) = marks.map_or((shared, tokens), |(kept, own)| (scaled(kept), scaled(own)));
        let n_marks = usize::from(self.marked);
        let (at_kept, at_own) = (&[kept][..n_marks], &[own][..n_marks]);
        let before = SentPrompt { tokens: kept, marks: at_kept, ..SentPrompt::default() };
        let this =
            SentPrompt { at: 1, shared: kept, tokens, marks: at_own, ..SentPrompt::default() };
        let [used] = last_used(rules, &[before], [&this]);
        rules.prices.cost(used)
    }
}
