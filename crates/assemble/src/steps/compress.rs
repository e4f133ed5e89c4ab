//! **Sees** the view as it is.
//! **Guarantees** that the summary stands once, and every message that it covers
//! and may swallow is gone; the rest stays where it is.
//! **Reports** what was swallowed, what was spared, and a summary without ground.

use hashbrown::HashSet;

use interleaf_model::{Blocks, CallId, Entry, Message, MessageId, Provenance, Role};

use super::filter;
use crate::brief::Brief;
use crate::draft::{Draft, entry};
use crate::fence;
use crate::finding::Findings;
use crate::{Cause, Error, FindingKind, Summary, SummaryRole};

pub(crate) fn run(
    brief: &Brief<'_>,
    draft: &mut Draft,
    findings: &mut Findings,
) -> Result<(), Error> {
    let Some(summary) = &brief.recipe.summary else { return Ok(()) };
    if !draft.messages().any(|message| message.id == summary.start) {
        findings.add(FindingKind::Warned, &summary.start, Cause::SummaryStartGone);
        return Ok(());
    }
    let spared = spared(brief, draft, summary);
    let n_out_of_view = {
        let in_view: HashSet<&MessageId> = draft.messages().map(|message| &message.id).collect();
        summary.covers.iter().filter(|id| !in_view.contains(id)).count()
    };
    let mut first = None;
    let mut swallowed = 0;
    let mut kept: Vec<Entry> = Vec::with_capacity(draft.entries.len() + 1);
    for (position, old) in std::mem::take(&mut draft.entries).into_iter().enumerate() {
        if !summary.covers.contains(&old.message.id) {
            kept.push(old);
        } else if let Some(cause) = spared[position] {
            findings.add(FindingKind::Spared, &old.message.id, cause);
            kept.push(old);
        } else {
            swallowed += 1;
            first.get_or_insert(kept.len());
            findings.add(FindingKind::Dropped, &old.message.id, Cause::Summarised);
        }
    }
    let Some(first) = first else {
        // Everything that it covers is shown: it has nothing to stand for.
        findings.add(FindingKind::Warned, &summary.start, Cause::SummaryStandsForNothing);
        draft.entries = kept;
        return Ok(());
    };
    let text = fence::summary(swallowed + n_out_of_view, &summary.text);
    let (place, message) = match brief.recipe.summary_role {
        SummaryRole::System => {
            let head = kept.iter().take_while(|e| e.message.role() == Role::System).count();
            (head, Message::system(&text))
        }
        SummaryRole::User => {
            let task = kept.iter().position(|entry| brief.is_task(&entry.message));
            let place = first.max(task.map_or(0, |task| task + 1));
            (place, Message::user(&text))
        }
    };
    let mut message = message.with_id(MessageId::new(format!("summary:{}", summary.start)));
    message.origin = brief.own_origin();
    kept.insert(place, entry(message, Provenance::Summary));
    draft.entries = kept;
    Ok(())
}

/// For each position, why it may not be swallowed, if so.
fn spared(brief: &Brief<'_>, draft: &Draft, summary: &Summary) -> Vec<Option<Cause>> {
    let mut spared = vec![None; draft.entries.len()];
    // What the filter drops is no one's latest word.
    let speaks = |message: &Message| filter::speaks(&brief.recipe.agent, message);
    if let Some(latest) = draft.entries.iter().rposition(|entry| speaks(&entry.message)) {
        spared[latest] = Some(Cause::LatestUser);
    }
    let blocks = Blocks::find(draft.messages());
    let positions = blocks.positions();
    for (position, message) in draft.messages().enumerate() {
        if message.role() == Role::System {
            spared[position] = Some(Cause::SystemMessage);
        }
        if brief.is_task(message) {
            spared[position].get_or_insert(Cause::Task);
        }
        if brief.pinned.contains(&message.id) {
            let block = blocks.of(position).map_or(vec![position], |b| positions[b].clone());
            block.into_iter().for_each(|position| spared[position] = Some(Cause::Pinned));
        }
    }
    for block in positions {
        let messages = block.iter().map(|&p| &*draft.entries[p].message);
        let is_covered = messages.clone().all(|message| summary.covers.contains(&message.id));
        // What another agent's tool said answers nothing here.
        let heard = messages.filter(|message| brief.recipe.agent.hears(message));
        if !is_covered || !is_answered(heard) {
            for position in block {
                spared[position].get_or_insert(Cause::BlockNotCovered);
            }
        }
    }
    spared
}

/// Whether every call of a tool block has a result in it.
fn is_answered<'a>(block: impl Iterator<Item = &'a Message> + Clone) -> bool {
    let results = block.clone().filter_map(Message::as_result);
    let results: HashSet<&CallId> = results.map(|result| &result.call).collect();
    block.flat_map(Message::calls).all(|call| results.contains(&call.id))
}
