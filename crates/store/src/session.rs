//! What is known of a session beside what was said in it.

use std::fmt;
use std::str::FromStr;

use interleaf_model::{AgentName, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Error;

/// The name of a session: a UUID of version 7, so that names sort by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(pub(crate) Uuid);

/// A session, without its events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Head {
    /// Its name.
    pub id: SessionId,
    /// Its title.
    pub title: String,
    /// The agent whose session it is.
    pub agent: Option<AgentName>,
    /// Where it came from, if it is a fork.
    pub parent: Option<ForkPoint>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last written to.
    pub changed: Timestamp,
    /// The sequence number of the next event; also how many there are, the shared
    /// ones of a fork included.
    pub next_seq: u64,
    /// The number of the next request; also how many were sent from this session.
    pub next_request: u64,
    /// The number of the next change of a record. If it is what it was, so are the records.
    /// A copy of the session may count anew.
    #[serde(skip)]
    pub next_record: u64,
}

/// A row of a database.
pub(crate) struct HeadRow {
    pub(crate) head: Head,
    pub(crate) sum: Option<i64>,
    pub(crate) tally: Option<i64>,
}

/// Where a fork left its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ForkPoint {
    /// The parent.
    pub session: SessionId,
    /// The first event that the two do not share.
    pub seq: u64,
}

/// A session to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Its name.
    pub id: SessionId,
    /// Its title.
    pub title: String,
    /// The agent whose session it is.
    pub agent: Option<AgentName>,
    /// What it shares its past with. Nothing is copied.
    pub parent: Option<ForkPoint>,
    /// When it is made.
    pub at: Timestamp,
}

/// Which sessions to list, the last changed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListSessions {
    /// The most to return.
    pub limit: usize,
    /// Only those that come after this one in the list: the next page.
    pub after: Option<(Timestamp, SessionId)>,
}

impl SessionId {
    /// A name that no other session has.
    pub fn random() -> Self {
        Self(Uuid::now_v7())
    }
}

impl NewSession {
    /// A session with a title.
    pub fn new(title: impl Into<String>, at: Timestamp) -> Self {
        Self { id: SessionId::random(), title: title.into(), agent: None, parent: None, at }
    }

    /// A fork of a session after its first `seq` events.
    pub fn fork_of(head: &Head, seq: u64, title: impl Into<String>, at: Timestamp) -> Self {
        let parent = Some(ForkPoint { session: head.id, seq });
        Self { agent: head.agent.clone(), parent, ..Self::new(title, at) }
    }

    pub(crate) fn into_head(self, next_seq: u64, next_record: u64) -> Head {
        Head {
            id: self.id,
            title: self.title,
            agent: self.agent,
            parent: self.parent,
            created: self.at,
            changed: self.at,
            next_seq,
            next_request: 0,
            next_record,
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        check_text("the title", &self.title)?;
        self.agent.as_ref().map_or(Ok(()), |agent| check_text("the agent", agent.as_str()))
    }
}

impl ForkPoint {
    /// Whether a session of this length can be forked here.
    pub(crate) fn check(&self, len: u64) -> Result<(), Error> {
        let seq = self.seq;
        match seq <= len {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "the session cannot be forked at event {seq}: its length is {len}"
            ))),
        }
    }
}

impl Default for ListSessions {
    fn default() -> Self {
        Self { limit: 100, after: None }
    }
}

/// PostgreSQL has no zero byte in a text, so that no store has.
pub(crate) fn check_text(what: &str, text: &str) -> Result<(), Error> {
    match text.contains('\0') {
        true => Err(Error::invalid(format!("{what} must not contain a zero byte"))),
        false => Ok(()),
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for SessionId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |_| Error::invalid(format!("{text:?} is not a session: a UUID is expected"));
        Uuid::try_parse(text).map(Self).map_err(wrong)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for SessionId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}
