//! Looking for what was said.

use interleaf_conversation::Event;
use serde::Serialize;

use crate::words::Terms;
use crate::{Error, SessionId};

/// What to look for: every term must be in the text of an event's messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// Terms, with spaces between them.
    pub query: String,
    /// Only in this session.
    pub session: Option<SessionId>,
    /// The most to return.
    pub limit: usize,
}

/// An event that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The session that it was written to; forks share it.
    pub session: SessionId,
    /// Its number there.
    pub seq: u64,
    /// The text around the first term.
    pub excerpt: String,
}

impl Search {
    /// In all sessions, the newest hundred.
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), session: None, limit: 100 }
    }

    /// In which of an event's messages, counted from 0, the excerpt of what was found there
    /// begins.
    ///
    /// # Errors
    /// If there is no word in the query.
    pub fn message_of(&self, event: &Event) -> Result<usize, Error> {
        let terms = Terms::parse(&self.query)?;
        let begins = |text: &str| terms.first_in(text).is_some();
        Ok(event.messages().position(|message| message.texts().any(begins)).unwrap_or(0))
    }
}
