//! What became of a commit whose answer was lost.
//!
//! A commit takes numbers that nobody else can take: of its events, of its record changes,
//! of its request. So it can be made again. If it is refused then, because the numbers are
//! taken, what stands under them tells by whom.

use deadpool_postgres::GenericClient;
use tokio_postgres::types::ToSql;

use super::call::Again;
use super::read::{bigint, get, head, query};
use crate::error::Failure;
use crate::{Commit, Committed};

/// How a commit may be made again.
pub(crate) fn again(commit: &Commit) -> Again {
    let takes_a_number =
        !commit.events().is_empty() || commit.request.is_some() || commit.expected_record.is_some();
    // Without records, all that is left are a title and a usage, which are set.
    match takes_a_number || commit.records.is_empty() {
        true => Again::Finds,
        false => Again::Doubles,
    }
}

/// What this commit came to, if it is there.
pub(crate) async fn find(
    client: &impl GenericClient,
    commit: &Commit,
) -> Result<Option<Committed>, Failure> {
    let is_there = match (commit.events().is_empty(), commit.expected_record, &commit.request) {
        (false, _, _) => has_events(client, commit).await?,
        (true, Some(first), _) if !commit.records.is_empty() => {
            has_records(client, commit, first).await?
        }
        (true, _, Some(request)) => {
            let sql = "SELECT 1 FROM interleaf.requests
                       WHERE session = $1 AND no = $2 AND at = $3 AND hash = $4";
            let at = commit.at.as_microseconds();
            let hash = &request.body.hash[..];
            let params: [&(dyn ToSql + Sync); 4] =
                [&commit.session.0, &bigint(request.no), &at, &hash];
            !query(client, sql, &params).await?.is_empty()
        }
        (true, _, None) => false,
    };
    if !is_there {
        return Ok(None);
    }
    let head = head(client, commit.session).await?;
    let n_events = commit.events().len() as u64;
    let n_records = commit.records.len() as u64;
    Ok(Some(Committed {
        next_seq: commit.expected().map_or(head.next_seq, |expected| expected + n_events),
        // If others have changed records since, whoever wrote this one learns it.
        next_record: commit.expected_record.map_or(head.next_record, |first| first + n_records),
        next_request: commit.request.as_ref().map_or(head.next_request, |request| request.no + 1),
    }))
}

async fn has_events(client: &impl GenericClient, commit: &Commit) -> Result<bool, Failure> {
    let first = commit.expected().unwrap_or(0);
    let end = first + commit.events().len() as u64;
    let sql = "SELECT at, version, body FROM interleaf.events
               WHERE session = $1 AND seq >= $2 AND seq < $3 ORDER BY seq";
    let rows = query(client, sql, &[&commit.session.0, &bigint(first), &bigint(end)]).await?;
    let mut same = rows.len() == commit.events().len();
    for (row, event) in rows.iter().zip(commit.events()) {
        let at = event.at.unwrap_or(commit.at).as_microseconds();
        let version: i32 = get(row, 1)?;
        same &= get::<i64>(row, 0)? == at && version as u32 == event.version;
        same &= get::<String>(row, 2)? == event.body;
    }
    Ok(same)
}

async fn has_records(
    client: &impl GenericClient,
    commit: &Commit,
    first: u64,
) -> Result<bool, Failure> {
    let end = first + commit.records.len() as u64;
    let sql = "SELECT kind, key, at, body FROM interleaf.records
               WHERE session = $1 AND no >= $2 AND no < $3 ORDER BY no";
    let rows = query(client, sql, &[&commit.session.0, &bigint(first), &bigint(end)]).await?;
    let mut same = rows.len() == commit.records.len();
    for (row, change) in rows.iter().zip(&commit.records) {
        same &= get::<String>(row, 0)? == change.kind.as_str();
        same &= get::<String>(row, 1)? == change.key;
        same &= get::<i64>(row, 2)? == commit.at.as_microseconds();
        let body: Option<String> = get(row, 3)?;
        same &= body.as_deref() == change.body.as_ref().map(|body| body.as_str());
    }
    Ok(same)
}
