//! Reading.

use deadpool_postgres::{Client, GenericClient};
use interleaf_model::{AgentName, Json, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSqlOwned, ToSql};
use uuid::Uuid;

use crate::checksum::{self, in_row, in_session};
use crate::error::Failure;
use crate::event::{EventRow, Sequence};
use crate::lineage::{Lineage, Link};
use crate::record::{RecordRow, standing};
use crate::session::HeadRow;
use crate::words::Terms;
use crate::{
    Error, ForkPoint, Found, Head, ListSessions, Page, Record, RecordFilter, Search, SentRequest,
    SessionId, StoredBody, StoredEvent,
};

const HEADS: &str = "SELECT id, title, agent, parent, fork_seq, created, changed, next_seq, \
     next_request, next_record, sum, tally FROM interleaf.sessions";

/// Asks with a statement that the connection remembers.
pub(crate) async fn query(
    client: &impl GenericClient,
    sql: &str,
    params: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, Failure> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query(&statement, params).await?)
}

pub(crate) async fn head(client: &impl GenericClient, id: SessionId) -> Result<Head, Failure> {
    Ok(unchecked_head(client, id).await?.check()?)
}

pub(crate) async fn unchecked_head(
    client: &impl GenericClient,
    id: SessionId,
) -> Result<HeadRow, Failure> {
    let rows = query(client, &format!("{HEADS} WHERE id = $1"), &[&id.0]).await?;
    head_row(rows.first().ok_or_else(|| Error::no_session(id))?)
}

pub(crate) async fn list(client: &Client, list: ListSessions) -> Result<Vec<Head>, Failure> {
    let (order, limit) = ("ORDER BY changed DESC, id DESC LIMIT $1", bigint(list.limit as u64));
    let rows = match list.after {
        None => query(client, &format!("{HEADS} {order}"), &[&limit]).await?,
        Some((changed, id)) => {
            let sql = format!("{HEADS} WHERE (changed, id) < ($2, $3) {order}");
            query(client, &sql, &[&limit, &changed.as_microseconds(), &id.0]).await?
        }
    };
    rows.iter().map(|row| Ok(head_row(row)?.check()?)).collect()
}

/// The session and its ancestors.
pub(crate) async fn lineage(
    client: &impl GenericClient,
    id: SessionId,
) -> Result<Lineage<Uuid>, Failure> {
    // `UNION` takes each session once, so that a circle comes to an end.
    let sql = "WITH RECURSIVE line (id) AS (
            SELECT $1::uuid
            UNION
            SELECT parent FROM line JOIN interleaf.sessions USING (id) WHERE parent IS NOT NULL
        )
        SELECT id, next_seq, next_record, fork_seq, fork_record, parent, fork_sum, tally,
               next_request
        FROM line JOIN interleaf.sessions USING (id)";
    let (mut links, mut checks) = (vec![], vec![]);
    for row in query(client, sql, &[&id.0]).await? {
        let fork = get::<Option<i64>>(&row, 3)?.map(i64::cast_unsigned);
        let records = get::<Option<i64>>(&row, 4)?.map(i64::cast_unsigned);
        let (owner, parent): (Uuid, Option<Uuid>) = (get(&row, 0)?, get(&row, 5)?);
        let (next_seq, next_record) = (count(&row, 1)?, count(&row, 2)?);
        let own = SessionId(owner);
        let point = parent.zip(fork).map(|(id, seq)| ForkPoint { session: SessionId(id), seq });
        checks.push(checksum::check_fork((own, point, records), get(&row, 6)?));
        let counters = [next_seq, next_record, count(&row, 8)?];
        checks.push(checksum::check_tally(own, get(&row, 7)?, counters));
        let fork = fork.map(|seq| (seq, records.unwrap_or(0)));
        links.push(Link { owner, parent, next_seq, next_record, fork });
    }
    let first = links.iter().map(|link| link.owner).find(|owner| *owner == id.0);
    let lineage = Lineage::of(id, first, links)?;
    checks.into_iter().collect::<Result<(), _>>()?;
    Ok(lineage)
}

