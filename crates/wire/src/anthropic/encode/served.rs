//! Tools that the API ran itself.

use std::borrow::Cow;
use std::collections::HashSet;

use interleaf_model::{Entry, Message, Opaque};

use super::fields;
use super::parts::{Side, opaque_block};
use crate::adjustment::AdjustmentKind;
use crate::anthropic::wire::Block;
use crate::anthropic::{OWNER, is_legal_id, is_server_id};
use crate::encode::{Context, TurnPlace};
use crate::raw::text;

/// The tools that the API ran itself in a turn: uses and results by their ids.
pub(super) struct Served<'a> {
    uses: HashSet<Cow<'a, str>>,
    results: HashSet<Cow<'a, str>>,
    /// A use may wait for its result until the turn goes on: after it comes nothing, or
    /// nothing but results.
    may_wait: bool,
    /// The turn goes on with one that was interrupted for results, so that a use may be
    /// there.
    goes_on: bool,
}

enum Half<'a> {
    Use(Cow<'a, str>),
    Result(Cow<'a, str>),
    /// With an id that the API never gave.
    Foreign,
}

impl<'a> Served<'a> {
    pub(super) fn of(said: &'a [Entry], place: TurnPlace) -> Self {
        let has_calls = said.iter().any(|entry| entry.message.has_calls());
        let may_wait = place.last || has_calls && !place.spoken_to;
        let goes_on = !place.asked;
        let mut served = Self { uses: HashSet::new(), results: HashSet::new(), may_wait, goes_on };
        for opaque in said.iter().flat_map(|entry| opaques(&entry.message)) {
            match half(opaque) {
                Some(Half::Use(id)) => served.uses.insert(id),
                Some(Half::Result(id)) => served.results.insert(id),
                Some(Half::Foreign) | None => continue,
            };
        }
        served
    }
}

fn opaques(message: &Message) -> impl Iterator<Item = &Opaque> {
    message.parts().filter_map(|part| match part {
        interleaf_model::PartRef::Opaque(opaque) => Some(opaque),
        _ => None,
    })
}

fn half(opaque: &Opaque) -> Option<Half<'_>> {
    if opaque.owner.as_str() != OWNER {
        return None;
    }
    let own = fields(&opaque.value)?;
    let kind = text(own.peek("type")?).ok()?;
    let is_use = kind.ends_with("_tool_use");
    if !is_use && !kind.ends_with("_tool_result") {
        return None;
    }
    let id = own.peek(if is_use { "id" } else { "tool_use_id" });
    let id = id.and_then(|id| text(id).ok()).unwrap_or_default();
    let is_legal = if kind.starts_with("mcp_") { is_legal_id(&id) } else { is_server_id(&id) };
    Some(match (is_legal, is_use) {
        (false, _) => Half::Foreign,
        (true, true) => Half::Use(id),
        (true, false) => Half::Result(id),
    })
}

/// An opaque part of the assistant's. Of a tool that the API ran itself neither half
/// goes alone, but where a turn was interrupted between them.
pub(super) fn served_block<'a>(
    cx: &mut Context<'_>,
    opaque: &'a Opaque,
    message: &Message,
    served: &Served<'_>,
    is_first: bool,
) -> Option<Block<'a>> {
    let is_whole = match half(opaque) {
        Some(Half::Use(id)) => served.may_wait || served.results.contains(&id),
        Some(Half::Result(id)) => is_first && served.goes_on || served.uses.contains(&id),
        Some(Half::Foreign) => false,
        None => true,
    };
    if is_whole {
        return opaque_block(cx, opaque, message, Side::Assistant);
    }
    let detail = "half of a tool that the API ran itself";
    cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, detail);
    None
}

/// Whether the API paused the turn in the middle of its own tools.
pub(super) fn is_paused(said: &[Entry]) -> bool {
    let last = said.last().and_then(|entry| entry.message.parts().next_back());
    let Some(interleaf_model::PartRef::Opaque(opaque)) = last else { return false };
    match half(opaque) {
        Some(Half::Use(_)) => true,
        Some(Half::Result(id)) => {
            let is_alone = said.iter().flat_map(|entry| entry.message.parts()).nth(1).is_none();
            let mut halves = said.iter().flat_map(|entry| opaques(&entry.message)).map(half);
            is_alone || halves.any(|half| matches!(half, Some(Half::Use(used)) if used == id))
        }
        // It is not sent, so the turn ends with what stands before it.
        Some(Half::Foreign) | None => false,
    }
}
