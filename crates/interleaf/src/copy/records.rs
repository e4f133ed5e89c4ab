//! How the records of a session became what they are.
//!
//! A store tells how they were at any event, and not what changed. So states are compared,
//! ever closer where they differ; what was made and removed again within a few events may
//! be passed over.

use std::collections::BTreeMap;
use std::sync::Arc;

use interleaf_model::Timestamp;
use interleaf_store::{Record, RecordFilter, RecordKind, SessionId, Store};

use super::RecordItem;
use crate::Error;

/// How many states are looked at even if they are all the same, and how close.
const STATES: u64 = 64;
const CLOSE: u64 = 16;

/// The records at one event.
pub(super) type State = BTreeMap<(RecordKind, String), Record>;

/// The records as they were when the session had `seq` events.
pub(super) async fn state(store: &dyn Store, id: SessionId, seq: u64) -> Result<State, Error> {
    let which = RecordFilter { kind: None, as_of: Some(seq) };
    let records = store.records(id, which).await.map_err(Error::store)?;
    Ok(records.into_iter().map(|record| ((record.kind, record.key.clone()), record)).collect())
}

/// What changed from one event to another, in order.
pub(super) struct History<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) id: SessionId,
    /// When something was removed is not known; this is said instead.
    pub(super) removed_at: Timestamp,
    /// How many events the session has.
    pub(super) events: u64,
    pub(super) items: Vec<RecordItem>,
}

impl History<'_> {
    /// Notes what changed between two events, given how it was at both.
    pub(super) async fn between(
        &mut self,
        from: (u64, State),
        upto: (u64, State),
    ) -> Result<(), Error> {
        // The later half waits while the earlier one is looked at.
        let mut open = vec![(from.0, Arc::new(from.1), upto.0, Arc::new(upto.1))];
        while let Some((from, before, upto, after)) = open.pop() {
            if before == after && upto - from <= CLOSE.max(self.events / STATES) {
                continue;
            }
            if upto <= from + 1 {
                self.note(&before, upto, &after);
                continue;
            }
            let middle = from + (upto - from) / 2;
            let then = Arc::new(state(self.store, self.id, middle).await?);
            open.push((middle, then.clone(), upto, after));
            open.push((from, before, middle, then));
        }
        Ok(())
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
