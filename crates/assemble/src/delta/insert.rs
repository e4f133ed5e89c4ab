//! The elements that were shown before, back in their places.

use interleaf_model::{Entry, Role};

use super::Kept;
use crate::draft::Draft;

/// Puts elements back after the messages of a repaired draft that they stood after, and
/// those that opened the conversation before its first message, if that is here. Gives how
/// many.
///
/// A place inside a tool block is one that a late result has filled up: the element goes
/// after the block.
pub(crate) fn insert(kept: Kept<'_>, draft: &mut Draft, is_first: bool) -> usize {
    if kept.is_empty() {
        return 0;
    }
    let Kept { shown, n, .. } = kept;
    let Draft { entries, carriers, .. } = draft;
    let mut at = |anchor: &Option<_>| {
        let numbers = shown.anchors.get(anchor).into_iter().flatten();
        let numbers = numbers.take_while(move |&&no| no < n);
        let mut put = |&no: &usize| {
            let entry = shown.entries[no].clone();
            carriers.ask(&entry.message.id, shown.elements[no].carrier);
            entry
        };
        numbers.map(&mut put).collect::<Vec<Entry>>()
    };
    let mut waiting: Vec<Entry> = if is_first { at(&None) } else { Vec::new() };
    let mut out = Vec::with_capacity(entries.len() + waiting.len() + 4);
    let (mut n_inserted, mut n_open) = (0, 0);
    let mut flush = |waiting: &mut Vec<Entry>, out: &mut Vec<Entry>| {
        n_inserted += waiting.len();
        out.append(waiting);
    };
    for entry in entries.drain(..) {
        let message = &entry.message;
        match message.role() {
            Role::System => {
                out.push(entry);
                continue;
            }
            Role::Tool => n_open = usize::saturating_sub(n_open, 1),
            Role::User => n_open = 0,
            Role::Assistant => n_open = message.calls().count(),
        }
        if message.role() != Role::Tool {
            flush(&mut waiting, &mut out);
        }
        if !message.id.is_unassigned() {
            waiting.extend(at(&Some(message.id.clone())));
        }
        out.push(entry);
        if n_open == 0 {
            flush(&mut waiting, &mut out);
        }
    }
    flush(&mut waiting, &mut out);
    *entries = out;
    n_inserted
}
