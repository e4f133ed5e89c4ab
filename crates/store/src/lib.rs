//! Sessions that last.
//!
//! A store keeps sessions: the events of each in a sequence without gaps, its records,
//! and the requests that were sent. A URL says which store.
//!
//! ```text
//!   memory:            tests, and sessions that need not last
//!   sqlite:PATH        a file: one thread writes, several commits share one sync
//!   postgres://…       any number of nodes; notices tell them what changed
//! ```
//!
//! SQLite comes with the feature `sqlite`, which is on unless it is turned off, and
//! PostgreSQL with the feature `postgres`. The traits are sealed: what a store must
//! guarantee (one transaction on the expected number, records as of any event, words that all
//! stores find alike) is stated in one contract test that all three pass.
//!
//! All that is written goes through [`Log::commit`], one transaction on the expected
//! sequence number: of two writers one wins; the other has written nothing and learns
//! the session's current number. The database is the truth; nothing in memory is.
//!
//! ```
//! use interleaf_conversation::Event;
//! use interleaf_model::{Message, Timestamp};
//! use interleaf_store::{Commit, ErrorKind, NewEvent, NewSession, Page, open};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let store = open("memory:").await?;
//! let now: Timestamp = "2026-11-15T10:00:00Z".parse().unwrap();
//! let session = store.create(NewSession::new("a title", now)).await?;
//!
//! let said = NewEvent::of(&Event::Appended { message: Message::user("hello").into() })?;
//! let commit = Commit::new(session.id, now).append(0, vec![said]);
//! assert_eq!(store.commit(commit.clone()).await?.next_seq, 1);
//!
//! let late = store.commit(commit).await.unwrap_err();
//! assert_eq!((late.kind(), late.current()), (ErrorKind::Conflict, Some(1)));
//! assert_eq!(store.events(session.id, Page::newest(10)).await?.len(), 1);
//! # Ok::<(), interleaf_store::Error>(())
//! # }).unwrap();
//! ```

#![cfg_attr(
    not(all(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "each database uses a part of its own")
)]

mod error;

mod body;
mod event;
mod record;
mod request;
mod session;

mod checksum;
mod commit;
mod notice;
mod page;
mod replay;
mod search;
mod store;

mod lineage;
mod password;
mod url;
mod words;

mod memory;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod migrations;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use body::{LastBody, Pieces, StoredBody};
pub use checksum::text_checksum;
pub use commit::{Append, Commit, Committed};
pub use error::{Error, ErrorKind};
pub use event::{EVENT_VERSION, NewEvent, StoredEvent};
pub use notice::{Notice, Notices};
pub use page::Page;
pub use password::hide_passwords;
pub use record::{Expect, Record, RecordChange, RecordFilter, RecordKind};
pub use replay::Replay;
pub use request::{NewRequest, RequestUsage, SentRequest};
pub use search::{Found, Search};
pub use session::{ForkPoint, Head, ListSessions, NewSession, SessionId};
pub use store::{Log, Sessions, Store, StoreFuture};
pub use url::{default_url, file_of};

use std::sync::Arc;
use std::time::Duration;

use url::Address;

/// How a store is used.
///
/// ```
/// # use std::time::Duration;
/// use interleaf_store::OpenOptions;
///
/// let options = OpenOptions::default()
///     .patience(Duration::from_secs(1))
///     .deadline(Duration::from_secs(10))
///     .connections(2);
/// # assert_eq!(options.connections, 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenOptions {
    /// How long to wait for a lock, a connection, or a server that does not answer.
    pub patience: Duration,
    /// How long a call to PostgreSQL may take in all, attempts after a broken connection
    /// included. Then it is an error, and the server is told to stop.
    pub deadline: Duration,
    /// How many connections are open at most: to PostgreSQL, or to read from SQLite.
    pub connections: usize,
}

impl OpenOptions {
    /// With this patience.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// With this deadline for each call.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// With at most this number of connections.
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        let (patience, deadline) = (Duration::from_secs(5), Duration::from_secs(30));
        Self { patience, deadline, connections: 8 }
    }
}

/// Opens the store at a URL, and brings it to the newest form.
///
/// # Errors
/// If the URL is wrong, the store cannot be reached or written to, was written by a
/// newer version, or is damaged. It is left as it was then.
pub async fn open(url: &str) -> Result<Arc<dyn Store>, Error> {
    open_with(url, OpenOptions::default()).await
}

/// Opens the store at a URL.
///
/// # Errors
/// As [`open`].
pub async fn open_with(url: &str, options: OpenOptions) -> Result<Arc<dyn Store>, Error> {
    open_address(url, options).await.map_err(Error::without_passwords)
}

async fn open_address(url: &str, options: OpenOptions) -> Result<Arc<dyn Store>, Error> {
    match Address::parse(url)? {
        Address::Memory => Ok(Arc::new(memory::Memory::new())),
        #[cfg(feature = "sqlite")]
        Address::Sqlite(path) => Ok(Arc::new(sqlite::Sqlite::open(path, options).await?)),
        #[cfg(not(feature = "sqlite"))]
        Address::Sqlite(_) => Err(not_built("SQLite", "sqlite", options)),
        #[cfg(feature = "postgres")]
        Address::Postgres(url) => Ok(Arc::new(postgres::Postgres::open(&url, options).await?)),
        #[cfg(not(feature = "postgres"))]
        Address::Postgres(_) => Err(not_built("PostgreSQL", "postgres", options)),
    }
}

#[cfg(not(all(feature = "sqlite", feature = "postgres")))]
fn not_built(database: &str, feature: &str, _: OpenOptions) -> Error {
    let message = format!("this program is built without {database} (feature `{feature}`)");
    Error::invalid(message)
}
