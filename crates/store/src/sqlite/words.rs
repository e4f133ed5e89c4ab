//! The index of words. Events that come one by one are indexed together, when someone
//! looks for words: together they cost a fraction, and their appends do not wait for it.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, params};

use super::commit::{event_id, number};
use super::read::event_row;
use crate::error::Failure;
use crate::{ErrorKind, SessionId};

/// A commit of this many events indexes what its session has.
pub(crate) const MANY: usize = 256;

/// This many events are indexed in one transaction: others wait to write meanwhile.
const TOGETHER: u64 = 4096;

/// Events of a session, by its number in the file.
pub(crate) type Events = (i64, Range<u64>);

/// The events of a session, or of all, that are not indexed.
pub(crate) fn unindexed(
    connection: &Connection,
    session: Option<SessionId>,
) -> Result<Vec<Events>, Failure> {
    let only = session.map(|id| number(connection, id)).transpose()?;
    let mut statement = connection.prepare_cached(
        "SELECT no, next_indexed, next_seq FROM sessions
         WHERE next_indexed < next_seq AND (?1 IS NULL OR no = ?1)",
    )?;
    let rows = statement.query_map([only], |row| Ok((row.get(0)?, row.get(1)?..row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What is to be indexed, in parts that others can wait for.
pub(crate) fn in_parts(all: Vec<Events>) -> Vec<Vec<Events>> {
    let mut parts: Vec<Vec<Events>> = Vec::new();
    let mut left = 0;
    for (no, mut seqs) in all {
        while !seqs.is_empty() {
            if left == 0 {
                parts.push(Vec::new());
                left = TOGETHER;
            }
            let end = seqs.end.min(seqs.start + left);
            left -= end - seqs.start;
            parts.last_mut().into_iter().for_each(|part| part.push((no, seqs.start..end)));
            seqs.start = end;
        }
    }
    parts
}

/// Indexes all events of one session that are not indexed.
pub(crate) fn index_all_of(connection: &Connection, no: i64) -> Result<(), Failure> {
    let lacking = unindexed_of(connection, no)?.unwrap_or_default();
    index_events(connection, no, lacking)
}

fn unindexed_of(connection: &Connection, no: i64) -> Result<Option<Range<u64>>, Failure> {
    let sql = "SELECT next_indexed, next_seq FROM sessions WHERE no = ?1";
    let seqs = |row: &rusqlite::Row<'_>| Ok(row.get(0)?..row.get(1)?);
    Ok(connection.prepare_cached(sql)?.query_row([no], seqs).optional()?)
}

/// Indexes these events; what someone else has indexed or removed meanwhile stays as it is.
pub(crate) fn index(connection: &Connection, events: Vec<Events>) -> Result<(), Failure> {
    for (no, asked) in events {
        let lacking = unindexed_of(connection, no)?.unwrap_or_default();
        let both = lacking.start.max(asked.start)..lacking.end.min(asked.end);
        // No event before these may be left out.
        if !both.is_empty() && both.start == lacking.start {
            index_events(connection, no, both)?;
        }
    }
    Ok(())
}

fn index_events(connection: &Connection, no: i64, seqs: Range<u64>) -> Result<(), Failure> {
    let mut events = connection.prepare_cached(
        "SELECT id, at, version, body, sum FROM events WHERE id >= ?1 AND id < ?2 ORDER BY id",
    )?;
    let sql = "INSERT OR REPLACE INTO event_words (rowid, words) VALUES (?1, ?2)";
    let mut insert = connection.prepare_cached(sql)?;
    let ids = [event_id(no, seqs.start)?, event_id(no, seqs.end)?];
    let mut rows = events.query(ids)?;
    while let Some(row) = rows.next()? {
        let row = event_row(row)?;
        match row.stored().and_then(|event| event.words()) {
            Ok(words) if words.is_empty() => {}
            Ok(words) => _ = insert.execute(params![event_id(no, row.seq)?, words])?,
            // Whoever opens the session is told; the other events are found all the same.
            Err(e) if matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Newer) => {}
            Err(e) => return Err(e.into()),
        }
    }
    let sql = "UPDATE sessions SET next_indexed = ?2 WHERE no = ?1";
    connection.prepare_cached(sql)?.execute(params![no, seqs.end])?;
    Ok(())
}
