//! **Sees** whole tool blocks, but for one that may be open at the end.
//! **Guarantees** that the context messages stand together, in their order, at the
//! legal position that the rule leads to; without any, the draft stays as it is. Under a
//! rule that amends, what was shown stands where it stood, and only news goes there.
//! **Reports** nothing in findings: the placement has its own place in the report.

use std::sync::Arc;

use interleaf_model::{Entry, Message, MessageId, Provenance, Role};

use crate::brief::Brief;
use crate::delta::{Amending, Kept, News, insert, news};
use crate::draft::{Draft, entry};
use crate::fence::{self, Whole};
use crate::finding::Findings;
use crate::placement::block_texts;
use crate::{
    Agent, Carrier, ContextText, Error, Layout, Placement, PlacementRule, Rebase, Refused, Step,
};

pub(super) fn run(
    brief: &Brief<'_>,
    draft: &mut Draft,
    _findings: &mut Findings,
) -> Result<(), Error> {
    let rule = &brief.recipe.rule;
    rule.check()?;
    if let (Some(kept), Some(amending)) = (brief.memory.kept, rule.amending()) {
        amend(brief, draft, kept, amending);
        return Ok(());
    }
    let block = context_entries(&brief.allotted.context);
    if block.is_empty() {
        return Ok(());
    }
    let layout = Layout::of(&draft.entries);
    let has_head = draft.prior.as_ref().is_none_or(|prior| prior.len_after(Step::Fit) == 0);
    let spot = rule.spot(&layout, &brief.memory, has_head);
    let first = if has_head { first_position(brief, &layout) } else { 0 };
    let position = layout.safe(spot.position).max(first);
    let anchor = spot.anchor.map(|anchor| layout.place(anchor));
    let anchor = anchor.and_then(|place| draft.entries.get(place));
    // A system text that stays in its place may stand before the question.
    let index = match rule {
        PlacementRule::Tail if layout.question() == Some(position) => layout.place(position),
        _ => layout.place_after(position),
    };
    let stays = brief.memory.stood(&layout, has_head).flatten() == Some(position);
    let (carrier, refused) = match brief.memory.previous.filter(|_| stays) {
        // Byte for byte as it was.
        Some(previous) => (previous.carrier, previous.refused),
        None => carrier(brief, &layout, position),
    };
    block.iter().for_each(|entry| draft.carriers.ask(&entry.message.id, carrier));
    draft.placement = Some(Placement {
        rule: rule.to_string(),
        anchor: anchor.map(|entry| entry.message.id.clone()),
        fallback: spot.fallback,
        before_block: position < spot.position.min(layout.len()),
        after: None,
        index,
        messages: block.len(),
        carrier,
        refused,
        content: brief.memory.content.clone(),
    });
    draft.entries.splice(index..index, block);
    Ok(())
}

/// In what new texts at a position are to be carried. Right before the message that is to be
/// answered no loop is running that a user message could cut.
fn carrier(brief: &Brief<'_>, layout: &Layout<'_>, position: usize) -> (Carrier, Option<Refused>) {
    match brief.recipe.carrier {
        Carrier::Attached if layout.question() == Some(position) => {
            (Carrier::Message, Some(Refused::BeforeQuestion))
        }
        carrier => (carrier, None),
    }
}

