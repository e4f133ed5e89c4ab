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
use crate::{Agent, ContextText, Error, Layout, Placement, Rebase, Step};

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
    let index = layout.place(position);
    draft.placement = Some(Placement {
        rule: rule.to_string(),
        anchor: anchor.map(|entry| entry.message.id.clone()),
        fallback: spot.fallback,
        before_block: position < spot.position.min(layout.len()),
        after: None,
        index,
        messages: block.len(),
        content: brief.memory.content.clone(),
    });
    draft.entries.splice(index..index, block);
    Ok(())
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
    let next = draft.entries.get(layout.place(position)).map(|entry| entry.message.clone());
    if question.as_ref().is_some_and(|id| kept.stands_after(id)) {
        draft.rebase = Some(Rebase::AfterQuestion);
    }
    let (n_turns, n_settled) = draft.prior.as_ref().map_or((0, 0), |prior| prior.n_turns());
    let n_before = n_turns + position;
    if n_settled + insert(kept, &mut draft.entries, is_first) < kept.n {
        draft.rebase = Some(Rebase::PlaceGone);
    }
    let by = (amending, brief.memory.ways.as_slice());
    let News { mut elements, tail } =
        news(kept, &brief.allotted.context, by, (n_before, question.is_some()), brief.view);
    if elements.is_empty() && tail.is_empty() {
        return;
    }
    let is_next = |entry: &Entry| next.as_ref().is_some_and(|m| Arc::ptr_eq(m, &entry.message));
    let at = draft.entries.iter().rposition(is_next).unwrap_or(draft.entries.len());
    draft.placement = Some(Placement {
        rule: rule.to_string(),
        anchor: question,
        fallback: None,
        before_block,
        after: None,
        index: at,
        messages: elements.len() + tail.len(),
        content: None,
    });
    let after = draft.entries[..at].iter().rfind(|entry| is_said(entry));
    let after = after.map(|entry| entry.message.id.clone());
    elements.iter_mut().for_each(|element| element.after.clone_from(&after));
    let entries = elements.iter().enumerate().map(|(i, element)| element.entry(kept.n + i));
    draft.entries.splice(at..at, entries.chain(tail).collect::<Vec<_>>());
    draft.news = elements;
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
