//! What a request costs on the prompt cache, and why (H2).
//!
//! ```text
//!   the body before ─┐
//!                    ├─▶ first difference ─▶ place ─▶ cause
//!   this body ───────┘                        └─────▶ cost, by the rules of the vendor's cache
//! ```
//!
//! A request is held against the last one of the same agent: where the two bodies begin to
//! differ, which message that is, what caused it, and how much the cache should give. Bodies
//! share memory, so that only what is new is looked at. What the next request needs to know
//! of this one is kept with it as a [`Trace`], so that whoever goes on with the session
//! comes to the same result.

mod bodies;
mod cause;
mod cost;
mod frame;
mod head;
mod join;
mod place;
mod spans;
mod stages;
mod trace;
mod verdict;
mod words;
mod written;

use std::sync::Arc;

use interleaf_assemble::{Carrier, Ledger, Report, ShownContext};
use interleaf_cache::{Match, Rules, Used};
use interleaf_conversation::Conversation;
use interleaf_model::{MessageId, Prompt, Tool, Usage};
use interleaf_store::{Pieces, SessionId};
use interleaf_wire::{Encoded, SessionEncoder};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::stored::StoredAt;
use crate::{GoesOn, Target};
use cost::Expected;
pub(crate) use join::Bodies;
use join::Examined;
use spans::Turns;
pub(crate) use stages::RequestRef;
pub(crate) use trace::Trace;
pub use verdict::Verdict;
pub(crate) use words::UNMARKED;

/// What a request has in common with the agent's request before, and what that costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[non_exhaustive]
pub struct Impact {
    /// The number of the request before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<u64>,
    /// The session of the request before, if it is not this one: this one is a fork of it, and
    /// requests are numbered anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_session: Option<SessionId>,
    /// Why the two are not the same.
    pub cause: BreakCause,
    /// The first byte of the body, as it is sent, that is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte: Option<u64>,
    /// Where what the model sees is first another. Marks for the cache are not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The tokens of the whole request, as near as they are known.
    pub tokens: u64,
    /// Whether the tokens are told by the bytes, as nothing counted them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_bytes: bool,
    /// How many of them the API has counted itself, with the request before and its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<Reported>,
    /// What the cache should make of it, if the rules of the vendor's cache are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Whether it goes on from an answer that the vendor keeps, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goes_on: Option<GoesOn>,
}

/// Tokens at the beginning of a request, by two counts: those of the request before and its answer,
/// or as many of them as this one has too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[non_exhaustive]
pub struct Reported {
    /// By ours.
    pub counted: u64,
    /// By the API's.
    pub tokens: u64,
    /// Those of the request before without its answer, by ours and by the API's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<(u64, u64)>,
    /// Those up to its last mark, if the cache goes by marks, by ours and by the API's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<(u64, u64)>,
}

/// Where two requests begin to differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[non_exhaustive]
pub struct Place {
    /// The byte of this body.
    pub byte: u64,
    /// The byte of the body before.
    pub byte_before: u64,
    /// How many tokens stand before it.
    pub token: u64,
    /// The index of the message in the request; before the messages, 0.
    pub message: usize,
    /// That message, unless what was sent before went on and this request ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MessageId>,
}

/// Why a request is not the beginning of the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
#[non_exhaustive]
pub enum BreakCause {
    /// There is no request before it.
    First,
    /// Nothing: it is the same request again.
    Same,
    /// Nothing: all of the request before stands at its beginning.
    Appended,
    /// Another vendor is asked.
    Vendor {
        /// Who was asked before.
        from: SmolStr,
        /// Who is asked now.
        to: SmolStr,
    },
    /// Another model is asked.
    Model {
        /// Which was asked before.
        from: SmolStr,
        /// Which is asked now.
        to: SmolStr,
    },
    /// The tool list.
    Tools {
        /// Tools that are new.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        added: Vec<SmolStr>,
        /// Tools that are gone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed: Vec<SmolStr>,
        /// Tools that say something else.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changed: Vec<SmolStr>,
        /// Whether tools that stayed stand in another order.
        #[serde(default)]
        reordered: bool,
    },
    /// The system text.
    System,
    /// A setting that the cached prompt depends on.
    Setting {
        /// Its place in the body, such as `/tool_choice`.
        name: SmolStr,
    },
    /// A summary: it is new, another, or gone.
    Summary,
    /// A context source.
    Context {
        /// Which: `role`, `todo`, `info`, `notes`, or its name.
        source: SmolStr,
        /// What became of it.
        change: ContextChange,
    },
    /// The cache keeps nothing without marks: the request before had them, and this one has none.
    Marks,
    /// A message is shown shorter than before, or not at all.
    Shortened {
        /// Which message.
        message: MessageId,
        /// Why.
        why: SmolStr,
    },
    /// A message is shown again, or in full: there is room for it.
    Restored {
        /// Which message.
        message: MessageId,
    },
    /// The history was mended there, or no longer is.
    Repaired {
        /// Which message.
        message: MessageId,
        /// Why.
        why: SmolStr,
    },
    /// What is visible was changed.
    Operation {
        /// The operations since the request before.
        names: Vec<SmolStr>,
    },
    /// The API's form of a message is another at its place, such as without its thinking.
    Form {
        /// Which message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageId>,
    },
}

