//! **Sees** whole tool blocks, but for one that may be open at the end.
//! **Guarantees** that the context messages stand together, in their order, at the
//! legal position that the rule leads to; without any, the draft stays as it is.
//! **Reports** nothing in findings: the placement has its own place in the report.

use interleaf_model::{Entry, Message, MessageId, Provenance, Role};

use crate::brief::Brief;
use crate::draft::{Draft, entry};
use crate::fence;
use crate::finding::Findings;
use crate::placement::block_texts;
use crate::{Agent, ContextText, Error, Layout, Placement, Step};

pub(super) fn run(
    brief: &Brief<'_>,
    draft: &mut Draft,
    _findings: &mut Findings,
) -> Result<(), Error> {
    let rule = &brief.recipe.rule;
    rule.check()?;
    let block = context_entries(&brief.recipe.context);
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
    draft.entries.retain(|entry| !matches!(entry.provenance, Provenance::Context(_)));
    run(brief, draft, findings)
}

/// The context block: one user message for each text that says something.
fn context_entries(context: &[ContextText]) -> Vec<Entry> {
    let made = |context: &ContextText| {
        let id = MessageId::new(format!("context:{}", context.kind.as_str()));
        let message = Message::user(&fence::context(&context.kind, &context.text));
        entry(message.with_id(id), Provenance::Context(context.kind.clone()))
    };
    block_texts(context).into_iter().map(made).collect()
}