pub(crate) async fn events(
    client: &Client,
    id: SessionId,
    page: Page,
) -> Result<Vec<StoredEvent>, Failure> {
    // Events never change, so that what was there at the first question is there still.
    let lineage = lineage(client, id).await?;
    let seqs = page.seqs(lineage.len());
    let sql = "SELECT seq, at, version, body, sum FROM interleaf.events
               WHERE session = $1 AND seq >= $2 AND seq < $3 ORDER BY seq";
    let mut events = vec![];
    let mut sequence = Sequence::new(id, seqs.clone());
    for (owner, piece) in lineage.pieces(&seqs) {
        let params: [&(dyn ToSql + Sync); 3] = [&owner, &bigint(piece.start), &bigint(piece.end)];
        for row in query(client, sql, &params).await? {
            let event = event_row(&row).map_err(|e| in_row(id, name("event", &row), e))?;
            let event = event.stored().map_err(in_session(id))?;
            sequence.take(event.seq)?;
            events.push(event);
        }
    }
    if let Err(lacks) = sequence.end() {
        // It may have been removed in between.
        head(client, id).await?;
        return Err(lacks.into());
    }
    Ok(events)
}

pub(crate) async fn records(
    client: &Client,
    id: SessionId,
    which: RecordFilter,
) -> Result<Vec<Record>, Failure> {
    let lineage = lineage(client, id).await?;
    let sql = "SELECT count(*) FROM interleaf.records WHERE session = $1 AND no >= $2 AND no < $3";
    for segment in lineage.segments() {
        let (from, upto) = (bigint(segment.records_from), bigint(segment.records_upto));
        let rows = query(client, sql, &[&segment.owner, &from, &upto]).await?;
        let found = rows.first().map_or(Ok(0), |row| count(row, 0))?;
        if let Err(lacks) = Lineage::check_records(id, segment, found) {
            // It may have been removed in between.
            head(client, id).await?;
            return Err(lacks.into());
        }
    }
    Ok(standing(record_rows(client, id, &lineage, which).await?))
}

/// The newest row of every record in each segment.
pub(crate) async fn record_rows(
    client: &impl GenericClient,
    id: SessionId,
    lineage: &Lineage<Uuid>,
    which: RecordFilter,
) -> Result<Vec<RecordRow>, Failure> {
    let sql = "SELECT DISTINCT ON (kind, key) kind, key, no, seq, at, body, sum
               FROM interleaf.records
               WHERE session = $1 AND no < $2 AND seq <= $3 AND ($4::text IS NULL OR kind = $4)
               ORDER BY kind, key, no DESC";
    let as_of = which.as_of.map_or(i64::MAX, bigint);
    let kind = which.kind.map(|kind| kind.as_str());
    let mut rows = vec![];
    for segment in lineage.segments() {
        let upto = bigint(segment.records_upto);
        for row in query(client, sql, &[&segment.owner, &upto, &as_of, &kind]).await? {
            let record = record_of(&row).map_err(|e| in_row(id, "a record", e))?;
            record.check(get(&row, 6)?).map_err(in_session(id))?;
            rows.push(record);
        }
    }
    Ok(rows)
}

pub(crate) async fn requests(
    client: &Client,
    id: SessionId,
    page: Page,
) -> Result<Vec<SentRequest>, Failure> {
    let nos = page.seqs(head(client, id).await?.next_request);
    let sql = "SELECT no, seq, at, model, vendor, hash, len, whole, prefix, suffix, since_whole,
                      middle, report, usage, sum, usage_sum
               FROM interleaf.requests WHERE session = $1 AND no >= $2 AND no < $3 ORDER BY no";
    let rows = query(client, sql, &[&id.0, &bigint(nos.start), &bigint(nos.end)]).await?;
    let mut sequence = Sequence::of_requests(id, nos);
    let mut requests = vec![];
    for row in &rows {
        let request = request_of(row).map_err(|e| in_row(id, name("request", row), e))?;
        sequence.take(request.no)?;
        request.check(get(row, 14)?, row.try_get(13)?, get(row, 15)?).map_err(in_session(id))?;
        requests.push(request);
    }
    if let Err(lacks) = sequence.end() {
        // It may have been removed in between.
        head(client, id).await?;
        return Err(lacks.into());
    }
    Ok(requests)
}

