//! Answers that the vendor keeps: a request goes on from the last one, and sends what is new.
//!
//! ```text
//!   the request before    [ a b c ]            ─▶ answer d, kept by the vendor as `resp_1`
//!   this request          [ a b c d e f ]      ─▶ sent: [ e f ], after `resp_1`
//! ```
//!
//! The whole request is made, counted, held against the one before and stored as ever: what is
//! sent is cut out of it. It is cut only if all of the request before stands at its beginning,
//! byte for byte, and the answer after that; otherwise the whole is sent, and it is said why.

use std::fmt;

use interleaf_model::{Entry, Finish, Json, Prompt, Provenance};
use interleaf_store::Pieces;
use interleaf_wire::{Cut, Encoded, OwnFields, Vendor};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::impact::{Before, Impact};
use crate::{BreakCause, Target};

/// What is asked of a vendor that keeps answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StoredAnswers {
    /// Nothing: every request says all.
    #[default]
    Off,
    /// To keep them. A request goes on from the last answer wherever it can.
    GoOn,
    /// To keep them. This request says all, as the vendor does not know the last answer.
    Anew,
}

/// Whether a request goes on from an answer that the vendor keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
#[non_exhaustive]
pub enum GoesOn {
    /// It does.
    From {
        /// The API's name for the answer.
        answer: SmolStr,
        /// How many bytes of the request are not sent.
        spared: u64,
    },
    /// It does not: it says all.
    Whole(WholeCause),
}

/// Why a request says all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
#[non_exhaustive]
pub enum WholeCause {
    /// There is no request before it.
    First,
    /// The vendor keeps no answers.
    Unsupported,
    /// The last request, or this one, does not have its answer kept.
    Unstored,
    /// Another vendor is asked.
    Vendor,
    /// Another model is asked.
    Model,
    /// The last request is that of the session which this one is a fork of.
    Fork,
    /// A rollback took the last request back.
    RolledBack,
    /// What was sent before is not what stands at the beginning now.
    Changed(String),
    /// The last request has no answer that was taken whole.
    Unanswered,
    /// The vendor keeps answers for 30 days.
    Expired,
    /// The vendor does not know the answer.
    Unknown,
    /// There is nothing new to send.
    NothingNew,
}

interleaf_model::only_objects!(GoesOn, WholeCause);

/// Where a stored request was cut. What is kept of it with the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredAt {
    /// Where the list of what is said begins, and where it ends.
    start: u64,
    end: u64,
    /// How it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut: Option<StoredCut>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredCut {
    answer: SmolStr,
    /// Where the answer ends.
    from: u64,
    /// The hash of what was sent.
    hash: String,
    /// In whose words it names the answer.
    family: SmolStr,
}

/// How long a vendor keeps an answer at least, in seconds.
const KEPT: u64 = 30 * 24 * 60 * 60;

/// A request as the vendor that keeps answers gets it.
pub(crate) struct Stored {
    pub(crate) goes_on: GoesOn,
    pub(crate) at: Option<StoredAt>,
    /// What is sent, if that is not the whole body.
    pub(crate) sent: Option<Encoded>,
}

/// What a request is cut from.
pub(crate) struct Making<'a> {
    pub(crate) prompt: &'a Prompt,
    pub(crate) body: &'a Encoded,
    pub(crate) pieces: &'a Pieces,
    pub(crate) impact: &'a Impact,
    pub(crate) before: Option<&'a Before>,
    /// Whether the request before was taken back.
    pub(crate) rolled_back: bool,
    pub(crate) target: &'a Target,
    /// The time, in seconds.
    pub(crate) at: u64,
}

