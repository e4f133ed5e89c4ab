//! What is kept of a request, so that the next one can be held against it.

use std::ops::Range;

use interleaf_assemble::Carrier;
use interleaf_model::{Entry, MessageId, Provenance, Tool};
use interleaf_store::Pieces;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::Now;
use super::cause::n_left_out;
use super::cost::Measure;
use super::place::n_head;
use super::spans::{self, Piece, Turns};
use super::stages::{RequestRef, Stage, Stages, is_usual};

/// As many parts of settled turns are remembered, the newest.
const MOST_KEPT: usize = 64;

/// What is kept of a request, so that the next one can be held against it. Its bytes are
/// stored anyway; this tells what they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trace {
    /// The bytes of the list of turns.
    pub(super) list: Range<u64>,
    /// The batch that was visible.
    pub(super) batch: u32,
    /// How many messages the window had no room for.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub(super) left_out: usize,
    /// The messages that are not as they were said, and where they stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) made: Vec<MadePart>,
    /// In what its context was to be sent, if it had any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) carrier: Option<Carrier>,
    /// What its context sources said, if the rule leaves them where they are until one changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) said: Vec<Named>,
    /// The tools that were written into its system text, if the model calls no functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text_tools: Option<Vec<Named>>,
    /// The tokens of a thousand bytes, if they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) per_thousand: Option<u64>,
    /// What the cache may hold: this request and some before it, the oldest first.
    pub(super) stages: Stages,
}

/// A message of a request that is not as it was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MadePart {
    pub(super) origin: MadeBy,
    /// Its bytes, counted from the beginning of the list of turns: the head has negative ones.
    pub(super) bytes: (i64, i64),
}

/// Where a message came from that is not as it was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MadeBy {
    Context(SmolStr),
    Summary,
    Fitting(MessageId),
    Repair(MessageId),
}

impl MadeBy {
    /// Nothing, if the message is as it was said. What was altered may have been shortened
    /// or mended; the report tells.
    pub(super) fn of(entry: &Entry) -> Option<Self> {
        let id = || entry.message.id.clone();
        Some(match &entry.provenance {
            Provenance::Original | Provenance::System => return None,
            Provenance::Context(kind) | Provenance::Element(kind) => {
                Self::Context(SmolStr::new(kind.as_str()))
            }
            Provenance::Summary => Self::Summary,
            Provenance::Altered | Provenance::Notice => Self::Fitting(id()),
            Provenance::Made => Self::Repair(id()),
            // What it carries is looked at by itself.
            Provenance::Carrying(_) => return None,
        })
    }
}

impl Trace {
    pub(super) fn of(
        now: &Now<'_>,
        body: &Pieces,
        turns: &Turns<'_>,
        measure: &Measure<'_>,
    ) -> Self {
        let list = super::bodies::list_of(now);
        Self {
            batch: now.conversation.current_batch(),
            left_out: n_left_out(now),
            made: made(now, body, turns),
            carrier: carrier(now),
            said: said(now),
            text_tools: now.text_tools.map(text_tools),
            per_thousand: measure.per_thousand,
            stages: Stages::default(),
            list,
        }
    }

    /// Takes over what the request before had in the part that the two share and that is
    /// settled now: it is looked for no more.
    pub(super) fn keep(&mut self, before: &Self, shared: i64) {
        let first = self.made.iter().map(|part| part.bytes.0).filter(|at| *at >= 0).min();
        let end = first.unwrap_or(i64::MAX).min(shared);
        let is_kept = |part: &&MadePart| part.bytes.0 >= 0 && part.bytes.1 <= end;
        let mut made: Vec<MadePart> = before.made.iter().filter(is_kept).cloned().collect();
        made.drain(..made.len().saturating_sub(MOST_KEPT));
        made.append(&mut self.made);
        self.made = made;
    }

    /// Whether it had marks for the cache.
    pub(crate) fn is_marked(&self) -> bool {
        self.stages.last().is_some_and(|stage: &Stage| !stage.marks.is_empty())
    }

    /// The earlier requests that the next one may have more in common with than with this one.
    pub(crate) fn requests(&self) -> impl Iterator<Item = RequestRef> {
        self.stages.requests()
    }

    /// What stood at a byte of the list of turns and was not as it was said.
    pub(super) fn made_at(&self, at: i64) -> Option<&MadeBy> {
        let is_at = |part: &&MadePart| (part.bytes.0..part.bytes.1).contains(&at);
        self.made.iter().find(is_at).map(|part| &part.origin)
    }

    /// Whether it had this context source.
    pub(super) fn has_source(&self, source: &str) -> bool {
        let is_it = |part: &MadePart| matches!(&part.origin, MadeBy::Context(s) if s == source);
        self.made.iter().any(is_it)
    }
}

/// In what the context of a request is to be sent, if it has any.
pub(super) fn carrier(now: &Now<'_>) -> Option<Carrier> {
    now.report.placement.as_ref().map(|_| now.carrier)
}

/// Something by its name, and a hash of what it says.
pub(super) type Named = (SmolStr, SmolStr);

fn named(name: &str, says: &str) -> Named {
    let hash = blake3::hash(says.as_bytes()).to_hex();
    (SmolStr::new(name), SmolStr::new(&hash[..16]))
}

/// What the context sources say, if the rule goes by that.
pub(super) fn said(now: &Now<'_>) -> Vec<Named> {
    let goes_by_it = now.report.placement.as_ref().is_some_and(|it| it.content.is_some());
    if !goes_by_it {
        return Vec::new();
    }
    let of = |entry: &Entry| match &entry.provenance {
        Provenance::Context(kind) => Some(named(kind.as_str(), &entry.message.text())),
        _ => None,
    };
    let each = |entry: &Entry| match entry.apart() {
        Some(apart) => apart.iter().filter_map(of).collect(),
        None => of(entry).into_iter().collect::<Vec<_>>(),
    };
    now.prompt.entries().iter().flat_map(each).collect()
}

/// Tools that are written into the system text.
pub(super) fn text_tools(tools: &[Tool]) -> Vec<Named> {
    let says = |tool: &Tool| {
        let parameters = tool.parameters.as_ref().map_or("", |schema| schema.as_str());
        format!("{}\n{}", tool.description.as_deref().unwrap_or_default(), parameters)
    };
    tools.iter().map(|tool| named(tool.name.as_str(), &says(tool))).collect()
}

/// The messages after the settled ones, and the summary at the head, that are not as they
/// were said.
fn made(now: &Now<'_>, body: &Pieces, turns: &Turns<'_>) -> Vec<MadePart> {
    let (entries, list) = (now.prompt.entries(), now.body.outline.list.start);
    let mut made = Vec::new();
    let mut add = |start: usize, pieces: &[Piece<'_>]| {
        let start = start as i64 - list as i64;
        for Piece { entry, bytes, .. } in pieces {
            if let Some(origin) = MadeBy::of(entry) {
                let bytes = (start + bytes.start as i64, start + bytes.end as i64);
                made.push(MadePart { origin, bytes });
            }
        }
    };
    let is_as_said =
        |entry: &Entry| matches!(entry.provenance, Provenance::Original | Provenance::System);
    let is_made = |entries: &[Entry]| !entries.iter().all(is_as_said);
    let head = &entries[..n_head(entries)];
    if is_made(head) {
        add(0, &spans::of(head, &body.bytes(0..list as u64), usize::MAX));
    }
    for turn in 0..now.body.outline.turns.len() {
        let entries = turns.entries(turn);
        if is_made(entries) {
            add(turns.bytes(turn).start, turns.pieces(turn));
        }
    }
    made
}
