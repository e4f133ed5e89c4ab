//! Checksums of what is stored: a bit that flipped on a disk, or on the way between stores,
//! is found when the row is read.
//!
//! An event, a request and a change of a record have one checksum each, over all that
//! never changes of them; what a request cost, a session's title and its point of fork have
//! their own. The counters of a session have a [`tally`]. The time of its last change has
//! none: it decides the order of a list and nothing else. Rows that were written before
//! there were checksums say so ([`UNSUMMED`]), and are read as they are.

use std::fmt::Display;

use interleaf_model::Timestamp;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Failure;
use crate::record::RecordRow;
use crate::session::HeadRow;
use crate::{
    Error, ErrorKind, ForkPoint, Head, RecordKind, SentRequest, SessionId, StoredBody, StoredEvent,
};

/// In place of a checksum: the row was written before there were any. The migration that put it
/// there is the last word on such rows, so that a row with nothing in this place is damaged.
const UNSUMMED: i64 = -1;

/// The checksum of an event.
pub(crate) fn of_event(seq: u64, at: Timestamp, version: u32, body: &str) -> u64 {
    let at = at.as_microseconds().cast_unsigned();
    together(&[seq, at, u64::from(version), body.len() as u64, xxh3_64(body.as_bytes())])
}

/// The checksum of a change of a record.
pub(crate) fn of_record(
    (no, seq, at): (u64, u64, Timestamp),
    (kind, key): (RecordKind, &str),
    body: Option<&str>,
) -> u64 {
    let mut words = vec![no, seq, at.as_microseconds().cast_unsigned()];
    words.extend(of_texts([kind.as_str(), key, body.unwrap_or_default()]));
    words.push(u64::from(body.is_some()));
    together(&words)
}

/// The checksum of what a request cost.
pub(crate) fn of_usage(no: u64, usage: &str) -> u64 {
    together(&[no, usage.len() as u64, xxh3_64(usage.as_bytes())])
}

/// The checksum of what a session is called, by whom and since when.
pub(crate) fn of_session(head: &Head) -> u64 {
    let agent = head.agent.as_ref().map_or("", |agent| agent.as_str());
    let mut words = vec![xxh3_64(head.id.0.as_bytes())];
    words.extend([u64::from(head.agent.is_some()), head.created.as_microseconds().cast_unsigned()]);
    words.extend(of_texts([&*head.title, agent]));
    together(&words)
}

/// The checksum of where a session left its parent; `records_from` is its first change of a
/// record that is its own.
pub(crate) fn of_fork(id: SessionId, fork: Option<ForkPoint>, records_from: Option<u64>) -> u64 {
    let mut words = vec![xxh3_64(id.0.as_bytes())];
    words.extend(fork.iter().flat_map(|fork| [xxh3_64(fork.session.0.as_bytes()), fork.seq]));
    words.extend(records_from);
    together(&words)
}

/// Whether the point of fork of a session is what was written.
pub(crate) fn check_fork(
    (id, fork, records_from): (SessionId, Option<ForkPoint>, Option<u64>),
    written: Option<i64>,
) -> Result<(), Error> {
    check("its point of fork", written, of_fork(id, fork, records_from)).map_err(in_session(id))
}

/// The counters of a session in one number. It is linear, so that a statement that adds to
/// the counters can add to it too; the factors are odd, so that no bit of a counter flips
/// without a difference.
pub(crate) fn tally(events: u64, records: u64, requests: u64) -> i64 {
    let records = records.wrapping_mul(1_000_003);
    let requests = requests.wrapping_mul(998_244_353);
    events.wrapping_add(records).wrapping_add(requests).cast_signed()
}

/// Whether the counters of a session (events, records, requests) are those that were written.
pub(crate) fn check_tally(
    id: SessionId,
    written: Option<i64>,
    [events, records, requests]: [u64; 3],
) -> Result<(), Error> {
    let found = tally(events, records, requests).cast_unsigned();
    check("its counter", written, found).map_err(in_session(id))
}

fn of_texts<'t, T>(texts: impl IntoIterator<Item = &'t T>) -> impl Iterator<Item = u64>
where
    T: AsRef<[u8]> + ?Sized + 't,
{
    texts.into_iter().flat_map(|text| [text.as_ref().len() as u64, xxh3_64(text.as_ref())])
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
    words.extend(of_texts([model, vendor, report]));
    words.extend(of_texts([hash, &middle[..]]));
    together(&words)
}

/// The checksum of a text, for what goes from one store to another.
pub fn text_checksum(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

fn together(words: &[u64]) -> u64 {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    xxh3_64(&bytes)
}

/// Whether a row has the checksum that was written with it, if it is not older than those.
///
/// # Errors
/// `Corrupt`; the error names the row.
pub(crate) fn check(row: impl Display, written: Option<i64>, found: u64) -> Result<(), Error> {
    let rule = match written {
        Some(UNSUMMED) => return Ok(()),
        Some(written) if written.cast_unsigned() == found => return Ok(()),
        Some(_) => "it does not have the checksum that was written with it",
        None => "the checksum that was written with it is gone",
    };
    Err(Error::corrupt(format!("{row} is damaged: {rule}")))
}

/// An error with the session and the row that cannot be read, if that is what it is about.
pub(crate) fn in_row(id: SessionId, row: impl Display, error: impl Into<Failure>) -> Failure {
    let Failure(error) = error.into();
    match error.kind() {
        ErrorKind::Corrupt => Failure(in_session(id)(error.while_doing(row))),
        _ => Failure(error),
    }
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

impl RecordRow {
    /// Whether it has the checksum that was written with it.
    pub(crate) fn check(&self, written: Option<i64>) -> Result<(), Error> {
        let Self { kind, key, no, seq, at, body } = self;
        let body = body.as_ref().map(|body| body.as_str());
        let found = of_record((*no, *seq, *at), (*kind, key), body);
        check(format_args!("the {kind} {key:?}"), written, found)
    }
}

impl HeadRow {
    /// The head, if it has the checksums that were written with it.
    pub(crate) fn check(self) -> Result<Head, Error> {
        let Self { head, sum, tally } = self;
        check("its title", sum, of_session(&head)).map_err(in_session(head.id))?;
        check_tally(head.id, tally, [head.next_seq, head.next_record, head.next_request])?;
        Ok(head)
    }
}

impl SentRequest {
    /// Whether it has the checksums that were written with it, given the text of what it cost.
    pub(crate) fn check(
        &self,
        written: Option<i64>,
        usage: Option<&str>,
        usage_written: Option<i64>,
    ) -> Result<(), Error> {
        let no = self.no;
        check(format_args!("request {no}"), written, self.checksum())?;
        if usage.is_none() && usage_written.is_none() {
            // It is not known yet.
            return Ok(());
        }
        let row = format_args!("the usage of request {no}");
        check(row, usage_written, of_usage(no, usage.unwrap_or_default()))
    }

    /// The checksum of what it cost, if that is known.
    pub fn usage_checksum(&self) -> Option<u64> {
        let usage = serde_json::to_string(self.usage.as_ref()?).ok()?;
        Some(of_usage(self.no, &usage))
    }

    /// Its checksum, over everything but what it cost.
    pub fn checksum(&self) -> u64 {
        let numbers = (self.no, self.seq, self.at);
        of_request(numbers, [&self.model, &self.vendor], &self.body, self.report.as_str())
    }
}