/// What became of a context source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextChange {
    /// It was not there before.
    Added,
    /// It is no longer there.
    Removed,
    /// It says something else.
    Changed,
    /// It says the same, and that is said anew.
    Again,
    /// It stands elsewhere.
    Moved,
    /// It is sent in another [`Carrier`].
    Carried,
}

/// What a vendor's cache should make of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[non_exhaustive]
pub struct Cost {
    /// The name of the cache's rules.
    pub rules: SmolStr,
    /// The tokens that should be read from the cache.
    pub read: u64,
    /// The tokens that should be written to it at a price of their own.
    pub written: u64,
    /// The tokens that the model should compute.
    pub computed: u64,
    /// What the prompt costs, in tokens of a prompt without a cache.
    pub price: f64,
    /// What it would cost if all of the request before stood at its beginning.
    pub unbroken: f64,
    /// Reads are told in steps of this many tokens.
    pub step: u64,
    /// Nothing shorter is kept, by the API's own count.
    #[serde(default)]
    pub minimum: u64,
    /// Whether nothing of it is kept, since the cache keeps no prompts that are so short.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub too_short: bool,
    /// Whether nothing of it is kept, since it carries no marks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmarked: bool,
}

interleaf_model::only_objects!(Impact, Reported, Place, BreakCause, Cost);

/// A request that was just made.
pub(crate) struct Now<'a> {
    pub(crate) prompt: &'a Prompt,
    pub(crate) body: &'a Encoded,
    pub(crate) report: &'a Report,
    /// What earlier requests showed of the context and left where it stood.
    pub(crate) shown: &'a ShownContext,
    pub(crate) ledger: Option<&'a Arc<Ledger>>,
    pub(crate) encoder: &'a SessionEncoder,
    pub(crate) conversation: &'a Conversation,
    pub(crate) target: &'a Target,
    /// In what the recipe has its context sent.
    pub(crate) carrier: Carrier,
    /// The tools that are written into the system text, if the model calls no functions.
    pub(crate) text_tools: Option<&'a [Tool]>,
    /// The bytes of earlier requests, as far as they are at hand.
    pub(crate) bodies: &'a Bodies,
    /// The time, in seconds.
    pub(crate) at: u64,
}

/// The agent's request before.
#[derive(Clone)]
pub(crate) struct Before {
    pub(crate) number: u64,
    /// The session that it is of, if that is another.
    pub(crate) session: Option<SessionId>,
    pub(crate) vendor: String,
    pub(crate) model: String,
    pub(crate) body: Pieces,
    pub(crate) trace: Trace,
    /// What the API said that it took.
    pub(crate) usage: Option<Usage>,
    /// Where it was cut, if its answer was to be kept.
    pub(crate) stored: Option<StoredAt>,
}

/// What a request was made into: what it costs, what is kept of it, and its bytes.
pub(crate) struct Traced {
    pub(crate) impact: Impact,
    pub(crate) trace: Trace,
    pub(crate) body: Pieces,
    /// Earlier requests that the cache may hold and whose bytes are not at hand.
    pub(crate) wanted: Vec<RequestRef>,
}

/// Holds a request against the one before. If the cache gives more for what it holds of a
/// request beside, that is what it costs.
pub(crate) fn trace(now: &Now<'_>, before: Option<&Before>, beside: Option<&Before>) -> Traced {
    let mut traced = against(now, before);
    let Some(mut other) = beside.map(|beside| against(now, Some(beside))) else { return traced };
    traced.wanted.append(&mut other.wanted);
    if let (Some(cost), Some(less)) = (&mut traced.impact.cost, other.impact.cost)
        && less.price < cost.price
    {
        let unbroken = cost.unbroken.min(less.price);
        *cost = Cost { unbroken, ..less };
        traced.trace.stages = other.trace.stages;
    }
    traced
}

