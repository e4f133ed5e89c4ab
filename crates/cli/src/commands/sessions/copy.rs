//! A session on its way from one place to another: a head, then items in the order in
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
//! {"interleaf_session": 1, "id": …, "title": …, "created": …, "changed": …, "events": 9}
//! {"record":  {"kind": "todo", "key": …, "seq": …, "at": …, "body": …}}
//! {"request": {"no": 0, "seq": 3, "at": …, "model": …, "vendor": …, "body": …, "report": …}}
//! {"event":   {"seq": 3, "at": …, "body": …}}
//! ```
//!
//! A request stands before the event that says that it began; a record before the first
//! event that came after it.

mod line;
mod reader;
mod records;
mod writer;

use line::VERSION;
pub(super) use line::{is_head, read_head, read_item, write_item};
pub(super) use reader::Reader;
pub(super) use writer::{Done, Writer};

use interleaf::model::{AgentName, Json, Timestamp};
use interleaf::store::{RecordKind, SentRequest, SessionId, StoredEvent};
use serde::{Deserialize, Serialize};

/// So many events are read and written at once.
const PAGE: usize = 1024;

/// What is known of a session before its items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    /// The version of this form.
    pub(super) interleaf_session: u32,
    pub(super) id: SessionId,
    pub(super) title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<AgentName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<Parent>,
    pub(super) created: Timestamp,
    pub(super) changed: Timestamp,
    /// The first event that follows, if those before it are the parent's, who went before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) first: Option<u64>,
    /// How many events the session has.
    pub(super) events: u64,
}

/// Where a fork left its parent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parent {
    pub(super) session: SessionId,
    pub(super) seq: u64,
}

/// One thing that a session keeps.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    Event(StoredEvent),
    Record(RecordItem),
    Request(SentRequest),
}

impl Item {
    pub(super) fn is_event(&self) -> bool {
        matches!(self, Self::Event(_))
    }
}

/// A record as it was from some event on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordItem {
    pub(super) kind: RecordKind,
    pub(super) key: String,
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    /// Nothing: it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<Json>,
}