pub(crate) async fn search(client: &Client, search: &Search) -> Result<Vec<Found>, Failure> {
    let terms = Terms::parse(&search.query)?;
    if let Some(id) = search.session {
        head(client, id).await?;
    }
    let sql = "SELECT seq, at, version, body, sum, session FROM interleaf.events
               WHERE words @@ to_tsquery('simple', $1) AND ($2::uuid IS NULL OR session = $2)
               ORDER BY session DESC, seq DESC LIMIT $3";
    let session = search.session.map(|id| id.0);
    let limit = bigint(search.limit as u64);
    let mut found = vec![];
    for row in query(client, sql, &[&terms.tsquery(), &session, &limit]).await? {
        let session = SessionId(get(&row, 5)?);
        let event = event_row(&row).map_err(|e| in_row(session, name("event", &row), e))?;
        let event = event.stored().map_err(in_session(session))?;
        found.push(Found { session, seq: event.seq, excerpt: terms.excerpt(&event.text()?) });
    }
    Ok(found)
}

/// PostgreSQL has no unsigned numbers; none of ours comes near the difference.
pub(crate) fn bigint(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn count(row: &Row, column: usize) -> Result<u64, Failure> {
    let number: i64 = get(row, column)?;
    let negative = |_| Error::corrupt(format!("a number of the database is negative: {number}"));
    Ok(u64::try_from(number).map_err(negative)?)
}

pub(crate) fn get<T: FromSqlOwned>(row: &Row, column: usize) -> Result<T, Failure> {
    Ok(row.try_get(column)?)
}

fn head_row(row: &Row) -> Result<HeadRow, Failure> {
    let (parent, seq): (Option<Uuid>, Option<i64>) = (get(row, 3)?, get(row, 4)?);
    let agent: Option<String> = get(row, 2)?;
    let head = Head {
        id: SessionId(get(row, 0)?),
        title: get(row, 1)?,
        agent: agent.map(AgentName::new),
        parent: parent
            .zip(seq)
            .map(|(id, seq)| ForkPoint { session: SessionId(id), seq: seq as u64 }),
        created: time(row, 5)?,
        changed: time(row, 6)?,
        next_seq: count(row, 7)?,
        next_request: count(row, 8)?,
        next_record: count(row, 9)?,
    };
    Ok(HeadRow { head, sum: get(row, 10)?, tally: get(row, 11)? })
}

fn event_row(row: &Row) -> Result<EventRow<'_>, Failure> {
    let version: i32 = get(row, 2)?;
    Ok(EventRow {
        seq: count(row, 0)?,
        at: time(row, 1)?,
        version: version as u32,
        body: row.try_get(3)?,
        sum: get(row, 4)?,
    })
}

/// What a row is called that may not be readable otherwise.
fn name(what: &str, row: &Row) -> String {
    match count(row, 0) {
        Ok(number) => format!("{what} {number}"),
        Err(_) => what.to_owned(),
    }
}

fn record_of(row: &Row) -> Result<RecordRow, Failure> {
    let (kind, body): (String, Option<String>) = (get(row, 0)?, get(row, 5)?);
    Ok(RecordRow {
        kind: kind.parse()?,
        key: get(row, 1)?,
        no: count(row, 2)?,
        seq: count(row, 3)?,
        at: time(row, 4)?,
        body: body.map(json).transpose()?,
    })
}

fn request_of(row: &Row) -> Result<SentRequest, Failure> {
    let hash: Vec<u8> = get(row, 5)?;
    let short = |_| Error::corrupt("a hash of the database does not have 32 bytes");
    let usage: Option<String> = get(row, 13)?;
    let unread = |e| Error::corrupt("a usage of the database is damaged").caused_by(e);
    let usage = usage.map(|usage| serde_json::from_str(&usage).map_err(unread)).transpose()?;
    Ok(SentRequest {
        no: count(row, 0)?,
        seq: count(row, 1)?,
        at: time(row, 2)?,
        model: get(row, 3)?,
        vendor: get(row, 4)?,
        body: StoredBody {
            hash: hash.try_into().map_err(short)?,
            len: count(row, 6)?,
            whole: get(row, 7)?,
            prefix: count(row, 8)?,
            suffix: count(row, 9)?,
            since_whole: count(row, 10)?,
            middle: get(row, 11)?,
        },
        report: json(get(row, 12)?)?,
        usage,
    })
}

fn time(row: &Row, column: usize) -> Result<Timestamp, Failure> {
    let damaged = |e| Error::corrupt("a time of the database is damaged").caused_by(e);
    Ok(Timestamp::from_microseconds(get(row, column)?).map_err(damaged)?)
}

fn json(text: String) -> Result<Json, Failure> {
    let damaged = |e| Error::corrupt("a JSON text of the database is damaged").caused_by(e);
    Ok(Json::parse(text).map_err(damaged)?)
}
