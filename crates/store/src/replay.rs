//! Reading many events: several pages at a time, each read on another thread.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::ops::Range;
use std::task::Poll;
use std::thread::available_parallelism;

use interleaf_conversation::Event;

use crate::{Error, Page, SessionId, Store, StoreFuture};

/// How many events a page has.
const PAGE: u64 = 1024;

/// The events of a session, page by page and in order.
pub struct Replay<'a> {
    store: &'a dyn Store,
    session: SessionId,
    unread: Range<u64>,
    pages: VecDeque<Reading<'a>>,
    n_ahead: usize,
}

/// A page on its way.
struct Reading<'a> {
    n_asked: u64,
    state: State<'a>,
}

enum State<'a> {
    Waits(StoreFuture<'a, Vec<Event>>),
    Done(Result<Vec<Event>, Error>),
}

impl<'a> Replay<'a> {
    /// These events of a session; nothing is read yet.
    pub fn new(store: &'a dyn Store, session: SessionId, seqs: Range<u64>) -> Self {
        // No thread is ever without a page while there are some.
        let n_ahead = 1 + available_parallelism().map_or(1, |n| n.get());
        Self { store, session, unread: seqs, pages: VecDeque::new(), n_ahead }
    }

    /// The next events; none once all that are there have been given. Must run inside a
    /// Tokio runtime.
    ///
    /// # Errors
    /// If the store refuses, or an event is damaged.
    pub async fn next_page(&mut self) -> Result<Vec<Event>, Error> {
        while self.pages.len() < self.n_ahead && !self.unread.is_empty() {
            let n_asked = PAGE.min(self.unread.end - self.unread.start);
            let page = Page::from(self.unread.start, n_asked as usize);
            self.unread.start += n_asked;
            let state = State::Waits(self.store.replay(self.session, page));
            self.pages.push_back(Reading { n_asked, state });
        }
        poll_fn(|context| {
            for page in &mut self.pages {
                if let State::Waits(reading) = &mut page.state
                    && let Poll::Ready(read) = reading.as_mut().poll(context)
                {
                    page.state = State::Done(read);
                }
            }
            match self.pages.pop_front() {
                None => Poll::Ready(Ok(vec![])),
                Some(Reading { n_asked, state: State::Done(read) }) => {
                    if read.as_ref().map_or(0, Vec::len) as u64 != n_asked {
                        // The session is shorter than it was thought to be: what came after
                        // this page since does not follow it.
                        self.unread.start = self.unread.end;
                        self.pages.clear();
                    }
                    Poll::Ready(read)
                }
                Some(waits) => {
                    self.pages.push_front(waits);
                    Poll::Pending
                }
            }
        })
        .await
    }
}