impl Making<'_> {
    /// The request as it is sent; nothing is said of it if no answers are to be kept.
    pub(crate) fn stored(&self) -> Option<Stored> {
        let (target, body) = (self.target, self.body);
        if target.stored == StoredAnswers::Off {
            return None;
        }
        let whole = |cause| Stored { goes_on: GoesOn::Whole(cause), at: None, sent: None };
        let Some(start) = target.vendor.list_start(body) else {
            return Some(whole(WholeCause::Unsupported));
        };
        if !is_stored(target) {
            return Some(whole(WholeCause::Unstored));
        }
        let end = body.outline.list.end;
        let at = StoredAt { start: start as u64, end: end as u64, cut: None };
        Some(match self.answer(start) {
            Err(cause) => Stored { at: Some(at), ..whole(cause) },
            Ok((answer, from)) => self.cut(answer, Cut { start, end: from }, at),
        })
    }

    fn cut(&self, answer: SmolStr, cut: Cut, at: StoredAt) -> Stored {
        let pieces = self.target.vendor.going_on(self.body.fragments(), cut, &answer);
        let Some(pieces) = pieces else {
            let goes_on = GoesOn::Whole(WholeCause::Unsupported);
            return Stored { goes_on, at: Some(at), sent: None };
        };
        let mut hash = blake3::Hasher::new();
        for piece in &pieces {
            hash.update(piece);
        }
        let hash = hash.finalize().to_hex().to_string();
        let n_sent: usize = pieces.iter().map(|piece| piece.len()).sum();
        let spared = self.pieces.len().saturating_sub(n_sent as u64);
        let from = cut.end as u64;
        let family = SmolStr::new_static(self.target.vendor.family.as_str());
        let own = StoredCut { answer: answer.clone(), from, hash, family };
        let sent = Some(self.body.with_pieces(pieces));
        Stored {
            goes_on: GoesOn::From { answer, spared },
            at: Some(StoredAt { cut: Some(own), ..at }),
            sent,
        }
    }

    /// The answer that the request goes on from, and where it ends in the body.
    fn answer(&self, start: usize) -> Result<(SmolStr, usize), WholeCause> {
        if self.target.stored == StoredAnswers::Anew {
            return Err(WholeCause::Unknown);
        }
        let before = self.before.ok_or(WholeCause::First)?;
        if before.session.is_some() {
            return Err(WholeCause::Fork);
        }
        if before.vendor != self.target.vendor.name.as_str() {
            return Err(WholeCause::Vendor);
        }
        if before.model != self.target.model() {
            return Err(WholeCause::Model);
        }
        if self.rolled_back {
            return Err(WholeCause::RolledBack);
        }
        let earlier = before.stored.as_ref().ok_or(WholeCause::Unstored)?;
        let (range, now) = (earlier.start..earlier.end, start as u64..self.pieces.len());
        let len = range.end.saturating_sub(range.start);
        if before.body.shared_start(range, self.pieces, now) < len {
            return Err(WholeCause::Changed(match &self.impact.cause {
                BreakCause::Appended | BreakCause::Same => String::new(),
                cause => cause.to_string(),
            }));
        }
        let place = start + usize::try_from(len).unwrap_or(usize::MAX);
        let (entry, end) = self.turn_at(place).ok_or(WholeCause::Unanswered)?;
        let known = entry.message.answered().filter(|known| known.request == Some(before.number));
        let known = known.filter(|known| {
            let is_whole = matches!(known.finish, Some(Finish::Stop | Finish::ToolCalls));
            is_whole && entry.provenance == Provenance::Original
        });
        let answer = known.and_then(|known| known.response).ok_or(WholeCause::Unanswered)?;
        let said = entry.message.at.map(|at| at.as_microseconds() / 1_000_000);
        let said = said.and_then(|said| u64::try_from(said).ok());
        if said.is_some_and(|said| self.at.saturating_sub(said) > KEPT) {
            return Err(WholeCause::Expired);
        }
        if end >= self.body.outline.list.end {
            return Err(WholeCause::NothingNew);
        }
        Ok((answer, end))
    }

    /// The message that alone is the turn which begins at a byte, and where it ends.
    fn turn_at(&self, place: usize) -> Option<(&Entry, usize)> {
        let outline = &self.body.outline;
        let mut begin = outline.settled_end;
        for (end, messages) in &outline.turns {
            if begin == place && messages.len() == 1 {
                return Some((self.prompt.entries().get(messages.start)?, *end));
            }
            begin = *end;
        }
        None
    }
}

impl StoredAt {
    /// What was sent of a whole body; nothing, if that is all of it. None, if it does not have
    /// the hash.
    pub(crate) fn sent(&self, whole: &[u8]) -> Option<Option<Vec<u8>>> {
        let Some(own) = &self.cut else { return Some(None) };
        let vendor = Vendor::of(own.family.parse().ok()?);
        let start = usize::try_from(self.start).ok()?;
        let cut = Cut { start, end: usize::try_from(own.from).ok()? };
        let whole = bytes::Bytes::copy_from_slice(whole);
        let sent = vendor.going_on([&whole], cut, &own.answer)?.concat();
        let is_it = blake3::hash(&sent).to_hex().as_str() == own.hash;
        is_it.then_some(Some(sent))
    }
}

/// Whether an answer is to be kept, as far as this side says.
fn is_stored(target: &Target) -> bool {
    let Some(field) = target.vendor.kept_field() else { return false };
    let said = target.options.rest.get(target.vendor.family, field);
    said.is_none_or(|said| said.as_str() != "false")
}

/// Has the answer kept, unless the settings say otherwise.
pub(crate) fn keep(target: &mut Target) {
    let Some(field) = target.vendor.kept_field() else { return };
    let rest = &mut target.options.rest;
    if rest.iter().next().is_none() {
        *rest = OwnFields::of(target.vendor.family);
    }
    let is_own = rest.is_of(target.vendor.family);
    if let (true, None, Ok(yes)) =
        (is_own, rest.get(target.vendor.family, field), Json::parse("true"))
    {
        rest.set(field, yes);
    }
}

impl fmt::Display for GoesOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::From { answer, spared } => {
                write!(f, "only what is new is sent, after {answer}: {spared} bytes are not")
            }
            Self::Whole(cause) => write!(f, "the whole is sent: {cause}"),
        }
    }
}

impl fmt::Display for WholeCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "there is no request before it",
            Self::Unsupported => "this vendor keeps no answers",
            Self::Unstored => "the answer is not kept",
            Self::Vendor => "another vendor is asked",
            Self::Model => "another model is asked",
            Self::Fork => "the last request is that of the session before the fork",
            Self::RolledBack => "the last request was taken back",
            Self::Changed(why) if why.is_empty() => "what was sent before changed",
            Self::Changed(why) => return write!(f, "what was sent before changed: {why}"),
            Self::Unanswered => "the last request has no whole answer",
            Self::Expired => "the answer is older than 30 days",
            Self::Unknown => "the vendor does not know the answer",
            Self::NothingNew => "there is nothing new",
        })
    }
}