fn against(now: &Now<'_>, before: Option<&Before>) -> Traced {
    let body: Pieces = now.body.fragments().cloned().collect();
    let (impact, trace, wanted) = held_against(now, &body, before);
    Traced { impact, trace, body, wanted }
}

fn held_against(
    now: &Now<'_>,
    body: &Pieces,
    before: Option<&Before>,
) -> (Impact, Trace, Vec<RequestRef>) {
    let measure = cost::Measure::of(now, body, before);
    let turns = Turns::of(now, body);
    let made = Examined { now, body, turns: &turns, measure: &measure };
    let parted =
        before.map(|before| join::compare(made, (&before.body, before.trace.list.clone())));
    let placed = parted.as_ref().and_then(|(_, placed)| placed.as_ref());
    let entry = placed.and_then(|placed| placed.entry.as_ref());
    let cause = match before.zip(parted.as_ref()) {
        Some((before, (found, _))) => cause::of(now, before, found, entry),
        None => BreakCause::First,
    };
    let mut trace = Trace::of(now, body, &turns, &measure);
    if let (Some(before), Some(placed)) = (before, placed) {
        trace.keep(&before.trace, placed.shared);
    }
    let mut wanted = Vec::new();
    let how = parted.as_ref().map(|(found, placed)| (found, placed.as_ref()));
    let joined = join::of(made, before, (&cause, how), &mut wanted);
    let has_answer = joined.1.with_answer > joined.1.shared;
    // What the API has reported is of the request before, which another cache may have seen.
    let is_told = joined.1.earlier.is_some() && joined.1.earlier == joined.0.newest();
    let usage = before.and_then(|before| before.usage).filter(|usage| usage.prompt > 0);
    let usage = usage.filter(|_| is_told);
    let expected = cost::of(now, &mut trace, joined, (&measure, usage));
    let (known, cost) = expected.map(|Expected { known, cost }| (known, cost)).unzip();
    let is_appended = cause == BreakCause::Appended;
    let reported = usage.zip(known);
    let reported = reported.and_then(|(usage, known)| known.told(usage, is_appended, has_answer));
    let had_marks = before.is_some_and(|before| before.trace.is_marked());
    let is_unmarked = had_marks && cost.as_ref().is_some_and(|cost| cost.unmarked);
    let is_other = matches!(cause, BreakCause::Vendor { .. } | BreakCause::Model { .. });
    // Whatever else differs, nothing is read for that.
    let cause = if is_unmarked && !is_other { BreakCause::Marks } else { cause };
    let (tokens, by_bytes) = (measure.total, measure.per_thousand.is_some());
    let (found, placed) = parted.unzip();
    let first = found.and_then(|found| found.first);
    let impact = Impact {
        against: before.map(|before| before.number),
        of_session: before.and_then(|before| before.session),
        byte: first,
        place: placed.flatten().map(|placed| placed.place.told(&cause, first, now)),
        tokens,
        by_bytes,
        reported,
        cause,
        cost,
        goes_on: None,
    };
    (impact, trace, wanted)
}

impl Impact {
    /// That of a request which no other came before, of this many tokens.
    pub(crate) fn first(tokens: u64) -> Self {
        let (against, of_session, cause, by_bytes) = (None, None, BreakCause::First, false);
        let (byte, place, reported, cost, goes_on) = (None, None, None, None, None);
        Self { against, of_session, cause, byte, place, tokens, by_bytes, reported, cost, goes_on }
    }
}

impl Place {
    /// Whether it is before the messages: in the tools, the system text or the settings.
    pub fn is_head(&self) -> bool {
        self.message == 0 && self.id.is_none()
    }
}

impl BreakCause {
    /// Whether something that was sent before does not stand at the beginning any more, or is
    /// not looked for there.
    pub fn breaks(&self) -> bool {
        !matches!(self, Self::First | Self::Same | Self::Appended)
    }
}

impl Cost {
    fn new(rules: &Rules, used: Used, unbroken: Used, has_marks: bool) -> Self {
        let needs_marks = matches!(rules.matches, Match::Marks { implicit: false, .. });
        Self {
            too_short: used.prompt < rules.minimum,
            unmarked: needs_marks && !has_marks,
            rules: SmolStr::new(&rules.name),
            read: used.read,
            written: used.written,
            computed: used.computed(),
            price: rules.prices.cost(used),
            // An earlier request may give more than the one right before.
            unbroken: rules.prices.cost(unbroken).min(rules.prices.cost(used)),
            step: rules.matches.step(),
            minimum: rules.minimum,
        }
    }
}
