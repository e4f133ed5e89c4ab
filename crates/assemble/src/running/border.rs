//! Where the settled part of a conversation may end.

use interleaf_model::{Entry, Role};

use crate::{Layout, Rule};

/// The place in a repaired draft before which nothing can change any more, if there
/// is one: every rule of placement will find its answer behind it, and the turn
/// before it is the user's and whole.
pub(super) fn border(rule: &Rule, has_block: bool, repaired: &[Entry]) -> Option<usize> {
    let layout = Layout::of(repaired);
    let last_user = layout.nth_last(Role::User, 1);
    let anchor = match *rule {
        Rule::AfterToolResult(n) => match layout.nth_last(Role::Tool, n) {
            Some(result) => result,
            // The rule falls back on the last user message until there are enough
            // results, and then on the first of them.
            None => {
                layout.roles().iter().position(|&r| r == Role::Tool).or(last_user)?.min(last_user?)
            }
        },
        Rule::BeforeAssistant(n) => layout.nth_last(Role::Assistant, n)?,
        Rule::FromEnd(n) => layout.len().checked_sub(n)?,
        Rule::Tail => layout.len(),
        Rule::AfterSystem | Rule::Custom(_) => return None,
    };
    // Without a block the running loop begins with the last user message.
    let anchor = if has_block { anchor } else { anchor.min(last_user?) };
    // The block joins the turn before it, and a mark may stand in the one before that.
    let mut borders = borders(layout.roles(), layout.safe(anchor)).rev();
    let border = borders.nth(2)?;
    Some(layout.place(border))
}

/// The positions up to `end` at which a turn of the assistant's begins behind one of
/// the user's.
fn borders(roles: &[Role], end: usize) -> impl DoubleEndedIterator<Item = usize> {
    let begins = |&at: &usize| {
        roles.get(at) == Some(&Role::Assistant) && roles.get(at - 1) != Some(&Role::Assistant)
    };
    (1..end.min(roles.len())).filter(begins)
}
