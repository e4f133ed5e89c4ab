//! Writing, each in one transaction.

use deadpool_postgres::{Client, GenericClient};
use interleaf_model::Timestamp;
use tokio_postgres::error::SqlState;
use uuid::Uuid;

use super::outcome;
use super::read::{bigint, count, head, lineage, query, record_rows, unchecked_head};
use crate::error::Failure;
use crate::record::standing;
use crate::{
    Commit, Committed, Error, ErrorKind, Expect, Head, NewEvent, NewRequest, NewSession,
    RecordChange, RecordFilter, RequestUsage, SessionId, checksum,
};

/// Takes the numbers and writes the events: one statement, and nothing at all if the
/// session has moved on.
const APPEND: &str = "
    WITH head AS (
        UPDATE interleaf.sessions
        SET next_seq = next_seq + $3, next_record = next_record + $4,
            next_request = next_request + $5, changed = greatest(changed, $6),
            title = coalesce($7, title), tally = tally + $14
        WHERE id = $1 AND ($2::bigint IS NULL OR next_seq = $2)
            AND ($12::bigint IS NULL OR next_record = $12)
        RETURNING next_seq, next_record, next_request
    ), written AS (
        INSERT INTO interleaf.events (session, seq, at, version, body, words, sum)
        SELECT $1, head.next_seq - $3 + event.n - 1, event.at, event.version, event.body,
               to_tsvector('simple', nullif(event.words, '')), event.sum
        FROM head, unnest($8::int[], $9::text[], $10::text[], $11::bigint[], $13::bigint[])
             WITH ORDINALITY AS event (version, body, words, at, sum, n)
    )
    SELECT next_seq, next_record, next_request FROM head";

/// Makes a session; after an attempt that was lost, finds the one that it may have made.
pub(crate) async fn create_once(
    client: &mut Client,
    new: &NewSession,
    second: bool,
) -> Result<Head, Failure> {
    new.check()?;
    match create(client, new.clone()).await {
        Err(Failure(error)) if second && error.kind() == ErrorKind::Exists => {
            let there = head(client, new.id).await?;
            let mut made = new.clone().into_head(there.next_seq, there.next_record);
            made.changed = there.changed;
            made.next_request = there.next_request;
            if made == there { Ok(there) } else { Err(error.into()) }
        }
        done => done,
    }
}

async fn create(client: &mut Client, new: NewSession) -> Result<Head, Failure> {
    let transaction = client.transaction().await?;
    let (mut next_seq, mut records_from) = (0, 0);
    if let Some(fork) = new.parent {
        let lineage = lineage(&transaction, fork.session).await?;
        fork.check(lineage.len())?;
        let as_of = RecordFilter { kind: None, as_of: Some(fork.seq) };
        let rows = record_rows(&transaction, fork.session, &lineage, as_of).await?;
        next_seq = fork.seq;
        records_from = rows.iter().map(|row| row.no + 1).max().unwrap_or(0);
    }
    let head = new.into_head(next_seq, records_from);
    let sql = "INSERT INTO interleaf.sessions (id, title, agent, parent, fork_seq, fork_record,
                   created, changed, next_seq, next_record, sum, fork_sum, tally)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9, $10, $11, $12)
               ON CONFLICT (id) DO NOTHING";
    let fork = head.parent;
    let inserted = transaction
        .execute(
            sql,
            &[
                &head.id.0,
                &head.title,
                &head.agent.as_ref().map(|agent| agent.as_str()),
                &fork.map(|fork| fork.session.0),
                &fork.map(|_| bigint(next_seq)),
                &fork.map(|_| bigint(records_from)),
                &head.created.as_microseconds(),
                &bigint(next_seq),
                &bigint(records_from),
                &checksum::of_session(&head).cast_signed(),
                &checksum::of_fork(head.id, fork, fork.map(|_| records_from)).cast_signed(),
                &checksum::tally(next_seq, records_from, 0),
            ],
        )
        .await;
    match (inserted, fork) {
        (Ok(0), _) => return Err(Error::exists(head.id).into()),
        (Ok(_), _) => {}
        // The parent was removed in between.
        (Err(e), Some(fork)) if e.code() == Some(&SqlState::FOREIGN_KEY_VIOLATION) => {
            return Err(Error::no_session(fork.session).into());
        }
        (Err(e), _) => return Err(e.into()),
    }
    transaction.commit().await?;
    Ok(head)
}

