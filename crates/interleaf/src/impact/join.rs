//! Which of the requests that the cache may hold a request has most in common with.

use std::collections::HashMap;
use std::ops::Range;

use interleaf_model::Provenance;
use interleaf_store::Pieces;

use super::bodies::{self, Found, Seen};
use super::cost::Measure;
use super::frame::FrameChange;
use super::place::{self, Placed};
use super::spans::Turns;
use super::stages::{Kept, RequestRef, Stages};
use super::{Before, BreakCause, Now};

/// The bytes of earlier requests. What is lost is nothing.
pub(crate) type Bodies = HashMap<RequestRef, Option<Pieces>>;

/// A request that was made, and how to look at it.
#[derive(Clone, Copy)]
pub(super) struct Examined<'a> {
    pub(super) now: &'a Now<'a>,
    pub(super) body: &'a Pieces,
    pub(super) turns: &'a Turns<'a>,
    pub(super) measure: &'a Measure<'a>,
}

/// What a request goes on from.
#[derive(Default)]
pub(super) struct Joined {
    /// The earlier request, by its index; nothing, if it shares nothing with any.
    pub(super) earlier: Option<usize>,
    /// Up to here the two are the same; nothing, if they are to the end.
    pub(super) shared: Option<i64>,
    /// The same, with the answer that it repeats.
    pub(super) with_answer: Option<i64>,
    /// How many tokens stand before the place where they part.
    pub(super) token: Option<u64>,
    /// Where the mark at the head of the earlier one stands in the head of this one, if the
    /// heads part after it.
    pub(super) head_mark: Option<i64>,
}

/// Holds a request against an earlier one.
pub(super) fn compare(made: Examined<'_>, old: (&Pieces, Range<u64>)) -> (Found, Option<Placed>) {
    let Examined { now, body, turns, measure } = made;
    let start = old.1.start;
    let found = bodies::compare(now, body, old);
    let placed = place::of(now, (body, turns), start, &found, measure);
    (found, placed)
}

/// The same, if the bytes of the earlier one are at hand.
fn compare_with(
    made: Examined<'_>,
    stages: &Stages,
    index: usize,
    wanted: &mut Vec<RequestRef>,
) -> Option<(Found, Option<Placed>)> {
    let Kept { sent, list, .. } = stages.get(index).request.as_ref()?;
    let Some(body) = made.now.bodies.get(sent) else {
        wanted.push(*sent);
        return None;
    };
    Some(compare(made, (body.as_ref()?, list.0..list.1)))
}

impl Joined {
    /// Finds the request, given how this one and the one right before part. Where two requests
    /// part from it at one place, they may have more in common with each other: only there is
    /// it worth looking. Requests whose bytes are not at hand are asked for.
    pub(super) fn find(
        made: Examined<'_>,
        stages: &mut Stages,
        (cause, before): (&BreakCause, (&Found, Option<&Placed>)),
        wanted: &mut Vec<RequestRef>,
    ) -> Self {
        let is_other = matches!(cause, BreakCause::Vendor { .. } | BreakCause::Model { .. });
        let mut seen = stages.seen();
        let newest = seen.next();
        let rest: Vec<usize> = seen.collect();
        let Some(newest) = newest else { return Self::default() };
        let compared = is_other.then(|| compare_with(made, stages, newest, wanted)).flatten();
        let parted = match is_other {
            false => Some(before),
            true => compared.as_ref().map(|(found, placed)| (found, placed.as_ref())),
        };
        let mut best = parted.map(|parted| {
            stages.shift(&parted.0.moves);
            Self::with(made, stages, newest, parted)
        });
        let upto = best.as_ref().map_or(i64::MIN, |best| best.upto(made));
        for other in rest {
            let common = stages.common(newest, other);
            let may_share_more = common == upto || (common < 0 && upto < 0);
            if !may_share_more {
                continue;
            }
            let parted = compare_with(made, stages, other, wanted);
            let joined = parted
                .map(|(found, placed)| Self::with(made, stages, other, (&found, placed.as_ref())));
            let more =
                |joined: &Self| best.as_ref().is_none_or(|b| joined.upto(made) > b.upto(made));
            if let Some(joined) = joined.filter(more) {
                best = Some(joined);
            }
        }
        let best = best.unwrap_or_default();
        if let (Some(earlier), Some(end)) = (best.earlier, best.with_answer) {
            let stage = stages.get_mut(earlier);
            stage.answer = stage.answer.max(end - stage.end).max(0);
        }
        best
    }

    fn upto(&self, made: Examined<'_>) -> i64 {
        match self.earlier {
            Some(_) => self.shared.unwrap_or(made.measure.end()),
            None => i64::MIN,
        }
    }

    fn with(
        made: Examined<'_>,
        stages: &Stages,
        index: usize,
        (found, placed): (&Found, Option<&Placed>),
    ) -> Self {
        let mut joined = Self { earlier: Some(index), ..Self::default() };
        match (&found.seen, placed) {
            (Seen::Frame(change), _) if change.has_setting => return Self::default(),
            // Without marks a lone text is shorter, and the same to a model.
            (_, None) => {
                let end = stages.get(index).end;
                joined.with_answer = Some(end.max(made.measure.end()));
            }
            (seen, Some(placed)) => {
                let kept = stages.get(index).request.as_ref();
                let is_appended = matches!(seen, Seen::List { appended: true, .. });
                let answer = kept.filter(|_| is_appended).map_or(0, |kept| answer(kept, placed));
                // Without marks a lone text is shorter: places of the two are not the same then.
                let whole = if is_appended { stages.get(index).end } else { i64::MIN };
                let shared = placed.shared.max(whole);
                joined.shared = Some(shared);
                joined.with_answer = Some(shared + answer);
                joined.token = Some(placed.place.token);
                if let Seen::Frame(FrameChange { mark: Some(mark), byte_before, .. }) = seen {
                    joined.head_mark = Some(placed.shared - (byte_before - mark) as i64);
                }
            }
        }
        joined
    }
}

/// How much of this request is the answer to an earlier one, as the model made it.
fn answer(earlier: &Kept, placed: &Placed) -> i64 {
    let entry = placed.entry.as_ref();
    let entry = entry.filter(|entry| entry.provenance == Provenance::Original);
    let answered = entry.and_then(|entry| entry.message.answered());
    let is_answer = answered.is_some_and(|it| it.request == Some(earlier.sent.number));
    if is_answer && !earlier.thought { placed.rest } else { 0 }
}

/// The requests that the cache may hold, and which of them this one goes on from.
pub(super) fn of(
    made: Examined<'_>,
    before: Option<&Before>,
    (cause, parted): (&BreakCause, Option<(&Found, Option<&Placed>)>),
    wanted: &mut Vec<RequestRef>,
) -> (Stages, Joined) {
    let Some((before, parted)) = before.zip(parted) else { return Default::default() };
    let mut stages = Stages::found_by(made.now, before);
    let joined = Joined::find(made, &mut stages, (cause, parted), wanted);
    (stages, joined)
}
