//! Records: what a session keeps beside its conversation, by kind and key.
//!
//! Nothing is rewritten: a change is a new row with the next number of the session.
//! So the records as of any sequence number can be read, and a fork has those of its
//! parent as they were.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use interleaf_model::{Json, Timestamp};
use serde::{Deserialize, Serialize};

use crate::session::check_text;
use crate::{Error, ErrorKind, SessionId};

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// A summary, with its state in its body.
    Summary,
    /// A TODO item.
    Todo,
    /// A file range with a note.
    Info,
    /// A note on a folder.
    Note,
    /// A file that was read.
    FileRead,
    /// The state of a plan that runs, or ran.
    PlanRun,
    /// Where an agent ran, and which.
    Run,
}

/// A record as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What it is.
    pub kind: RecordKind,
    /// Its name among those of its kind.
    pub key: String,
    /// The number of its last change; another change can be made to depend on it.
    pub no: u64,
    /// How many events there were at its last change.
    pub seq: u64,
    /// When that was.
    pub at: Timestamp,
    /// What it says.
    pub body: Json,
}

/// A change of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordChange {
    /// What it is.
    pub kind: RecordKind,
    /// Its name among those of its kind.
    pub key: String,
    /// What it says from now on; nothing removes it.
    pub body: Option<Json>,
    /// What must be true of it.
    pub expect: Expect,
}

/// What must be true of a record for a change to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expect {
    /// Nothing.
    #[default]
    Any,
    /// That there is none.
    Absent,
    /// That this was its last change.
    No(u64),
}

/// Which records to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordFilter {
    /// Only of this kind.
    pub kind: Option<RecordKind>,
    /// As they were when the session had this many events.
    pub as_of: Option<u64>,
}

impl RecordKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Summary,
        Self::Todo,
        Self::Info,
        Self::Note,
        Self::FileRead,
        Self::PlanRun,
        Self::Run,
    ];

    /// The kind's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Todo => "todo",
            Self::Info => "info",
            Self::Note => "note",
            Self::FileRead => "file_read",
            Self::PlanRun => "plan_run",
            Self::Run => "run",
        }
    }
}

impl RecordChange {
    /// Sets a record, whatever it was.
    pub fn put(kind: RecordKind, key: impl Into<String>, body: Json) -> Self {
        Self { kind, key: key.into(), body: Some(body), expect: Expect::Any }
    }

    /// Removes a record, whatever it was.
    pub fn remove(kind: RecordKind, key: impl Into<String>) -> Self {
        Self { kind, key: key.into(), body: None, expect: Expect::Any }
    }

    /// The same, if this holds.
    pub fn expecting(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        check_text("the key of a record", &self.key)
    }

    /// Whether the change may be made, given the number of the visible record.
    pub(crate) fn check_expected(&self, id: SessionId, visible: Option<u64>) -> Result<(), Error> {
        let fits = match self.expect {
            Expect::Any => true,
            Expect::Absent => visible.is_none(),
            Expect::No(no) => visible == Some(no),
        };
        if fits {
            return Ok(());
        }
        let (kind, key) = (self.kind, &self.key);
        let message = format!("the {kind} {key:?} of session {id} has changed in the meantime");
        Err(Error::new(ErrorKind::Conflict, message))
    }
}

/// A row of the table: a record, or that it was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordRow {
    pub(crate) kind: RecordKind,
    pub(crate) key: String,
    pub(crate) no: u64,
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) body: Option<Json>,
}

/// The newest row of each record is the record.
pub(crate) fn standing(rows: impl IntoIterator<Item = RecordRow>) -> Vec<Record> {
    let mut newest: BTreeMap<(RecordKind, String), RecordRow> = BTreeMap::new();
    for row in rows {
        let key = (row.kind, row.key.clone());
        if newest.get(&key).is_none_or(|known| known.no < row.no) {
            newest.insert(key, row);
        }
    }
    let record = |row: RecordRow| {
        let RecordRow { kind, key, no, seq, at, body } = row;
        body.map(|body| Record { kind, key, no, seq, at, body })
    };
    newest.into_values().filter_map(record).collect()
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RecordKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        known.ok_or_else(|| Error::corrupt(format!("there is no record of kind {text:?}")))
    }
}
