//! The index of words. Events that come one by one are indexed together, when someone
//! looks for words: together they cost a fraction, and their appends do not wait for it.

use std::ops::Range;

use rusqlite::{Connection, params};

use super::commit::{event_id, number};
use super::read::event_of;
use crate::error::Failure;
use crate::{ErrorKind, SessionId};

/// A commit of this many events indexes what its session has.
pub(crate) const MANY: usize = 256;

/// About this many events are indexed in one transaction: others wait to write meanwhile.
const TOGETHER: u64 = 4096;

/// Whether a session has events that are not indexed, or any has.
pub(crate) fn lacks_words(
    connection: &Connection,
    session: Option<SessionId>,
) -> Result<bool, Failure> {
    Ok(!unindexed(connection, session, 1)?.is_empty())
}

/// Indexes events of a session, or of all, that are not indexed; not all of them, if there
/// are many.
pub(crate) fn index_some(
    connection: &Connection,
    session: Option<SessionId>,
) -> Result<(), Failure> {
    let mut left = TOGETHER;
    for (no, seqs) in unindexed(connection, session, TOGETHER)? {
        if left == 0 {
            break;
        }
        let end = seqs.end.min(seqs.start + left);
        left -= end - seqs.start;
        index(connection, no, seqs.start..end)?;
    }
    Ok(())
}

/// Indexes all events of one session that are not indexed.
pub(crate) fn index_all_of(connection: &Connection, no: i64) -> Result<(), Failure> {
    let sql = "SELECT next_indexed, next_seq FROM sessions WHERE no = ?1";
    let seqs = |row: &rusqlite::Row<'_>| Ok(row.get(0)?..row.get(1)?);
    let seqs: Range<u64> = connection.prepare_cached(sql)?.query_row([no], seqs)?;
    index(connection, no, seqs)
}

/// Sessions with events that are not indexed, and which these are.
fn unindexed(
    connection: &Connection,
    session: Option<SessionId>,
    limit: u64,
) -> Result<Vec<(i64, Range<u64>)>, Failure> {
    let only = session.map(|id| number(connection, id)).transpose()?;
    let mut statement = connection.prepare_cached(
        "SELECT no, next_indexed, next_seq FROM sessions
         WHERE next_indexed < next_seq AND (?1 IS NULL OR no = ?1) LIMIT ?2",
    )?;
    let rows = statement
        .query_map(params![only, limit], |row| Ok((row.get(0)?, row.get(1)?..row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn index(connection: &Connection, no: i64, seqs: Range<u64>) -> Result<(), Failure> {
    let mut events = connection.prepare_cached(
        "SELECT id, at, version, body FROM events WHERE id >= ?1 AND id < ?2 ORDER BY id",
    )?;
    let sql = "INSERT OR REPLACE INTO event_words (rowid, words) VALUES (?1, ?2)";
    let mut insert = connection.prepare_cached(sql)?;
    let ids = [event_id(no, seqs.start)?, event_id(no, seqs.end)?];
    for event in events.query_map(ids, event_of)? {
        let event = event?;
        match event.words() {
            Ok(words) if words.is_empty() => {}
            Ok(words) => _ = insert.execute(params![event_id(no, event.seq)?, words])?,
            // Whoever opens the session is told; the other events are found all the same.
            Err(e) if matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Newer) => {}
            Err(e) => return Err(e.into()),
        }
    }
    let sql = "UPDATE sessions SET next_indexed = ?2 WHERE no = ?1";
    connection.prepare_cached(sql)?.execute(params![no, seqs.end])?;
    Ok(())
}
