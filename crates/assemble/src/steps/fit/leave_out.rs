//! Leaving out the oldest whole turns.

use std::collections::HashSet;

use interleaf_model::{Entry, Message, MessageId, Provenance, Role};

use super::held_places;
use crate::draft::{Draft, entry};
use crate::finding::Findings;
use crate::{Cause, Change, Input, Ledger};

/// Leaves out the oldest turns until `excess` tokens are free, rounded up to whole
/// steps. Whether anything was left out.
pub(super) fn run(
    input: &Input<'_>,
    draft: &mut Draft,
    excess: u64,
    step: u64,
    ledger: &Ledger,
    findings: &mut Findings,
) -> bool {
    if excess == 0 {
        return false;
    }
    // The notice that stands for what is gone takes room too.
    let wanted =
        (excess + ledger.message(&notice(&draft.entries, 0).message)).div_ceil(step) * step;
    let held = held_places(input, draft);
    let mut gone: HashSet<usize> = HashSet::new();
    let mut freed = 0;
    let turns = turns(&draft.entries);
    let Some((_latest, old)) = turns.split_last() else { return false };
    for turn in old {
        if freed >= wanted {
            break;
        }
        for &place in turn.iter().filter(|place| !held.contains(place)) {
            freed += ledger.message(&draft.entries[place].message);
            gone.insert(place);
        }
    }
    if gone.is_empty() {
        return false;
    }
    let notice = notice(&draft.entries, gone.len());
    let mut kept: Vec<Entry> = Vec::with_capacity(draft.entries.len());
    for (place, entry) in draft.entries.drain(..).enumerate() {
        if gone.contains(&place) {
            findings.add(Change::Dropped, &entry.message.id, Cause::Budget);
        } else {
            kept.push(entry);
        }
    }
    let head = kept.iter().take_while(|entry| entry.message.role() == Role::System).count();
    findings.add(Change::Made, &notice.message.id, Cause::Budget);
    kept.insert(head, notice);
    draft.entries = kept;
    true
}

/// The places of each turn of the conversation: a run of user messages and all that
/// follows up to the next. What is not conversation belongs to none.
fn turns(entries: &[Entry]) -> Vec<Vec<usize>> {
    let mut turns: Vec<Vec<usize>> = Vec::new();
    let mut after_user = false;
    for (place, entry) in entries.iter().enumerate() {
        let is_history = match entry.provenance {
            Provenance::Original | Provenance::Altered | Provenance::Made => true,
            Provenance::System
            | Provenance::Summary
            | Provenance::Context(_)
            | Provenance::Notice => false,
        };
        let role = entry.message.role();
        if !is_history || role == Role::System {
            continue;
        }
        if turns.is_empty() || (role == Role::User && !after_user) {
            turns.push(Vec::new());
        }
        if let Some(turn) = turns.last_mut() {
            turn.push(place);
        }
        after_user = role == Role::User;
    }
    turns
}

/// The notice that stands for `n` messages.
fn notice(entries: &[Entry], n: usize) -> Entry {
    let messages = if n == 1 { "message" } else { "messages" };
    let text = format!("[{n} earlier {messages} left out to fit the context window.]");
    let first = entries.iter().find(|entry| entry.message.role() != Role::System);
    let id = first.map_or("", |entry| entry.message.id.as_str());
    let message = Message::user(&text).with_id(MessageId::new(format!("{id}:left-out")));
    entry(message, Provenance::Notice)
}
