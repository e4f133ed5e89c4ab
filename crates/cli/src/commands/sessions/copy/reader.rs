//! A session that comes out of a store.

use std::collections::VecDeque;

use interleaf::store::{self, Page, SentRequest, SessionId};

use super::records::{History, State, state};
use super::{Head, Item, PAGE, Parent, RecordItem, VERSION};
use crate::failure::Failure;
use crate::kept::Kept;

/// Reads a session, page by page.
pub(in super::super) struct Reader<'a> {
    kept: &'a Kept,
    pub(in super::super) head: Head,
    next: u64,
    records: VecDeque<RecordItem>,
    requests: VecDeque<SentRequest>,
    next_request: u64,
    ended: bool,
}

impl<'a> Reader<'a> {
    /// All of a session, what it shares with its parent included.
    pub(in super::super) fn whole(kept: &'a Kept, id: SessionId) -> Result<Self, Failure> {
        let head = kept.ask(kept.store.head(id))?;
        Self::from(kept, &head, None, &State::new())
    }

    /// A session whose parent goes the same way, before it: only what is its own.
    pub(in super::super) fn own(kept: &'a Kept, head: &store::Head) -> Result<Self, Failure> {
        let Some(fork) = head.parent else { return Self::from(kept, head, None, &State::new()) };
        // What the parent has then may have changed after the fork, with no event between.
        let inherited = state(kept, fork.session, fork.seq)?;
        Self::from(kept, head, Some(fork.seq), &inherited)
    }

    fn from(
        kept: &'a Kept,
        head: &store::Head,
        first: Option<u64>,
        inherited: &State,
    ) -> Result<Self, Failure> {
        let parent = head.parent.map(|fork| Parent { session: fork.session, seq: fork.seq });
        let (id, events) = (head.id, head.next_seq);
        let mut history = History { kept, id, removed_at: head.created, events, items: vec![] };
        let next = first.unwrap_or(0);
        let start = state(kept, id, next)?;
        history.restate(inherited, next, &start);
        history.between((next, &start), (events, &state(kept, id, events)?))?;
        let head = Head {
            interleaf_session: VERSION,
            id,
            title: head.title.clone(),
            agent: head.agent.clone(),
            parent,
            created: head.created,
            changed: head.changed,
            first,
            events,
        };
        let records = history.items.into();
        let requests = VecDeque::new();
        Ok(Self { kept, head, next, records, requests, next_request: 0, ended: false })
    }

    /// The next items; none at the end.
    pub(in super::super) fn page(&mut self) -> Result<Vec<Item>, Failure> {
        let mut items = Vec::new();
        while items.is_empty() && !self.ended {
            let left = usize::try_from(self.head.events - self.next).unwrap_or(PAGE);
            let page = Page::from(self.next, left.min(PAGE));
            let events = self.kept.ask(self.kept.store.events(self.head.id, page))?;
            self.ended = events.is_empty() || self.next == self.head.events;
            for event in events {
                self.pass(event.seq, &mut items)?;
                self.next = event.seq + 1;
                items.push(Item::Event(event));
            }
            if self.next == self.head.events {
                self.ended = true;
                self.pass(u64::MAX, &mut items)?;
            }
        }
        Ok(items)
    }

    /// What comes before this event.
    fn pass(&mut self, seq: u64, items: &mut Vec<Item>) -> Result<(), Failure> {
        while let Some(record) = self.records.pop_front_if(|record| record.seq <= seq) {
            items.push(Item::Record(record));
        }
        loop {
            if self.requests.is_empty() {
                let page = Page::from(self.next_request, 32);
                self.requests = self.kept.ask(self.kept.store.requests(self.head.id, page))?.into();
            }
            let Some(request) = self.requests.pop_front_if(|request| request.seq <= seq) else {
                return Ok(());
            };
            self.next_request = request.no + 1;
            items.push(Item::Request(request));
        }
    }
}
