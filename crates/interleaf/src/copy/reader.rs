//! A session that comes out of a store.

use std::collections::VecDeque;
use std::sync::Arc;

use interleaf_store::{self as store, Page, SentRequest, SessionId, Store};

use super::records::{History, State, state};
use super::{Head, Item, PAGE, Parent, RecordItem, VERSION};
use crate::Error;

/// Reads a session, page by page.
pub struct Reader {
    store: Arc<dyn Store>,
    /// What is known of it before its items.
    pub head: Head,
    next: u64,
    records: VecDeque<RecordItem>,
    requests: VecDeque<SentRequest>,
    next_request: u64,
    /// Whether the store has no request after these.
    has_all_requests: bool,
    ended: bool,
}

impl Reader {
    /// All of a session, what it shares with its parent included.
    ///
    /// # Errors
    /// If there is no such session, or the store refuses.
    pub async fn whole(store: Arc<dyn Store>, id: SessionId) -> Result<Self, Error> {
        let head = store.head(id).await.map_err(Error::store)?;
        Self::from(store, &head, None, &State::new()).await
    }

    /// A session that is copied after its parent, or without it: of the former only what is
    /// its own.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn of(
        store: Arc<dyn Store>,
        head: &store::Head,
        has_parent: bool,
    ) -> Result<Self, Error> {
        match has_parent {
            true => Self::own(store, head).await,
            false => Self::whole(store, head.id).await,
        }
    }

    /// A session whose parent goes the same way, before it: only what is its own.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn own(store: Arc<dyn Store>, head: &store::Head) -> Result<Self, Error> {
        // A head from a list is not checked.
        let head = &store.head(head.id).await.map_err(Error::store)?;
        let Some(fork) = head.parent else {
            return Self::from(store, head, None, &State::new()).await;
        };
        // What the parent has then may have changed after the fork, with no event between.
        let inherited = state(&*store, fork.session, fork.seq).await?;
        Self::from(store, head, Some(fork.seq), &inherited).await
    }

    async fn from(
        store: Arc<dyn Store>,
        head: &store::Head,
        first: Option<u64>,
        inherited: &State,
    ) -> Result<Self, Error> {
        let parent = head.parent.map(|fork| Parent { session: fork.session, seq: fork.seq });
        let (id, events, requests_sent) = (head.id, head.next_seq, head.next_request);
        let removed_at = head.created;
        let mut history = History { store: &*store, id, removed_at, events, items: vec![] };
        let next = first.unwrap_or(0);
        let start = state(&*store, id, next).await?;
        history.restate(inherited, next, &start);
        history.between((next, start), (events, state(&*store, id, events).await?)).await?;
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
            records: Some(history.items.len() as u64),
            requests: Some(requests_sent),
            following: None,
            sum: None,
        };
        let records = history.items.into();
        let requests = VecDeque::new();
        let (next_request, has_all_requests, ended) = (0, false, false);
        Ok(Self { store, head, next, records, requests, next_request, has_all_requests, ended })
    }

    /// The next items; none at the end.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn page(&mut self) -> Result<Vec<Item>, Error> {
        let mut items = Vec::new();
        while items.is_empty() && !self.ended {
            let left = usize::try_from(self.head.events - self.next).unwrap_or(PAGE);
            let page = Page::from(self.next, left.min(PAGE));
            let events = self.store.events(self.head.id, page).await.map_err(Error::store)?;
            self.ended = events.is_empty() || self.next == self.head.events;
            for event in events {
                self.pass(event.seq, &mut items).await?;
                self.next = event.seq + 1;
                items.push(Item::Event(event));
            }
            if self.next == self.head.events {
                self.ended = true;
                self.pass(u64::MAX, &mut items).await?;
            }
        }
        Ok(items)
    }

    /// What comes before this event.
    async fn pass(&mut self, seq: u64, items: &mut Vec<Item>) -> Result<(), Error> {
        while let Some(record) = self.records.pop_front_if(|record| record.seq <= seq) {
            items.push(Item::Record(record));
        }
        loop {
            if self.requests.is_empty() && !self.has_all_requests {
                // What is sent meanwhile comes after what the head tells of.
                let sent = self.head.requests.unwrap_or(0);
                let left = usize::try_from(sent.saturating_sub(self.next_request)).unwrap_or(32);
                let page = Page::from(self.next_request, left.min(32));
                let requests = self.store.requests(self.head.id, page).await;
                self.requests = requests.map_err(Error::store)?.into();
                self.has_all_requests = self.requests.is_empty();
            }
            let Some(request) = self.requests.pop_front_if(|request| request.seq <= seq) else {
                return Ok(());
            };
            self.next_request = request.no + 1;
            items.push(Item::Request(request));
        }
    }
}
