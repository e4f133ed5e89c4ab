//! Where a repaired draft may be cut so that its parts can be repaired one by one.

use hashbrown::{HashMap, HashSet};
use std::sync::Arc;

use interleaf_model::{CallId, Entry, Message, MessageId, Provenance, Role};

use super::border;
use super::prior::Prior;
use crate::brief::Brief;
use crate::steps::filter;

/// Fewer messages than this are not worth a stretch of their own.
const SMALLEST: usize = 16;

/// Whether a result that answers nothing may belong to a settled call.
pub(super) fn reaches_back(
    brief: &Brief<'_>,
    prior: &Prior,
    source: &[Entry],
    repaired: &[Entry],
) -> bool {
    let asks = |entry: &&Entry| {
        let result = entry.message.as_result();
        result.is_some_and(|result| prior.has_call(&result.call))
            && filter::unheard(&brief.recipe.agent, &entry.message).is_none()
    };
    let mut asks = source.iter().filter(asks).peekable();
    if asks.peek().is_none() {
        return false;
    }
    let ids: HashSet<&MessageId> = repaired.iter().map(|entry| &entry.message.id).collect();
    asks.any(|entry| !ids.contains(&entry.message.id))
}

/// The places of the source at which it may be cut, ascending and some way apart: what
/// stands on one side was repaired without a look at the other.
pub(super) fn cuts(
    brief: &Brief<'_>,
    has_block: bool,
    source: &[Entry],
    repaired: &[Entry],
) -> Vec<usize> {
    let cuts = border::cuts(brief, has_block, repaired);
    if cuts.last().is_none_or(|&last| last < SMALLEST) {
        return Vec::new();
    }
    if is_unchanged(source, repaired) {
        let mut last = 0;
        let is_apart = |cut: &usize| {
            let is_apart = cut - last >= SMALLEST;
            if is_apart {
                last = *cut;
            }
            is_apart
        };
        return cuts.into_iter().filter(is_apart).collect();
    }
    let Some(places) = places(source, repaired) else { return Vec::new() };
    let unsafe_until = unsafe_until(source, &places);
    // The furthest place so far, and the nearest from here on.
    let mut nearest = places.clone();
    for at in (1..nearest.len()).rev() {
        nearest[at - 1] = nearest[at - 1].min(nearest[at]);
    }
    let mut chosen = Vec::new();
    let (mut furthest, mut seen, mut last) = (0, 0, 0);
    for cut in cuts {
        furthest = places[seen..cut].iter().copied().max().map_or(furthest, |p| furthest.max(p));
        seen = cut;
        let place = places[cut];
        let is_clean = furthest < place && nearest[cut] >= place && unsafe_until[place] <= place;
        if is_clean && cut - last >= SMALLEST {
            chosen.push(place);
            last = cut;
        }
    }
    chosen
}

/// Whether there was nothing to repair, so that every message stands where it came from.
fn is_unchanged(source: &[Entry], repaired: &[Entry]) -> bool {
    let is_same = |(a, b): (&Entry, &Entry)| Arc::ptr_eq(&a.message, &b.message);
    source.len() == repaired.len() && source.iter().zip(repaired).all(is_same)
}

/// For each repaired message the place in the source that it came from; nothing, if
/// that cannot be told.
fn places(source: &[Entry], repaired: &[Entry]) -> Option<Vec<usize>> {
    let mut by_address: HashMap<*const Message, usize> = HashMap::with_capacity(source.len());
    let mut by_id: HashMap<&MessageId, usize> = HashMap::new();
    for (place, entry) in source.iter().enumerate() {
        if by_address.insert(Arc::as_ptr(&entry.message), place).is_some() {
            return None;
        }
    }
    if repaired.iter().any(|entry| entry.provenance == Provenance::Altered) {
        for (place, entry) in source.iter().enumerate() {
            if by_id.insert(&entry.message.id, place).is_some() {
                return None;
            }
        }
    }
    let mut opener = 0;
    let mut places = Vec::with_capacity(repaired.len());
    for entry in repaired {
        let place = match by_address.get(&Arc::as_ptr(&entry.message)) {
            Some(&place) => place,
            // What was made stands with the message that it was made for.
            None if entry.provenance == Provenance::Made => opener,
            None => *by_id.get(&entry.message.id)?,
        };
        if entry.message.role() == Role::Assistant {
            opener = place;
        }
        places.push(place);
    }
    Some(places)
}

/// For each place of the source the place before which no cut at it is safe: between a
/// call and a result that answers nothing, the result would look as if nobody had
/// called.
fn unsafe_until(source: &[Entry], places: &[usize]) -> Vec<usize> {
    let mut until = vec![0; source.len() + 1];
    let shown: HashSet<usize> = places.iter().copied().collect();
    let is_unused = |at: &usize| source[*at].message.role() == Role::Tool && !shown.contains(at);
    let unused: Vec<usize> = (0..source.len()).filter(is_unused).collect();
    if unused.is_empty() {
        return until;
    }
    let mut first_call: HashMap<&CallId, usize> = HashMap::new();
    for (place, entry) in source.iter().enumerate() {
        for call in entry.message.calls() {
            first_call.entry(&call.id).or_insert(place);
        }
    }
    for at in unused {
        let Some(result) = source[at].message.as_result() else { continue };
        if let Some(&call) = first_call.get(&result.call) {
            for place in &mut until[call.min(at)..=at] {
                *place = (*place).max(at + 1);
            }
        }
    }
    until
}
