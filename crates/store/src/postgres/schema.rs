//! Bringing a database to the newest form.

use std::time::Duration;

use deadpool_postgres::{GenericClient, Pool};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;

use crate::error::Failure;
use crate::migrations::Migrations;
use crate::{Error, ErrorKind};

pub(crate) const MIGRATIONS: Migrations = Migrations(&[
    include_str!("../../migrations/postgres/V1__sessions.sql"),
    include_str!("../../migrations/postgres/V2__records_and_requests.sql"),
    include_str!("../../migrations/postgres/V3__checksums.sql"),
    include_str!("../../migrations/postgres/V4__more_checksums.sql"),
    include_str!("../../migrations/postgres/V5__rows_without_checksum.sql"),
]);

/// What nodes that start at the same time lock, so that one of them migrates: `ILEF`.
const LOCK: i64 = 0x494c_4546;

pub(crate) async fn migrate(pool: &Pool, deadline: Duration) -> Result<(), Failure> {
    let mut client = pool.get().await?;
    let late = |_| Error::new(ErrorKind::Unavailable, "the server does not answer");
    let version_now = timeout(deadline, version(&client)).await.map_err(late)??;
    if MIGRATIONS.missing(version_now)?.next().is_none() {
        return Ok(());
    }
    let transaction = client.transaction().await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    // What is there may be much.
    transaction.batch_execute("SET LOCAL statement_timeout = 0").await?;
    transaction
        .batch_execute(
            "CREATE SCHEMA IF NOT EXISTS interleaf;
             CREATE TABLE IF NOT EXISTS interleaf.schema (version bigint NOT NULL)",
        )
        .await?;
    // Another node may have done it meanwhile.
    for (version, sql) in MIGRATIONS.missing(version(&transaction).await?)? {
        transaction.batch_execute(sql).await?;
        transaction.batch_execute("DELETE FROM interleaf.schema").await?;
        let sql = "INSERT INTO interleaf.schema VALUES ($1)";
        transaction.execute(sql, &[&(version as i64)]).await?;
    }
    Ok(transaction.commit().await?)
}

/// The version of the form of the database; 0 for an empty one.
async fn version(client: &impl GenericClient) -> Result<i64, Failure> {
    let there = "SELECT to_regclass('interleaf.schema') IS NOT NULL";
    if !client.query_one(there, &[]).await?.get::<_, bool>(0) {
        return Ok(0);
    }
    match client.query_opt("SELECT version FROM interleaf.schema", &[]).await {
        Ok(row) => Ok(row.map_or(0, |row| row.get(0))),
        Err(e) if e.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(0),
        Err(e) => Err(e.into()),
    }
}
