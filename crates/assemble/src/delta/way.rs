//! How each source is shown under `auto`: amended where it stands, or whole at the tail.
//!
//! ```text
//!   amended:  how often it changes × a change × (its write + the reads until the session ends)
//!   tail:     the whole of it, in every request, and the question after it anew; if the cache
//!             lags, what was said before that as well
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use interleaf_model::{ContextKind, Message, Role};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::cost::size;
use super::{ShownContext, SourceKey, keyed};
use crate::placement::hash_of;
use crate::{CachePrices, ContextText};

/// How far back the requests count that tell how often a source changes.
const MEMORY: u32 = 8;
/// Before this many requests it is not known.
const LEAST: u32 = 3;
/// A source changes its way only for something this much cheaper, so that it does not go to
/// and fro.
const CHEAPER: f64 = 0.85;

/// How a source is shown, and what else was to be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[non_exhaustive]
pub struct SourceWay {
    /// What the source is about.
    pub kind: ContextKind,
    /// Which of the sources of that kind it is.
    #[serde(default)]
    pub nth: u32,
    /// How it is shown.
    pub way: Way,
    /// How many requests have shown it; eight stand for all more.
    pub seen: u32,
    /// In how many of a thousand requests it changes, the last ones counting most.
    pub changes: u32,
    /// The bytes of a change. While the whole of it goes to the tail, they are not known anew.
    pub change: usize,
    /// About what a request costs with it amended, in bytes of a prompt that is not cached.
    pub amended: u64,
    /// The same with the whole of it at the tail.
    pub tail: u64,
    /// The bytes of the question that stands after it at the tail, in the mean: as the text
    /// before it moves on, the cache has it no longer.
    #[serde(default)]
    pub question: u64,
    /// A hash of what it says.
    pub content: SmolStr,
}

interleaf_model::only_objects!(SourceWay);

/// How a source is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Way {
    /// It stays where it was shown, and what changes is said further down.
    Amended,
    /// All of it goes to the tail of each request, and nothing of it stays.
    Tail,
}

/// For example `todo amended, for 12 bytes a request against 300 at the tail`.
impl fmt::Display for SourceWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (way, price, other, instead) = match self.way {
            Way::Amended => ("amended", self.amended, self.tail, "at the tail"),
            Way::Tail => ("at the tail", self.tail, self.amended, "amended"),
        };
        let kind = self.kind.as_str();
        write!(f, "{kind} {way}, for {price} bytes a request against {other} {instead}")
    }
}

/// The sources that go to the tail.
pub(super) fn at_tail(ways: &[SourceWay]) -> BTreeSet<SourceKey> {
    let at_tail = ways.iter().filter(|way| way.way == Way::Tail);
    at_tail.map(|way| (way.kind.clone(), way.nth)).collect()
}

/// How each source is shown next.
pub(crate) fn ways(
    shown: &ShownContext,
    context: &[ContextText],
    prices: CachePrices,
    view: &[Arc<Message>],
) -> Vec<SourceWay> {
    let n_requests = shown.requests_to_come();
    let (asked, round) = (asked(view), round(view));
    let mut ways = Vec::with_capacity(context.len());
    let known: BTreeMap<(&ContextKind, u32), &SourceWay> =
        shown.ways.iter().map(|way| ((&way.kind, way.nth), way)).collect();
    for ((kind, nth), text) in keyed(context) {
        let before = known.get(&(&kind, nth)).copied();
        if text.is_unread {
            ways.extend(before.cloned());
            continue;
        }
        if !text.says_something() {
            continue;
        }
        let says = text.content();
        let content = hash_of([(kind.as_str(), says)]);
        let seen = before.map_or(1, |before| (before.seen + 1).min(MEMORY));
        let changes = before.map_or(0, |before| {
            let now = if before.content == content { 0 } else { 1_000 };
            let mean = i64::from(before.changes);
            let mean = mean + (now - mean) / i64::from(seen);
            u32::try_from(mean).unwrap_or_default()
        });
        let state = shown.states.get(&(kind.clone(), nth));
        let change = state.and_then(|state| state.change);
        // What was never changed is taken to change as a whole.
        let change = change.or(before.map(|before| before.change)).unwrap_or(says.len());
        let amended = f64::from(changes) / 1_000.0
            * change as f64
            * (prices.write + prices.read * n_requests / 2.0);
        let question = before.map_or(asked, |before| {
            let (seen, mean) = (f64::from(seen), before.question as f64);
            (mean + (asked as f64 - mean) / seen).round() as u64
        });
        let moved = (prices.write - prices.read).max(0.0);
        let again = question + if prices.lags { round } else { 0 };
        let tail = says.len() as f64 + again as f64 * moved;
        let way = match before.map_or(Way::Amended, |before| before.way) {
            _ if seen < LEAST => Way::Amended,
            Way::Amended if tail < amended * CHEAPER => Way::Tail,
            Way::Tail if amended < tail * CHEAPER => Way::Amended,
            way => way,
        };
        let (amended, tail) = (amended as u64, tail as u64);
        ways.push(SourceWay {
            kind,
            nth,
            way,
            seen,
            changes,
            change,
            amended,
            tail,
            question,
            content,
        });
    }
    ways
}

/// The bytes of the question that is to be answered: the user's words at the end.
fn asked(view: &[Arc<Message>]) -> u64 {
    let words = view.iter().rev().take_while(|message| message.role() == Role::User);
    words.flat_map(|message| message.texts()).map(|text| text.len() as u64).sum()
}

/// The bytes of what was said last: the model's words and calls, and what came after them.
fn round(view: &[Arc<Message>]) -> u64 {
    let last = view.iter().rposition(|message| message.role() == Role::Assistant).unwrap_or(0);
    view[last..].iter().map(|message| size(message)).sum()
}