/// Removes a session; after an attempt that was lost, it may be gone already.
pub(crate) async fn remove_once(
    client: &mut Client,
    id: SessionId,
    second: bool,
) -> Result<(), Failure> {
    match remove(client, id).await {
        Err(Failure(error)) if second && error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

async fn remove(client: &mut Client, id: SessionId) -> Result<(), Failure> {
    let transaction = client.transaction().await?;
    let sql = "SELECT count(*) FROM interleaf.sessions WHERE parent = $1";
    let n_forks = count(&transaction.query_one(sql, &[&id.0]).await?, 0)?;
    if n_forks > 0 {
        return Err(Error::has_forks(id, n_forks).into());
    }
    // The session first: that stops those who write to it.
    let sql = "DELETE FROM interleaf.sessions WHERE id = $1";
    match transaction.execute(sql, &[&id.0]).await {
        Ok(0) => return Err(Error::no_session(id).into()),
        Ok(_) => {}
        Err(e) if e.code() == Some(&SqlState::FOREIGN_KEY_VIOLATION) => {
            return Err(Error::has_forks(id, 1).into());
        }
        Err(e) => return Err(e.into()),
    }
    for table in ["events", "records", "requests"] {
        let sql = format!("DELETE FROM interleaf.{table} WHERE session = $1");
        transaction.execute(&sql, &[&id.0]).await?;
    }
    Ok(transaction.commit().await?)
}

/// Commits; after an attempt that was lost, finds what it may have written.
pub(crate) async fn commit_once(
    client: &mut Client,
    what: &Commit,
    second: bool,
) -> Result<Committed, Failure> {
    match commit(client, what).await {
        Err(Failure(error)) if second && error.kind() == ErrorKind::Conflict => {
            outcome::find(client, what).await?.ok_or_else(|| error.into())
        }
        done => done,
    }
}

async fn commit(client: &mut Client, commit: &Commit) -> Result<Committed, Failure> {
    if commit.only_appends() {
        return append(&*client, commit).await;
    }
    let transaction = client.transaction().await?;
    let done = append(&transaction, commit).await?;
    let id = commit.session;
    if commit.title.is_some() {
        let sum = checksum::of_session(&unchecked_head(&transaction, id).await?.head);
        let sql = "UPDATE interleaf.sessions SET sum = $2 WHERE id = $1";
        query(&transaction, sql, &[&id.0, &sum.cast_signed()]).await?;
    }
    for (no, change) in (done.next_record - commit.records.len() as u64..).zip(&commit.records) {
        insert_record(&transaction, id, (no, done.next_seq, commit.at), change).await?;
    }
    if let Some(request) = &commit.request {
        if request.no + 1 != done.next_request {
            return Err(Error::request_conflict(id, request.no, done.next_request - 1).into());
        }
        let seq = done.next_seq - commit.events().len() as u64;
        insert_request(&transaction, id.0, (seq, commit.at), request).await?;
    }
    if let Some(usage) = commit.usage {
        note_usage(&transaction, id, usage).await?;
    }
    transaction.commit().await?;
    Ok(done)
}

async fn append(client: &impl GenericClient, commit: &Commit) -> Result<Committed, Failure> {
    let id = commit.session;
    let events = commit.events();
    let versions: Vec<i32> = events.iter().map(|event| event.version as i32).collect();
    let bodies: Vec<&str> = events.iter().map(|event| event.body.as_str()).collect();
    let words: Vec<String> = events.iter().map(NewEvent::words).collect::<Result<_, _>>()?;
    let time = |event: &NewEvent| event.at.unwrap_or(commit.at);
    let times: Vec<i64> = events.iter().map(|event| time(event).as_microseconds()).collect();
    let sum = |(seq, event): (u64, &NewEvent)| {
        checksum::of_event(seq, time(event), event.version, &event.body).cast_signed()
    };
    let (n_events, n_records) = (events.len() as u64, commit.records.len() as u64);
    let n_requests = u64::from(commit.request.is_some());
    let sums: Vec<i64> = (commit.expected().unwrap_or(0)..).zip(events).map(sum).collect();
    let rows = query(
        client,
        APPEND,
        &[
            &id.0,
            &commit.expected().map(bigint),
            &bigint(n_events),
            &bigint(n_records),
            &bigint(n_requests),
            &commit.at.as_microseconds(),
            &commit.title,
            &versions,
            &bodies,
            &words,
            &times,
            &commit.expected_record.map(bigint),
            &sums,
            &checksum::tally(n_events, n_records, n_requests),
        ],
    )
    .await?;
    let Some(row) = rows.first() else {
        return Err(commit.refused(&head(client, id).await?).into());
    };
    let (next_seq, next_record, next_request) = (count(row, 0)?, count(row, 1)?, count(row, 2)?);
    Ok(Committed { next_seq, next_request, next_record })
}

async fn insert_record(
    client: &impl GenericClient,
    id: SessionId,
    (no, seq, at): (u64, u64, Timestamp),
    change: &RecordChange,
) -> Result<(), Failure> {
    if change.expect != Expect::Any {
        let which = RecordFilter { kind: Some(change.kind), as_of: None };
        let visible = record_rows(client, id, &lineage(client, id).await?, which).await?;
        let visible = standing(visible).into_iter().find(|record| record.key == change.key);
        change.check_expected(id, visible.map(|record| record.no))?;
    }
    let RecordChange { kind, key, body, .. } = change;
    let body = body.as_ref().map(|body| body.as_str());
    let sum = checksum::of_record((no, seq, at), (*kind, key), body).cast_signed();
    let sql = "INSERT INTO interleaf.records VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let (kind, no, seq, at) = (kind.as_str(), bigint(no), bigint(seq), at.as_microseconds());
    query(client, sql, &[&id.0, &kind, key, &no, &seq, &at, &body, &sum]).await?;
    Ok(())
}

async fn insert_request(
    client: &impl GenericClient,
    session: Uuid,
    (seq, at): (u64, Timestamp),
    request: &NewRequest,
) -> Result<(), Failure> {
    let body = &request.body;
    let (numbers, names) = ((request.no, seq, at), [&*request.model, &*request.vendor]);
    let sum = checksum::of_request(numbers, names, body, request.report.as_str());
    let sql = "INSERT INTO interleaf.requests
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, NULL, $15,
                       NULL)";
    query(
        client,
        sql,
        &[
            &session,
            &bigint(request.no),
            &bigint(seq),
            &at.as_microseconds(),
            &request.model,
            &request.vendor,
            &&body.hash[..],
            &bigint(body.len),
            &body.whole,
            &bigint(body.prefix),
            &bigint(body.suffix),
            &bigint(body.since_whole),
            &body.middle,
            &request.report.as_str(),
            &sum.cast_signed(),
        ],
    )
    .await?;
    Ok(())
}

async fn note_usage(
    client: &impl GenericClient,
    id: SessionId,
    usage: RequestUsage,
) -> Result<(), Failure> {
    let text = serde_json::to_string(&usage.usage)
        .map_err(|e| Error::invalid("the usage has no JSON form").caused_by(e))?;
    let sql = "UPDATE interleaf.requests SET usage = $3, usage_sum = $4
               WHERE session = $1 AND no = $2 RETURNING no";
    let sum = checksum::of_usage(usage.no, &text).cast_signed();
    match query(client, sql, &[&id.0, &bigint(usage.no), &text, &sum]).await?.is_empty() {
        true => Err(Error::no_request(id, usage.no).into()),
        false => Ok(()),
    }
}
