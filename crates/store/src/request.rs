//! Requests that were sent, with what was done to make them and what they cost.

use interleaf_model::{Json, Timestamp, Usage};

use crate::session::check_text;
use crate::{Error, StoredBody};

/// A request to be noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRequest {
    /// Its number in the session, which must be the next one.
    pub no: u64,
    /// Which model was asked.
    pub model: String,
    /// Who serves it.
    pub vendor: String,
    /// Its bytes.
    pub body: StoredBody,
    /// What was done to make it.
    pub report: Json,
}

/// A request as it was noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentRequest {
    /// Its number in the session, from 0.
    pub no: u64,
    /// How many events there were, the note of the request itself not counted.
    pub seq: u64,
    /// When it was sent.
    pub at: Timestamp,
    /// Which model was asked.
    pub model: String,
    /// Who serves it.
    pub vendor: String,
    /// Its bytes.
    pub body: StoredBody,
    /// What was done to make it.
    pub report: Json,
    /// What it cost, as far as the API has said.
    pub usage: Option<Usage>,
}

/// What is known of a request's cost, to be noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestUsage {
    /// The number of the request.
    pub no: u64,
    /// All that it has cost so far.
    pub usage: Usage,
}

impl NewRequest {
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_text("the model", &self.model)?;
        check_text("the vendor", &self.vendor)
    }
}
