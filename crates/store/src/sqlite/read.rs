//! Reading.

use interleaf_model::{AgentName, Json, Timestamp};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::commit::{SEQS, event_id};
use crate::checksum::{self, in_row, in_session};
use crate::error::Failure;
use crate::event::{EventRow, Sequence};
use crate::lineage::{Lineage, Link};
use crate::record::{RecordRow, standing};
use crate::session::HeadRow;
use crate::words::Terms;
use crate::{
    Error, ForkPoint, Found, Head, ListSessions, Page, Record, RecordFilter, Search, SentRequest,
    SessionId, StoredBody,
};

type Parsed<T> = Result<T, rusqlite::Error>;

const HEADS: &str = "SELECT s.id, s.title, s.agent, p.id, s.fork_seq, s.created, s.changed, \
     s.next_seq, s.next_request, s.next_record, s.sum, s.tally \
     FROM sessions s LEFT JOIN sessions p ON p.no = s.parent";

pub(crate) fn head(connection: &Connection, id: SessionId) -> Result<Head, Failure> {
    Ok(unchecked_head(connection, id)?.check()?)
}

pub(crate) fn unchecked_head(connection: &Connection, id: SessionId) -> Result<HeadRow, Failure> {
    let mut statement = connection.prepare_cached(&format!("{HEADS} WHERE s.id = ?1"))?;
    let row = statement.query_row([id.0.as_bytes()], head_row).optional();
    let row = row.map_err(|e| in_row(id, "its head", e))?;
    Ok(row.ok_or_else(|| Error::no_session(id))?)
}

pub(crate) fn list(connection: &Connection, list: ListSessions) -> Result<Vec<Head>, Failure> {
    let order = "ORDER BY s.changed DESC, s.id DESC LIMIT ?1";
    let limit = i64::try_from(list.limit).unwrap_or(i64::MAX);
    let rows: Vec<HeadRow> = match list.after {
        None => {
            let mut statement = connection.prepare_cached(&format!("{HEADS} {order}"))?;
            collect(statement.query_map([limit], head_row)?)?
        }
        Some((changed, id)) => {
            let sql = format!("{HEADS} WHERE (s.changed, s.id) < (?2, ?3) {order}");
            let mut statement = connection.prepare_cached(&sql)?;
            let params = params![limit, changed.as_microseconds(), id.0.as_bytes()];
            collect(statement.query_map(params, head_row)?)?
        }
    };
    Ok(rows.into_iter().map(HeadRow::check).collect::<Result<_, _>>()?)
}

/// The session and its ancestors, by their numbers.
pub(crate) fn lineage(connection: &Connection, id: SessionId) -> Result<Lineage<i64>, Failure> {
    // `UNION` takes each session once, so that a circle comes to an end.
    let sql = "WITH RECURSIVE line (no) AS (
            SELECT no FROM sessions WHERE id = ?1
            UNION
            SELECT parent FROM line JOIN sessions USING (no) WHERE parent IS NOT NULL
        )
        SELECT s.no, s.next_seq, s.next_record, s.fork_seq, s.fork_record, s.parent, s.id = ?1,
               s.id, p.id, s.fork_sum, s.tally, s.next_request
        FROM line JOIN sessions s USING (no) LEFT JOIN sessions p ON p.no = s.parent";
    let mut statement = connection.prepare_cached(sql)?;
    let mut first = None;
    let mut checks = vec![];
    let link = |row: &Row<'_>| {
        let fork: Option<u64> = row.get(3)?;
        let records: Option<u64> = row.get(4)?;
        let owner = row.get(0)?;
        if row.get(6)? {
            first = Some(owner);
        }
        let (next_seq, next_record) = (row.get(1)?, row.get(2)?);
        let (own, parent): (SessionId, Option<[u8; 16]>) = (uuid(row, 7)?, row.get(8)?);
        let point = parent
            .zip(fork)
            .map(|(id, seq)| ForkPoint { session: SessionId(Uuid::from_bytes(id)), seq });
        checks.push(checksum::check_fork((own, point, records), row.get(9)?));
        checks.push(checksum::check_tally(
            own,
            row.get(10)?,
            [next_seq, next_record, row.get(11)?],
        ));
        let fork = fork.map(|seq| (seq, records.unwrap_or(0)));
        Ok(Link { owner, parent: row.get(5)?, next_seq, next_record, fork })
    };
    let links = collect(statement.query_map([id.0.as_bytes()], link)?);
    let links: Vec<Link<i64>> = links.map_err(|e| in_row(id, "its head", e))?;
    let lineage = Lineage::of(id, first, links)?;
    checks.into_iter().collect::<Result<(), _>>()?;
    Ok(lineage)
}

