//! What every store can do.

use std::future::Future;
use std::pin::Pin;

use crate::{
    Commit, Committed, Error, Found, Head, ListSessions, NewSession, Notices, Page, Record,
    Records, Search, SentRequest, SessionId, StoredEvent,
};

/// An answer that may take a while.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Sessions as a whole.
pub trait Sessions: Send + Sync {
    /// Makes a session, or a fork of one.
    ///
    /// # Errors
    /// `Exists`; for a fork `NotFound`, or `Invalid` if its parent is not so long.
    fn create(&self, session: NewSession) -> Answer<'_, Head>;

    /// A session, without its events.
    ///
    /// # Errors
    /// `NotFound`.
    fn head(&self, session: SessionId) -> Answer<'_, Head>;

    /// A page of the sessions, the last changed first.
    ///
    /// # Errors
    /// None of its own.
    fn list(&self, list: ListSessions) -> Answer<'_, Vec<Head>>;

    /// Removes a session and all that belongs to it.
    ///
    /// # Errors
    /// `NotFound`; `HasForks` while others share its events.
    fn remove(&self, session: SessionId) -> Answer<'_, ()>;

    /// Finds events by the words of their messages, visible or not. The newest
    /// session comes first, and in it the newest event.
    ///
    /// # Errors
    /// `Invalid` if there is no word to look for.
    fn search(&self, search: Search) -> Answer<'_, Vec<Found>>;

    /// Tells from now on which sessions change.
    ///
    /// # Errors
    /// None of its own.
    fn watch(&self) -> Answer<'_, Notices>;
}

/// What belongs to one session.
pub trait Log: Send + Sync {
    /// Writes all of it in one transaction, or nothing.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` if another writer was first.
    fn commit(&self, commit: Commit) -> Answer<'_, Committed>;

    /// A page of the events, those that a fork shares with its parent included.
    ///
    /// # Errors
    /// `NotFound`; `Corrupt` if one is missing.
    fn events(&self, session: SessionId, page: Page) -> Answer<'_, Vec<StoredEvent>>;

    /// The records, by kind and key, those that a fork took over included.
    ///
    /// # Errors
    /// `NotFound`.
    fn records(&self, session: SessionId, which: Records) -> Answer<'_, Vec<Record>>;

    /// A page of the requests sent from the session itself.
    ///
    /// # Errors
    /// `NotFound`.
    fn requests(&self, session: SessionId, page: Page) -> Answer<'_, Vec<SentRequest>>;
}

/// A place where sessions last.
pub trait Store: Sessions + Log {}

impl<T: Sessions + Log> Store for T {}
