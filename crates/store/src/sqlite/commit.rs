//! Writing. Each function runs inside a transaction, and leaves nothing of its own
//! behind if it fails.

use interleaf_model::Timestamp;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use super::read::{head, lineage, record_rows, unchecked_head};
use super::words;
use crate::error::Failure;
use crate::record::standing;
use crate::{
    Commit, Committed, Error, Head, NewEvent, NewRequest, NewSession, RecordChange, RecordFilter,
    RequestUsage, SessionId, checksum,
};

/// A session has fewer events than this, and fewer requests, so that its number and
/// theirs make one key.
pub(crate) const SEQS: u64 = 1 << 32;

/// The key of an event, or of a request.
pub(crate) fn event_id(no: i64, seq: u64) -> Result<i64, Failure> {
    let too_long = || Error::invalid(format!("a session cannot have {seq} events or requests"));
    let seq = i64::try_from(seq).ok().filter(|&seq| seq < SEQS as i64).ok_or_else(too_long)?;
    let too_many = || Error::invalid("there are too many sessions for one file");
    Ok(no.checked_mul(SEQS as i64).map(|first| first + seq).ok_or_else(too_many)?)
}

/// The number of a session in this file.
pub(crate) fn number(connection: &Connection, id: SessionId) -> Result<i64, Failure> {
    let mut statement = connection.prepare_cached("SELECT no FROM sessions WHERE id = ?1")?;
    let no = statement.query_row([id.0.as_bytes()], |row| row.get(0)).optional()?;
    let no = no.ok_or_else(|| Error::no_session(id))?;
    // The number comes from an index. The row under it says whose it is.
    let mut statement = connection.prepare_cached("SELECT id FROM sessions WHERE no = ?1")?;
    let found = statement.query_row([no], |row| row.get(0)).optional()?;
    check_found(id, found)?;
    Ok(no)
}

/// Whether an index has led to the row of the session that was looked for.
fn check_found(id: SessionId, found: Option<[u8; 16]>) -> Result<(), Error> {
    match found == Some(*id.0.as_bytes()) {
        true => Ok(()),
        false => Err(Error::corrupt(format!(
            "the index of sessions is damaged: under session {id} it has the number of another"
        ))),
    }
}

pub(crate) fn create(connection: &Connection, new: NewSession) -> Result<Head, Failure> {
    new.check()?;
    let (mut parent, mut next_seq, mut records_from) = (None, 0, 0);
    if let Some(fork) = new.parent {
        let lineage = lineage(connection, fork.session)?;
        fork.check(lineage.len())?;
        let as_of = RecordFilter { kind: None, as_of: Some(fork.seq) };
        let rows = record_rows(connection, fork.session, &lineage, as_of)?;
        parent = Some(number(connection, fork.session)?);
        next_seq = fork.seq;
        records_from = rows.iter().map(|row| row.no + 1).max().unwrap_or(0);
    }
    let head = new.into_head(next_seq, records_from);
    let inserted = connection.execute(
        "INSERT INTO sessions (id, title, agent, parent, fork_seq, fork_record, created, changed,
                               next_seq, next_record, next_indexed, sum, fork_sum, tally)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9, ?8, ?10, ?11, ?12)",
        params![
            head.id.0.as_bytes(),
            head.title,
            head.agent.as_ref().map(|agent| agent.as_str()),
            parent,
            parent.map(|_| next_seq),
            parent.map(|_| records_from),
            head.created.as_microseconds(),
            next_seq,
            records_from,
            checksum::of_session(&head).cast_signed(),
            checksum::of_fork(head.id, head.parent, parent.map(|_| records_from)).cast_signed(),
            checksum::tally(next_seq, records_from, 0),
        ],
    );
    match inserted {
        Ok(_) => Ok(head),
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Err(Error::exists(head.id).into())
        }
        Err(e) => Err(e.into()),
    }
}

pub(crate) fn remove(connection: &Connection, id: SessionId) -> Result<(), Failure> {
    let no = number(connection, id)?;
    // What an index lacks would be taken for free to remove.
    let sql = "SELECT count(*) FROM sessions NOT INDEXED WHERE parent = ?1";
    let n_forks: u64 = connection.query_row(sql, [no], |row| row.get(0))?;
    if n_forks > 0 {
        return Err(Error::has_forks(id, n_forks).into());
    }
    let events = [event_id(no, 0)?, event_id(no, SEQS - 1)?];
    let words = "DELETE FROM event_words WHERE rowid IN
        (SELECT id FROM events WHERE id BETWEEN ?1 AND ?2)";
    connection.execute(words, events)?;
    connection.execute("DELETE FROM events WHERE id BETWEEN ?1 AND ?2", events)?;
    connection.execute("DELETE FROM records WHERE session = ?1", [no])?;
    connection.execute("DELETE FROM requests WHERE id BETWEEN ?1 AND ?2", events)?;
    connection.execute("DELETE FROM sessions WHERE no = ?1", [no])?;
    Ok(())
}

