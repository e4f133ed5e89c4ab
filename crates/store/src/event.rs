//! Events as they are stored: raw JSON with the version of its form.

use std::ops::Range;

use interleaf_conversation::Event;
use interleaf_model::{Message, Timestamp, json_text};

use crate::words::index_words;
use crate::{Error, ErrorKind, SessionId, checksum};

/// The version of the event form that this crate writes, and the newest it reads.
pub const EVENT_VERSION: u32 = 1;

/// An event to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// When it happened, if that was not at its commit.
    pub(crate) at: Option<Timestamp>,
    pub(crate) version: u32,
    pub(crate) body: String,
}

/// An event as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its number in the session, from 0, without gaps.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
    /// The version of its form.
    pub version: u32,
    /// The JSON text, byte for byte as it was written.
    pub body: String,
}

/// A row of a database, where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventRow<'r> {
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) version: u32,
    pub(crate) body: &'r str,
    pub(crate) sum: Option<i64>,
}

impl EventRow<'_> {
    /// The event itself.
    pub(crate) fn event(&self) -> Result<Event, Error> {
        self.check()?;
        read(self.seq, self.version, self.body)
    }

    /// The row as it is given to others.
    pub(crate) fn stored(&self) -> Result<StoredEvent, Error> {
        self.check()?;
        let Self { seq, at, version, body, .. } = *self;
        Ok(StoredEvent { seq, at, version, body: body.to_owned() })
    }

    fn check(&self) -> Result<(), Error> {
        let Self { seq, at, version, body, sum } = *self;
        let found = checksum::of_event(seq, at, version, body);
        checksum::check(format_args!("event {seq}"), sum, found)
    }
}

/// Holds the rows of a page to what a sequence promises, one after the other.
pub(crate) struct Sequence {
    session: SessionId,
    of: &'static str,
    asked: Range<u64>,
    next: u64,
}

impl Sequence {
    pub(crate) fn new(session: SessionId, asked: Range<u64>) -> Self {
        Self { session, of: "event", next: asked.start, asked }
    }

    pub(crate) fn of_requests(session: SessionId, asked: Range<u64>) -> Self {
        Self { of: "request", ..Self::new(session, asked) }
    }

    /// Takes in the next row.
    pub(crate) fn take(&mut self, seq: u64) -> Result<(), Error> {
        let Self { session, of, next, .. } = *self;
        if seq != next {
            let message = format!("session {session} lacks {of} {next}: {seq} is in its place");
            return Err(Error::corrupt(message));
        }
        self.next += 1;
        Ok(())
    }

    /// Whether all came that were asked for.
    pub(crate) fn end(self) -> Result<(), Error> {
        let Self { session, of, asked, next } = self;
        if next == asked.end {
            return Ok(());
        }
        let message = format!("session {session} lacks {of} {next} of {asked:?}");
        Err(Error::corrupt(message))
    }
}

impl NewEvent {
    /// The stored form of an event.
    ///
    /// # Errors
    /// If it has no JSON form.
    pub fn of(event: &Event) -> Result<Self, Error> {
        let mut body = json_text(event)
            .map_err(|e| Error::invalid("the event has no JSON form").caused_by(e))?;
        // A commit may hold a million of them.
        body.shrink_to_fit();
        Ok(Self { at: None, version: EVENT_VERSION, body })
    }

    /// The same event to be written elsewhere, byte for byte and with its time.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn copy_of(stored: &StoredEvent) -> Result<Self, Error> {
        stored.event()?;
        let (version, body) = (stored.version, stored.body.clone());
        Ok(Self { at: Some(stored.at), version, body })
    }

    /// The JSON text.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The words under which it is found, with spaces between them; none for most events.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn words(&self) -> Result<String, Error> {
        Ok(index_words(texts(&read(0, self.version, &self.body)?)))
    }
}

impl StoredEvent {
    /// The event itself. Every version that was ever written can be read.
    ///
    /// # Errors
    /// If a newer version wrote it, or it is damaged; the error names the event.
    pub fn event(&self) -> Result<Event, Error> {
        read(self.seq, self.version, &self.body)
    }

    /// All text of the messages that the event brought in.
    pub(crate) fn text(&self) -> Result<String, Error> {
        Ok(texts(&self.event()?).collect::<Vec<_>>().join("\n"))
    }

    /// The words under which it is found, with spaces between them; none for most events.
    pub(crate) fn words(&self) -> Result<String, Error> {
        Ok(index_words(texts(&self.event()?)))
    }
}

fn read(seq: u64, version: u32, body: &str) -> Result<Event, Error> {
    if version > EVENT_VERSION {
        let message =
            format!("event {seq} has version {version}; this program reads up to {EVENT_VERSION}");
        return Err(Error::new(ErrorKind::Newer, message));
    }
    if let Some(message) = appended(body) {
        return Ok(Event::Appended { message: message.into() });
    }
    serde_json::from_str(body)
        .map_err(|e| Error::corrupt(format!("event {seq} is damaged")).caused_by(e))
}

/// The message of an event that says one, if it is written as we write it. Nearly all
/// events are, and their messages are read in one pass, where they stand.
fn appended(body: &str) -> Option<Message> {
    let message = body.strip_prefix(r#"{"appended":{"message":"#)?.strip_suffix("}}")?;
    Message::from_json(message).ok()
}

/// The texts of the messages that an event brings in.
fn texts(event: &Event) -> impl Iterator<Item = &str> {
    event.messages().flat_map(|message| message.texts())
}