/// The events of a page, each as `take` makes it of its row. A row is looked at where the
/// database has it.
pub(crate) fn events<T>(
    connection: &Connection,
    id: SessionId,
    page: Page,
    take: impl Fn(&EventRow<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Failure> {
    let lineage = lineage(connection, id)?;
    let seqs = page.seqs(lineage.len());
    let mut statement = connection.prepare_cached(
        "SELECT id, at, version, body, sum FROM events WHERE id >= ?1 AND id < ?2 ORDER BY id",
    )?;
    let mut events = Vec::with_capacity((seqs.end - seqs.start).min(4096) as usize);
    let mut sequence = Sequence::new(id, seqs.clone());
    for (no, piece) in lineage.pieces(&seqs) {
        let mut rows = statement.query([event_id(no, piece.start)?, event_id(no, piece.end)?])?;
        while let Some(row) = rows.next()? {
            let row = event_row(row).map_err(|e| in_row(id, name("event", row), e))?;
            sequence.take(row.seq)?;
            events.push(take(&row).map_err(in_session(id))?);
        }
    }
    sequence.end()?;
    Ok(events)
}

pub(crate) fn records(
    connection: &Connection,
    id: SessionId,
    which: RecordFilter,
) -> Result<Vec<Record>, Failure> {
    let lineage = lineage(connection, id)?;
    let mut statement = connection.prepare_cached(
        "SELECT count(*) FROM records WHERE session = ?1 AND no >= ?2 AND no < ?3",
    )?;
    for segment in lineage.segments() {
        let params = params![segment.owner, segment.records_from, segment.records_upto];
        let found = statement.query_row(params, |row| row.get(0))?;
        Lineage::check_records(id, segment, found)?;
    }
    Ok(standing(record_rows(connection, id, &lineage, which)?))
}

/// The newest row of every record in each segment.
pub(crate) fn record_rows(
    connection: &Connection,
    id: SessionId,
    lineage: &Lineage<i64>,
    which: RecordFilter,
) -> Result<Vec<RecordRow>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT kind, key, max(no), seq, at, body, sum FROM records
         WHERE session = ?1 AND no < ?2 AND seq <= ?3 AND (?4 IS NULL OR kind = ?4)
         GROUP BY kind, key",
    )?;
    let as_of = which.as_of.map_or(i64::MAX, |seq| i64::try_from(seq).unwrap_or(i64::MAX));
    let kind = which.kind.map(|kind| kind.as_str());
    let mut rows = vec![];
    for segment in lineage.segments() {
        let params = params![segment.owner, segment.records_upto, as_of, kind];
        let mut found = statement.query(params)?;
        while let Some(row) = found.next()? {
            let record = record_of(row).map_err(|e| in_row(id, record_name(row), e))?;
            record.check(row.get(6)?).map_err(in_session(id))?;
            rows.push(record);
        }
    }
    Ok(rows)
}

pub(crate) fn requests(
    connection: &Connection,
    id: SessionId,
    page: Page,
) -> Result<Vec<SentRequest>, Failure> {
    let nos = page.seqs(head(connection, id)?.next_request);
    let mut statement = connection.prepare_cached(
        "SELECT r.id, r.seq, r.at, r.model, r.vendor, r.hash, r.len, r.whole, r.prefix, r.suffix,
                r.since_whole, r.middle, r.report, r.usage, r.sum, r.usage_sum
         FROM requests r WHERE r.id >= ?1 AND r.id < ?2 ORDER BY r.id",
    )?;
    let no = super::commit::number(connection, id)?;
    let ids = [event_id(no, nos.start)?, event_id(no, nos.end)?];
    let mut rows = statement.query(ids)?;
    let mut requests = vec![];
    let mut sequence = Sequence::of_requests(id, nos);
    while let Some(row) = rows.next()? {
        let request = request_of(row).map_err(|e| in_row(id, name("request", row), e))?;
        sequence.take(request.no)?;
        let usage = row.get_ref(13)?.as_str_or_null().map_err(|e| damaged(13, e))?;
        request.check(row.get(14)?, usage, row.get(15)?).map_err(in_session(id))?;
        requests.push(request);
    }
    sequence.end()?;
    Ok(requests)
}

