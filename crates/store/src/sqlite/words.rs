//! The index of words. Events that come one by one are indexed together, when someone
//! looks for words: together they cost a fraction, and no append waits for it.

use rusqlite::{Connection, OptionalExtension, params};

use super::commit::{event_id, number};
use super::read::event_of;
use crate::error::Failure;
use crate::{ErrorKind, SessionId};

/// A commit of this many events indexes them at once.
pub(crate) const MANY: usize = 256;

/// The most events that are indexed in one transaction: others wait to write meanwhile.
const TOGETHER: u64 = 4096;

/// Indexes the next events that are not, of one session or of all; tells whether there
/// may be more.
pub(crate) fn index_next(
    connection: &Connection,
    session: Option<SessionId>,
) -> Result<bool, Failure> {
    let only = session.map(|id| number(connection, id)).transpose()?;
    let sql = "SELECT no FROM sessions
               WHERE next_indexed < next_seq AND (?1 IS NULL OR no = ?1) LIMIT 1";
    let behind = connection.prepare_cached(sql)?.query_row([only], |row| row.get(0)).optional()?;
    behind.map(|no| index_session(connection, no)).transpose()?;
    Ok(behind.is_some())
}

/// Indexes the next events of a session that are not.
pub(crate) fn index_session(connection: &Connection, no: i64) -> Result<(), Failure> {
    let sql = "SELECT next_indexed, next_seq FROM sessions WHERE no = ?1";
    let range = |row: &rusqlite::Row<'_>| Ok((row.get::<_, u64>(0)?, row.get::<_, u64>(1)?));
    let (first, end) = connection.prepare_cached(sql)?.query_row([no], range)?;
    let end = end.min(first + TOGETHER);
    let mut events = connection.prepare_cached(
        "SELECT id, at, version, body FROM events WHERE id >= ?1 AND id < ?2 ORDER BY id",
    )?;
    let sql = "INSERT OR REPLACE INTO event_words (rowid, words) VALUES (?1, ?2)";
    let mut insert = connection.prepare_cached(sql)?;
    for event in events.query_map([event_id(no, first)?, event_id(no, end)?], event_of)? {
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
    connection.prepare_cached(sql)?.execute(params![no, end])?;
    Ok(())
}
