//! Reading many events: pages are parsed on other threads while the next ones are read.

use std::collections::VecDeque;
use std::ops::Range;

use interleaf_conversation::Event;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::{Error, Page, SessionId, Store, StoredEvent};

/// How many events a page has.
const PAGE: usize = 1024;

/// How many pages are parsed at the same time.
const AHEAD: usize = 3;

/// The events of a session, page by page and in order.
pub struct Replay<'a> {
    store: &'a dyn Store,
    session: SessionId,
    unread: Range<u64>,
    parsing: VecDeque<JoinHandle<Result<Vec<Event>, Error>>>,
}

impl<'a> Replay<'a> {
    /// These events of a session; nothing is read yet.
    pub fn new(store: &'a dyn Store, session: SessionId, seqs: Range<u64>) -> Self {
        Self { store, session, unread: seqs, parsing: VecDeque::new() }
    }

    /// The next events; none once all that are there have been given. Must run inside a
    /// Tokio runtime.
    ///
    /// # Errors
    /// If the store refuses, or an event is damaged.
    pub async fn next_page(&mut self) -> Result<Vec<Event>, Error> {
        while self.parsing.len() < AHEAD && !self.unread.is_empty() {
            let left = usize::try_from(self.unread.end - self.unread.start).unwrap_or(PAGE);
            let page = Page::from(self.unread.start, PAGE.min(left));
            let events = self.store.events(self.session, page).await?;
            match events.last() {
                Some(last) => self.unread.start = last.seq + 1,
                // The session is shorter than it was thought to be.
                None => self.unread.end = self.unread.start,
            }
            self.parsing.push_back(spawn_blocking(move || parse(&events)));
        }
        match self.parsing.pop_front() {
            Some(parsing) => parsing.await.map_err(|_| Error::stopped())?,
            None => Ok(vec![]),
        }
    }
}

fn parse(events: &[StoredEvent]) -> Result<Vec<Event>, Error> {
    events.iter().map(StoredEvent::event).collect()
}