pub(crate) fn search(connection: &Connection, search: &Search) -> Result<Vec<Found>, Failure> {
    let terms = Terms::parse(&search.query)?;
    let (from, upto) = match search.session {
        None => (0, i64::MAX),
        Some(id) => {
            let no = super::commit::number(connection, id)?;
            (event_id(no, 0)?, event_id(no, SEQS - 1)?)
        }
    };
    // A session that was copied here has a higher number than younger ones, so that only
    // its id tells its age. What is found is put in order before any body is read.
    let mut statement = connection.prepare_cached(
        "SELECT e.id, e.at, e.version, e.body, e.sum, s.id
         FROM (SELECT w.rowid AS event FROM event_words w JOIN sessions s ON s.no = w.rowid >> 32
               WHERE event_words MATCH ?1 AND w.rowid BETWEEN ?2 AND ?3
               ORDER BY s.id DESC, w.rowid DESC LIMIT ?4)
         JOIN events e ON e.id = event JOIN sessions s ON s.no = event >> 32
         ORDER BY s.id DESC, event DESC",
    )?;
    let limit = i64::try_from(search.limit).unwrap_or(i64::MAX);
    let params = params![terms.fts5(), from, upto, limit];
    let mut rows = statement.query(params)?;
    let mut found = vec![];
    while let Some(row) = rows.next()? {
        let session = uuid(row, 5)?;
        let event = event_row(row).map_err(|e| in_row(session, name("event", row), e))?;
        let event = event.stored().map_err(in_session(session))?;
        let excerpt = terms.excerpt(&event.text()?);
        found.push(Found { session, seq: event.seq, excerpt });
    }
    Ok(found)
}

fn collect<T>(rows: impl Iterator<Item = Parsed<T>>) -> Result<Vec<T>, Failure> {
    Ok(rows.collect::<Parsed<Vec<T>>>()?)
}

fn head_row(row: &Row<'_>) -> Parsed<HeadRow> {
    let parent: Option<[u8; 16]> = row.get(3)?;
    let seq: Option<u64> = row.get(4)?;
    let agent: Option<String> = row.get(2)?;
    let head = Head {
        id: uuid(row, 0)?,
        title: row.get(1)?,
        agent: agent.map(AgentName::new),
        parent: parent
            .zip(seq)
            .map(|(id, seq)| ForkPoint { session: SessionId(Uuid::from_bytes(id)), seq }),
        created: time(row, 5)?,
        changed: time(row, 6)?,
        next_seq: row.get(7)?,
        next_request: row.get(8)?,
        next_record: row.get(9)?,
    };
    Ok(HeadRow { head, sum: row.get(10)?, tally: row.get(11)? })
}

pub(super) fn event_row<'r>(row: &'r Row<'_>) -> Parsed<EventRow<'r>> {
    let id: u64 = row.get(0)?;
    let body = row.get_ref(3)?.as_str().map_err(|e| damaged(3, e))?;
    let (at, version, sum) = (time(row, 1)?, row.get(2)?, row.get(4)?);
    Ok(EventRow { seq: id % SEQS, at, version, body, sum })
}

/// What a row is called that may not be readable otherwise.
fn name(what: &str, row: &Row<'_>) -> String {
    match row.get::<_, u64>(0) {
        Ok(id) => format!("{what} {}", id % SEQS),
        Err(_) => what.to_owned(),
    }
}

fn record_name(row: &Row<'_>) -> String {
    match (row.get::<_, String>(0), row.get::<_, String>(1)) {
        (Ok(kind), Ok(key)) => format!("the {kind} {key:?}"),
        _ => "a record".to_owned(),
    }
}

fn record_of(row: &Row<'_>) -> Parsed<RecordRow> {
    let kind: String = row.get(0)?;
    let body: Option<String> = row.get(5)?;
    Ok(RecordRow {
        kind: kind.parse().map_err(|e| damaged(0, e))?,
        key: row.get(1)?,
        no: row.get(2)?,
        seq: row.get(3)?,
        at: time(row, 4)?,
        body: body.map(|body| json(5, body)).transpose()?,
    })
}

fn request_of(row: &Row<'_>) -> Parsed<SentRequest> {
    let usage: Option<String> = row.get(13)?;
    let usage = usage.map(|usage| serde_json::from_str(&usage).map_err(|e| damaged(13, e)));
    Ok(SentRequest {
        no: row.get::<_, u64>(0)? % SEQS,
        seq: row.get(1)?,
        at: time(row, 2)?,
        model: row.get(3)?,
        vendor: row.get(4)?,
        body: StoredBody {
            hash: row.get(5)?,
            len: row.get(6)?,
            whole: row.get(7)?,
            prefix: row.get(8)?,
            suffix: row.get(9)?,
            since_whole: row.get(10)?,
            middle: row.get(11)?,
        },
        report: json(12, row.get(12)?)?,
        usage: usage.transpose()?,
    })
}

fn uuid(row: &Row<'_>, column: usize) -> Parsed<SessionId> {
    Ok(SessionId(Uuid::from_bytes(row.get(column)?)))
}

fn time(row: &Row<'_>, column: usize) -> Parsed<Timestamp> {
    Timestamp::from_microseconds(row.get(column)?).map_err(|e| damaged(column, e))
}

fn json(column: usize, text: String) -> Parsed<Json> {
    Json::parse(text).map_err(|e| damaged(column, e))
}

fn damaged(column: usize, e: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(e))
}
