//! Sessions on their way from one place to another: a head, then items in the order in
//! which they happened.
//!
//! ```text
//!   Reader (a store) ──┐                ┌──▶ lines (a file)
//!                      ├──▶ Head, Item ─┤
//!   lines (a file) ────┘                └──▶ Writer (a store)
//! ```
//!
//! As JSON lines, a head begins a session and each item follows on a line of its own:
//!
//! ```text
//! {"interleaf_session": 1, "id": …, "title": …, …, "events": 9, "records": 1, "requests": 1, "sum": …}
//! {"record":  {"kind": "todo", "key": …, "seq": …, "at": …, "body": …, "sum": …}}
//! {"request": {"no": 0, "seq": 3, "at": …, "model": …, "vendor": …, "sum": …, "body": …, "report": …}}
//! {"event":   {"seq": 3, "at": …, "sum": …, "body": …}}
//! ```
//!
//! `sum` is a checksum: that of the store for events and requests, that of the line without
//! it for heads and records. A line that does not have it is refused; one without it, from an
//! earlier program, is taken as it is. A session is whole if as many events, records and
//! requests have come as its head says; a file is, if its last head says that no session
//! follows.
//!
//! A request stands before the event that says that it began; a record before the first
//! event that came after it. `seq` says which event that is; what stands elsewhere is refused.
//!
//! ```
//! use interleaf::model::Message;
//! use interleaf::{Session, copy, store};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let (from, to) = (store::open("memory:").await?, store::open("memory:").await?);
//! let mut session = Session::create(from.clone(), "a title").await?;
//! session.append(Message::user("hello")).await?;
//!
//! let done = copy::session(&from, &to, session.id(), |_| {}).await?;
//! assert_eq!(done, copy::Done::Made);
//! let there = Session::open(to, session.id()).await?;
//! assert_eq!(there.conversation(), session.conversation());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod line;
mod lines;
mod listing;
mod reader;
mod records;
mod writer;

use std::sync::Arc;

use interleaf_model::{AgentName, Json, Timestamp};
use interleaf_store::{RecordKind, SentRequest, SessionId, Store, StoredEvent};
use serde::{Deserialize, Serialize};

use self::line::VERSION;
pub use self::line::{is_head, read_head, read_item, write_head, write_item};
pub use self::lines::take_lines;
pub use self::listing::{all, parents_first};
pub use self::reader::Reader;
pub use self::writer::{Done, Writer};
use crate::Error;

/// The number of events read and written at once.
const PAGE: usize = 1024;

/// Copies a session from one store to another under its own id, with its events, records
/// and requests. What it shares with a parent comes along, and it is no fork there.
/// `progress` is told of each item.
///
/// # Errors
/// If either store refuses, or the other one has a session of that id that differs.
/// A session that cannot be finished is removed again.
pub async fn session(
    from: &Arc<dyn Store>,
    to: &Arc<dyn Store>,
    id: SessionId,
    progress: impl FnMut(&Item),
) -> Result<Done, Error> {
    let reader = Reader::whole(from.clone(), id).await?;
    let writer = Writer::begin(to.clone(), reader.head.clone()).await?;
    transfer(reader, writer, progress).await
}

/// Takes all that a reader has to a writer.
///
/// # Errors
/// As [`session`].
pub async fn transfer(
    mut reader: Reader,
    mut writer: Writer,
    mut progress: impl FnMut(&Item),
) -> Result<Done, Error> {
    loop {
        let page = match reader.page().await {
            Ok(page) => page,
            Err(e) => return Err(writer.undo(e).await),
        };
        if page.is_empty() {
            return writer.end().await;
        }
        for item in page {
            progress(&item);
            writer = writer.item(item).await?;
        }
    }
}

/// What is known of a session before its items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Head {
    /// The version of this form.
    interleaf_session: u32,
    /// Its id.
    pub id: SessionId,
    /// Its title.
    pub title: String,
    /// The agent whose session it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The session that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub changed: Timestamp,
    /// The first event that follows, if those before it are the parent's, who went before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// How many events the session has.
    pub events: u64,
    /// How many records follow; earlier programs did not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// How many requests were sent from it; the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// How many sessions come after this one in the same file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub following: Option<u64>,
    /// The checksum of the line, while it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sum: Option<String>,
}

/// Where a fork left its parent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Parent {
    /// The other session.
    pub session: SessionId,
    /// How many events the two share.
    pub seq: u64,
}

/// One thing that a session keeps.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Item {
    /// Something that happened to the conversation.
    Event(StoredEvent),
    /// What is kept beside it.
    Record(RecordItem),
    /// A request that was sent.
    Request(SentRequest),
}

/// A record as it was from some event on.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordItem {
    /// What it is.
    pub kind: RecordKind,
    /// Which one of its kind.
    pub key: String,
    /// The event that it comes before.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
    /// What it says; nothing if it was removed.
    pub body: Option<Json>,
}

interleaf_model::only_objects!(Head, Parent);
