//! What is written in one transaction: all of it, or nothing.

use interleaf_model::Timestamp;

use crate::session::check_text;
use crate::{Error, Head, NewEvent, NewRequest, RecordChange, RequestUsage, SessionId};

/// What is written in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// To which session.
    pub session: SessionId,
    /// When. Order is decided by sequence numbers, never by this.
    pub at: Timestamp,
    /// Events, on the condition that nothing came between.
    pub append: Option<Append>,
    /// The number of the next change of a record, on the condition that no record was
    /// changed meanwhile; see [`Head::next_record`](crate::Head::next_record).
    pub expected_record: Option<u64>,
    /// Changes of records, in order.
    pub records: Vec<RecordChange>,
    /// A request that is sent.
    pub request: Option<NewRequest>,
    /// What a request has cost.
    pub usage: Option<RequestUsage>,
    /// Another title.
    pub title: Option<String>,
}

/// Events, and the sequence number that the first of them must get. With no events
/// it is only a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// How many events the session must have.
    pub expected: u64,
    /// What comes next.
    pub events: Vec<NewEvent>,
}

/// What a session is after a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// The sequence number of the next event.
    pub next_seq: u64,
    /// The number of the next request.
    pub next_request: u64,
    /// The number of the next change of a record.
    pub next_record: u64,
}

impl Commit {
    /// Nothing yet.
    pub fn new(session: SessionId, at: Timestamp) -> Self {
        Self {
            session,
            at,
            append: None,
            expected_record: None,
            records: vec![],
            request: None,
            usage: None,
            title: None,
        }
    }

    /// Events, the first of which must get this sequence number.
    pub fn append(mut self, expected: u64, events: Vec<NewEvent>) -> Self {
        self.append = Some(Append { expected, events });
        self
    }

    /// Only if the next change of a record has this number: whoever read the records then
    /// knows them still.
    pub fn expecting_record(mut self, number: u64) -> Self {
        self.expected_record = Some(number);
        self
    }

    /// A change of a record.
    pub fn record(mut self, change: RecordChange) -> Self {
        self.records.push(change);
        self
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.records.iter().try_for_each(RecordChange::check)?;
        if let Some(request) = &self.request {
            request.check()?;
        }
        self.title.as_ref().map_or(Ok(()), |title| check_text("the title", title))
    }

    pub(crate) fn events(&self) -> &[NewEvent] {
        self.append.as_ref().map_or(&[], |append| &append.events)
    }

    pub(crate) fn expected(&self) -> Option<u64> {
        self.append.as_ref().map(|append| append.expected)
    }

    /// Why it may not be written, if the session is like this.
    pub(crate) fn check_expected(&self, head: &Head) -> Result<(), Error> {
        let (id, next) = (self.session, head.next_seq);
        if let Some(expected) = self.expected().filter(|&expected| expected != next) {
            return Err(Error::conflict(id, expected, next));
        }
        match self.expected_record {
            Some(expected) if expected != head.next_record => {
                Err(Error::record_conflict(id, expected, head.next_record))
            }
            _ => Ok(()),
        }
    }

    /// What is said of a commit that a database did not take.
    pub(crate) fn refused(&self, head: &Head) -> Error {
        let next = head.next_seq;
        let remade = || Error::conflict(self.session, self.expected().unwrap_or(next), next);
        self.check_expected(head).err().unwrap_or_else(remade)
    }

    /// Whether one statement can write it.
    pub(crate) fn only_appends(&self) -> bool {
        let Self { records, request, usage, title, .. } = self;
        records.is_empty() && request.is_none() && usage.is_none() && title.is_none()
    }
}