/// Puts what was shown where it stood, and what is new at the tail.
fn amend(brief: &Brief<'_>, draft: &mut Draft, kept: Kept<'_>, amending: Amending) {
    let rule = &brief.recipe.rule;
    let layout = Layout::of(&draft.entries);
    let is_first = draft.prior.is_none();
    let spot = rule.spot(&layout, &brief.memory, is_first);
    let first = if is_first { first_position(brief, &layout) } else { 0 };
    let position = layout.safe(spot.position).max(first);
    let question = layout.question().and_then(|question| layout.id(question).cloned());
    let before_block = position < spot.position.min(layout.len());
    let (carrier, refused) = carrier(brief, &layout, position);
    let place = layout.place_after(position);
    // Elements may go in before it; they belong to the message before them.
    let before = (position > 0).then(|| draft.entries[place - 1].message.clone());
    let next = draft.entries.get(place).map(|entry| entry.message.clone());
    if question.as_ref().is_some_and(|id| kept.stands_after(id)) {
        draft.rebase = Some(Rebase::AfterQuestion);
    }
    let (n_turns, n_settled) = draft.prior.as_ref().map_or((0, 0), |prior| prior.n_turns());
    let n_before = n_turns + position;
    if n_settled + insert(kept, draft, is_first) < kept.n {
        draft.rebase = Some(Rebase::PlaceGone);
    }
    let by = (amending, brief.memory.ways.as_slice());
    let News { mut elements, tail } =
        news(kept, &brief.allotted.context, by, (n_before, question.is_some()), brief.view);
    if elements.is_empty() && tail.is_empty() {
        return;
    }
    let is =
        |entry: &Entry, m: &Option<_>| m.as_ref().is_some_and(|m| Arc::ptr_eq(m, &entry.message));
    let at = match draft.entries.iter().rposition(|entry| is(entry, &before)) {
        Some(before) => before + 1 + elements_from(&draft.entries[before + 1..]),
        None => {
            draft.entries.iter().rposition(|entry| is(entry, &next)).unwrap_or(draft.entries.len())
        }
    };
    draft.placement = Some(Placement {
        rule: rule.to_string(),
        anchor: question,
        fallback: None,
        before_block,
        after: None,
        index: at,
        messages: elements.len() + tail.len(),
        carrier,
        refused,
        content: None,
    });
    let after = draft.entries[..at].iter().rfind(|entry| is_said(entry));
    let after = after.map(|entry| entry.message.id.clone());
    for element in &mut elements {
        element.after.clone_from(&after);
        element.carrier = carrier;
    }
    let entries = elements.iter().enumerate().map(|(i, element)| element.entry(kept.n + i));
    let entries: Vec<Entry> = entries.chain(tail).collect();
    entries.iter().for_each(|entry| draft.carriers.ask(&entry.message.id, carrier));
    draft.entries.splice(at..at, entries);
    draft.news = elements;
}

/// How many elements these entries begin with.
fn elements_from(entries: &[Entry]) -> usize {
    let is_element = |entry: &&Entry| matches!(entry.provenance, Provenance::Element(_));
    entries.iter().take_while(is_element).count()
}

/// Whether a message is one of the conversation's, which a later request finds again.
fn is_said(entry: &Entry) -> bool {
    let is_said = matches!(entry.provenance, Provenance::Original | Provenance::Altered);
    is_said && entry.message.role() != Role::System
}

/// A sub-agent's task comes before the block (C9), and so does what stands in its place.
fn first_position(brief: &Brief<'_>, layout: &Layout<'_>) -> usize {
    let begins_with_user = layout.roles().first() == Some(&Role::User);
    match brief.recipe.agent {
        Agent::Sub(_) => usize::from(begins_with_user),
        Agent::Main => 0,
    }
}

/// Takes the block out again and places it anew, after the history was shortened.
pub(super) fn again(
    brief: &Brief<'_>,
    draft: &mut Draft,
    findings: &mut Findings,
) -> Result<(), Error> {
    if brief.memory.kept.is_some() {
        // What was shown stays, and news stand at the end.
        return Ok(());
    }
    draft.entries.retain(|entry| !matches!(entry.provenance, Provenance::Context(_)));
    run(brief, draft, findings)
}

/// The context block: one user message for each text that says something.
fn context_entries(context: &[ContextText]) -> Vec<Entry> {
    let made = |context: &ContextText| {
        let id = MessageId::new(format!("context:{}", context.kind.as_str()));
        let message = Message::user(&fence::context(&context.kind, Whole::of(context)));
        entry(message.with_id(id), Provenance::Context(context.kind.clone()))
    };
    block_texts(context).into_iter().map(made).collect()
}
