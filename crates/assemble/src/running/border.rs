//! Where the settled part of a conversation may end.

use interleaf_model::{Entry, Role};

use crate::brief::Brief;
use crate::placement::STAYING;
use crate::{Layout, PlacementRule};

/// How many turns of the assistant's begin between the settled part and the context
/// block: the block joins the turn before it, and a mark may stand in the one before
/// that.
const MARGIN: usize = 2;

/// Whether the rule finds its answer in what came since the settled turns.
pub(super) fn reaches(
    brief: &Brief<'_>,
    has_block: bool,
    has_results_before: bool,
    repaired: &[Entry],
) -> bool {
    let layout = Layout::of(repaired);
    let Some(anchor) = anchor(brief, has_block, has_results_before, &layout) else { return false };
    borders(layout.roles(), layout.safe(anchor)).count() >= MARGIN
}

/// The places of a repaired draft at which it may be cut, ascending: nothing before the
/// last of them can change any more, every rule of placement will find its answer
/// after it, and the turn before each is the user's and whole.
pub(super) fn cuts(brief: &Brief<'_>, has_block: bool, repaired: &[Entry]) -> Vec<usize> {
    let layout = Layout::of(repaired);
    let Some(anchor) = anchor(brief, has_block, false, &layout) else { return Vec::new() };
    let mut cuts: Vec<usize> = borders(layout.roles(), layout.safe(anchor)).collect();
    cuts.truncate(cuts.len().saturating_sub(MARGIN));
    cuts.into_iter().map(|position| layout.place(position)).collect()
}

/// The position up to which the place of the block is fixed, if it can be known.
fn anchor(
    brief: &Brief<'_>,
    has_block: bool,
    has_results_before: bool,
    layout: &Layout<'_>,
) -> Option<usize> {
    let last_user = layout.nth_last(Role::User, 1);
    let after_result = |n: usize| match layout.nth_last(Role::Tool, n) {
        Some(result) => Some(result),
        None if has_results_before => None,
        // The rule falls back on the last user message until there are enough
        // results, and then on the first of them.
        None => {
            let first = layout.roles().iter().position(|&role| role == Role::Tool);
            Some(first.or(last_user)?.min(last_user?))
        }
    };
    let anchor = match brief.recipe.rule {
        PlacementRule::AfterToolResult(n) => after_result(n)?,
        PlacementRule::Sticky(_) => match brief.memory.stood(layout, false) {
            Some(stood) => stood?.min(after_result(STAYING)?),
            None => after_result(STAYING)?,
        },
        PlacementRule::BeforeAssistant(n) => layout.nth_last(Role::Assistant, n)?,
        PlacementRule::FromEnd(n) => layout.len().checked_sub(n)?,
        PlacementRule::Tail | PlacementRule::Delta(_) | PlacementRule::Auto(_) => {
            layout.question().unwrap_or(layout.len())
        }
        PlacementRule::AfterSystem | PlacementRule::Custom(_) => return None,
    };
    // Without a block the running loop begins with the last user message.
    if has_block { Some(anchor) } else { Some(anchor.min(last_user?)) }
}

/// The positions up to `end` at which a turn of the assistant's begins after one of
/// the user's.
fn borders(roles: &[Role], end: usize) -> impl DoubleEndedIterator<Item = usize> {
    let begins = |&at: &usize| {
        roles.get(at) == Some(&Role::Assistant) && roles.get(at - 1) != Some(&Role::Assistant)
    };
    (1..end.min(roles.len())).filter(begins)
}
