//! What every store can do.

use std::future::Future;
use std::pin::Pin;

use interleaf_conversation::Event;
use tokio::task::spawn_blocking;

use crate::checksum::in_session;
use crate::{
    Commit, Committed, Error, Found, Head, ListSessions, NewSession, Notices, Page, Record,
    RecordFilter, Search, SentRequest, SessionId, StoredEvent,
};

/// What a store answers, once it has done its work.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Sessions as a whole.
pub trait Sessions: Sealed + Send + Sync {
    /// Makes a session, or a fork of one.
    ///
    /// # Errors
    /// `Exists`; for a fork `NotFound`, or `Invalid` if its parent is shorter.
    fn create(&self, session: NewSession) -> StoreFuture<'_, Head>;

    /// A session, without its events.
    ///
    /// # Errors
    /// `NotFound`.
    fn head(&self, session: SessionId) -> StoreFuture<'_, Head>;

    /// A page of the sessions, the last changed first.
    ///
    /// # Errors
    /// None of its own.
    fn list(&self, list: ListSessions) -> StoreFuture<'_, Vec<Head>>;

    /// Removes a session and all that belongs to it.
    ///
    /// # Errors
    /// `NotFound`; `HasForks` while others share its events.
    fn remove(&self, session: SessionId) -> StoreFuture<'_, ()>;

    /// Finds events by the words of their messages, visible or not. The newest
    /// session comes first, and in it the newest event.
    ///
    /// # Errors
    /// `Invalid` if there is no word to look for.
    fn search(&self, search: Search) -> StoreFuture<'_, Vec<Found>>;

    /// Tells from now on which sessions change.
    ///
    /// # Errors
    /// None of its own.
    fn watch(&self) -> StoreFuture<'_, Notices>;
}

/// What belongs to one session.
pub trait Log: Sealed + Send + Sync {
    /// Writes all of it in one transaction, or nothing.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` if another writer was first.
    fn commit(&self, commit: Commit) -> StoreFuture<'_, Committed>;

    /// A page of the events, those that a fork shares with its parent included.
    ///
    /// # Errors
    /// `NotFound`; `Corrupt` if one is missing.
    fn events(&self, session: SessionId, page: Page) -> StoreFuture<'_, Vec<StoredEvent>>;

    /// A page of the events, read.
    ///
    /// # Errors
    /// As [`events`](Self::events); `Corrupt` if one is damaged, `Newer` if a newer version
    /// wrote it.
    fn replay(&self, session: SessionId, page: Page) -> StoreFuture<'_, Vec<Event>> {
        let events = self.events(session, page);
        Box::pin(async move {
            let events = events.await?;
            let named = in_session(session);
            let read = move || events.iter().map(|event| event.event().map_err(&named)).collect();
            spawn_blocking(read).await.map_err(|_| Error::stopped())?
        })
    }

    /// The records, by kind and key, those that a fork took over included.
    ///
    /// # Errors
    /// `NotFound`.
    fn records(&self, session: SessionId, which: RecordFilter) -> StoreFuture<'_, Vec<Record>>;

    /// A page of the requests sent from the session itself.
    ///
    /// # Errors
    /// `NotFound`.
    fn requests(&self, session: SessionId, page: Page) -> StoreFuture<'_, Vec<SentRequest>>;
}

/// A place where sessions last: one of those that [`open`](crate::open) gives. It cannot
/// be implemented elsewhere, so that a later version may ask more of it.
pub trait Store: Sessions + Log {}

impl<T: Sessions + Log> Store for T {}

/// What only a store of this crate is.
pub trait Sealed {}

impl Sealed for crate::memory::Memory {}

#[cfg(feature = "sqlite")]
impl Sealed for crate::sqlite::Sqlite {}

#[cfg(feature = "postgres")]
impl Sealed for crate::postgres::Postgres {}