pub(crate) fn commit(connection: &Connection, commit: &Commit) -> Result<Committed, Failure> {
    let id = commit.session;
    let n_events = commit.events().len() as u64;
    let mut statement = connection.prepare_cached(
        "UPDATE sessions SET next_seq = next_seq + ?3, next_record = next_record + ?4,
            next_request = next_request + ?5, changed = max(changed, ?6),
            title = coalesce(?7, title), tally = tally + ?9
         WHERE id = ?1 AND (?2 IS NULL OR next_seq = ?2) AND (?8 IS NULL OR next_record = ?8)
         RETURNING id, no, next_seq, next_record, next_request",
    )?;
    let (n_records, n_requests) = (commit.records.len() as u64, commit.request.is_some().into());
    let params = params![
        id.0.as_bytes(),
        commit.expected(),
        n_events,
        n_records,
        n_requests,
        commit.at.as_microseconds(),
        commit.title,
        commit.expected_record,
        checksum::tally(n_events, n_records, n_requests),
    ];
    let row = statement.query_row(params, |row| {
        let [next_seq, next_record, next_request]: [u64; 3] =
            [row.get(2)?, row.get(3)?, row.get(4)?];
        Ok((row.get(0)?, row.get(1)?, next_seq, next_record, next_request))
    });
    let Some((found, no, next_seq, next_record, next_request)) = row.optional()? else {
        return Err(commit.refused(&head(connection, id)?).into());
    };
    check_found(id, Some(found))?;
    let first = next_seq - n_events;
    if commit.title.is_some() {
        let sum = checksum::of_session(&unchecked_head(connection, id)?.head).cast_signed();
        let sql = "UPDATE sessions SET sum = ?2 WHERE no = ?1";
        connection.prepare_cached(sql)?.execute(params![no, sum])?;
    }
    for (seq, event) in (first..).zip(commit.events()) {
        insert_event(connection, (no, seq), commit.at, event)?;
    }
    if commit.events().len() >= words::MANY {
        words::index_all_of(connection, no)?;
    }
    for (record, change) in (next_record - n_records..).zip(&commit.records) {
        insert_record(connection, id, no, (record, next_seq, commit.at), change)?;
    }
    if let Some(request) = &commit.request {
        if request.no + 1 != next_request {
            return Err(Error::request_conflict(id, request.no, next_request - 1).into());
        }
        insert_request(connection, (no, first, commit.at), request)?;
    }
    if let Some(usage) = commit.usage {
        note_usage(connection, id, no, usage)?;
    }
    Ok(Committed { next_seq, next_request, next_record })
}

fn insert_event(
    connection: &Connection,
    (no, seq): (i64, u64),
    at: Timestamp,
    event: &NewEvent,
) -> Result<(), Failure> {
    let sql = "INSERT INTO events (id, at, version, body, sum) VALUES (?1, ?2, ?3, ?4, ?5)";
    let NewEvent { version, body, .. } = event;
    let at = event.at.unwrap_or(at);
    let sum = checksum::of_event(seq, at, *version, body).cast_signed();
    let params = params![event_id(no, seq)?, at.as_microseconds(), version, body, sum];
    connection.prepare_cached(sql)?.execute(params)?;
    Ok(())
}

fn insert_record(
    connection: &Connection,
    id: SessionId,
    session: i64,
    (no, seq, at): (u64, u64, Timestamp),
    change: &RecordChange,
) -> Result<(), Failure> {
    if change.expect != crate::Expect::Any {
        let which = RecordFilter { kind: Some(change.kind), as_of: None };
        let visible = standing(record_rows(connection, id, &lineage(connection, id)?, which)?);
        let visible = visible.iter().find(|record| record.key == change.key);
        change.check_expected(id, visible.map(|record| record.no))?;
    }
    let RecordChange { kind, key, body, .. } = change;
    let body = body.as_ref().map(|body| body.as_str());
    let sum = checksum::of_record((no, seq, at), (*kind, key), body).cast_signed();
    let sql = "INSERT INTO records VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let at = at.as_microseconds();
    let params = params![session, kind.as_str(), key, no, seq, at, body, sum];
    connection.prepare_cached(sql)?.execute(params)?;
    Ok(())
}

fn insert_request(
    connection: &Connection,
    (session, seq, at): (i64, u64, Timestamp),
    request: &NewRequest,
) -> Result<(), Failure> {
    let body = &request.body;
    let (numbers, names) = ((request.no, seq, at), [&*request.model, &*request.vendor]);
    let sum = checksum::of_request(numbers, names, body, request.report.as_str());
    connection
        .prepare_cached(
            "INSERT INTO requests
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, NULL, ?14, NULL)",
        )?
        .execute(params![
            event_id(session, request.no)?,
            seq,
            at.as_microseconds(),
            request.model,
            request.vendor,
            body.hash,
            body.len,
            body.whole,
            body.prefix,
            body.suffix,
            body.since_whole,
            body.middle,
            request.report.as_str(),
            sum.cast_signed(),
        ])?;
    Ok(())
}

fn note_usage(
    connection: &Connection,
    id: SessionId,
    no: i64,
    usage: RequestUsage,
) -> Result<(), Failure> {
    let text = serde_json::to_string(&usage.usage)
        .map_err(|e| Error::invalid("the usage has no JSON form").caused_by(e))?;
    let sql = "UPDATE requests SET usage = ?2, usage_sum = ?3 WHERE id = ?1";
    let sum = checksum::of_usage(usage.no, &text).cast_signed();
    match connection.prepare_cached(sql)?.execute(params![event_id(no, usage.no)?, text, sum])? {
        0 => Err(Error::no_request(id, usage.no).into()),
        _ => Ok(()),
    }
}
