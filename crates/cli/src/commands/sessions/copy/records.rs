//! How the records of a session became what they are.
//!
//! A store tells how they were at any event, and not what changed. So states are compared,
//! ever closer where they differ; what was made and removed again within a few events may
//! be passed over.

use std::collections::BTreeMap;

use interleaf::model::Timestamp;
use interleaf::store::{Record, RecordFilter, RecordKind, SessionId};

use super::RecordItem;
use crate::failure::Failure;
use crate::kept::Kept;

/// How many states are looked at even if they are all the same, and how close.
const STATES: u64 = 64;
const CLOSE: u64 = 16;

/// The records at one event.
pub(super) type State = BTreeMap<(RecordKind, String), Record>;

/// The records as they were when the session had so many events.
pub(super) fn state(kept: &Kept, id: SessionId, seq: u64) -> Result<State, Failure> {
    let which = RecordFilter { kind: None, as_of: Some(seq) };
    let records = kept.ask(kept.store.records(id, which))?;
    Ok(records.into_iter().map(|record| ((record.kind, record.key.clone()), record)).collect())
}

/// What changed from one event to another, in order.
pub(super) struct History<'a> {
    pub(super) kept: &'a Kept,
    pub(super) id: SessionId,
    /// When something was removed is not known; this is said instead.
    pub(super) removed_at: Timestamp,
    /// How many events the session has.
    pub(super) events: u64,
    pub(super) items: Vec<RecordItem>,
}

impl History<'_> {
    pub(super) fn between(
        &mut self,
        (from, before): (u64, &State),
        (upto, after): (u64, &State),
    ) -> Result<(), Failure> {
        if before == after && upto - from <= CLOSE.max(self.events / STATES) {
            return Ok(());
        }
        if upto <= from + 1 {
            self.note(before, upto, after);
            return Ok(());
        }
        let middle = from + (upto - from) / 2;
        let then = state(self.kept, self.id, middle)?;
        self.between((from, before), (middle, &then))?;
        self.between((middle, &then), (upto, after))
    }

    /// Notes how to get from one state to another at this event. Of the first state only
    /// the keys count: what stays is said again.
    pub(super) fn restate(&mut self, before: &State, at: u64, after: &State) {
        self.note(before, at, &State::new());
        self.items.retain(|item| !after.contains_key(&(item.kind, item.key.clone())));
        self.note(&State::new(), at, after);
        for item in &mut self.items {
            item.seq = item.seq.max(at);
        }
    }

    fn note(&mut self, before: &State, upto: u64, after: &State) {
        for (kind, key) in before.keys().filter(|key| !after.contains_key(*key)) {
            let (kind, key) = (*kind, key.clone());
            self.items.push(RecordItem { kind, key, seq: upto, at: self.removed_at, body: None });
        }
        let mut changed: Vec<&Record> = after
            .iter()
            .filter(|(key, now)| before.get(*key) != Some(now))
            .map(|(_, r)| r)
            .collect();
        changed.sort_by_key(|record| record.no);
        for Record { kind, key, seq, at, body, .. } in changed {
            let (kind, key, body) = (*kind, key.clone(), Some(body.clone()));
            self.items.push(RecordItem { kind, key, seq: *seq, at: *at, body });
        }
    }
}
