//! Sessions that last.
//!
//! A store keeps sessions, the events of each with a gap-free sequence, records
//! beside them, and the requests that were sent. Which store is a URL.
//!
//! ```text
//!   memory:            tests, and what need not last
//!   sqlite:PATH        a file: one thread writes, several commits share one sync
//!   postgres://…       any number of nodes; notices tell them what changed
//! ```
//!
//! All that is written goes through [`Log::commit`], one transaction on the expected
//! sequence number: of two writers one wins, and the other is told how far the session
//! is and has written nothing. The database is the truth; nothing in memory is.
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

mod error;

mod event;
mod record;
mod request;
mod session;

mod commit;
mod notice;
mod page;
mod search;
mod store;

mod copy;

mod lineage;
mod url;
mod words;

mod memory;
mod migrations;
mod postgres;
mod sqlite;

pub use commit::{Append, Commit, Committed};
pub use copy::copy_session;
pub use error::{Error, ErrorKind};
pub use event::{EVENT_VERSION, NewEvent, StoredEvent};
pub use notice::{Notice, Notices};
pub use page::Page;
pub use record::{Expect, Kind, Record, RecordChange, Records};
pub use request::{LastBody, NewRequest, RequestUsage, SentRequest, StoredBody};
pub use search::{Found, Search};
pub use session::{ForkPoint, Head, ListSessions, NewSession, SessionId};
pub use store::{Answer, Log, Sessions, Store};
pub use url::default_url;

use std::sync::Arc;
use std::time::Duration;

use url::Address;

/// How a store is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// How long to wait for a lock, a connection, or a server that does not answer.
    pub patience: Duration,
    /// How many connections are open at most: to PostgreSQL, or to read from SQLite.
    pub connections: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { patience: Duration::from_secs(5), connections: 8 }
    }
}

/// Opens the store at a URL, and brings it to the newest form.
///
/// # Errors
/// If the URL is wrong, the store cannot be reached or written to, was written by a
/// newer version, or is damaged. It is left as it was then.
pub async fn open(url: &str) -> Result<Arc<dyn Store>, Error> {
    open_with(url, Settings::default()).await
}

/// Opens the store at a URL.
///
/// # Errors
/// As [`open`].
pub async fn open_with(url: &str, settings: Settings) -> Result<Arc<dyn Store>, Error> {
    Ok(match Address::parse(url)? {
        Address::Memory => Arc::new(memory::Memory::new()),
        Address::Sqlite(path) => Arc::new(sqlite::Sqlite::open(path, settings).await?),
        Address::Postgres(url) => Arc::new(postgres::Postgres::open(&url, settings).await?),
    })
}
