//! Checksums of what is stored: a bit that flipped on a disk, or on the way between stores,
//! is found when the row is read.
//!
//! A checksum covers every column that never changes. Rows that were written before there
//! were checksums have none, and are read as they are.

use std::fmt::Display;

use interleaf_model::Timestamp;
use xxhash_rust::xxh3::xxh3_64;

use crate::{Error, SentRequest, SessionId, StoredBody, StoredEvent};

/// The checksum of an event.
pub(crate) fn of_event(seq: u64, at: Timestamp, version: u32, body: &str) -> u64 {
    let at = at.as_microseconds().cast_unsigned();
    together(&[seq, at, u64::from(version), body.len() as u64, xxh3_64(body.as_bytes())])
}

/// The checksum of a request and its body. What it cost is noted later, and not covered.
pub(crate) fn of_request(
    (no, seq, at): (u64, u64, Timestamp),
    [model, vendor]: [&str; 2],
    body: &StoredBody,
    report: &str,
) -> u64 {
    let StoredBody { hash, len, whole, prefix, suffix, middle, since_whole } = body;
    let mut words = vec![no, seq, at.as_microseconds().cast_unsigned()];
    words.extend([*len, u64::from(*whole), *prefix, *suffix, *since_whole]);
    for text in [model.as_bytes(), vendor.as_bytes(), report.as_bytes(), hash, middle] {
        words.extend([text.len() as u64, xxh3_64(text)]);
    }
    together(&words)
}

fn together(words: &[u64]) -> u64 {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    xxh3_64(&bytes)
}

/// Whether a row has the checksum that was written with it, if one was.
///
/// # Errors
/// `Corrupt`; the error names the row.
pub(crate) fn check(row: impl Display, written: Option<i64>, found: u64) -> Result<(), Error> {
    if written.is_some_and(|written| written.cast_unsigned() != found) {
        let rule = "it does not have the checksum that was written with it";
        return Err(Error::corrupt(format!("{row} is damaged: {rule}")));
    }
    Ok(())
}

/// An error with the session that it is about.
pub(crate) fn in_session(id: SessionId) -> impl Fn(Error) -> Error {
    move |error| error.while_doing(format_args!("session {id}"))
}

impl StoredEvent {
    /// Its checksum, over its number, time, version and text.
    pub fn checksum(&self) -> u64 {
        of_event(self.seq, self.at, self.version, &self.body)
    }
}

impl SentRequest {
    /// Its checksum, over everything but what it cost.
    pub fn checksum(&self) -> u64 {
        let numbers = (self.no, self.seq, self.at);
        of_request(numbers, [&self.model, &self.vendor], &self.body, self.report.as_str())
    }
}
