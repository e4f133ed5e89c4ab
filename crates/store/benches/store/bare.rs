//! The same inserts with the database client alone: the same tables, indices and
//! statements, and nothing around them.

use std::path::Path;
use std::time::{Duration, Instant};

use interleaf_store::NewEvent;
use rusqlite::{Connection, params};
use tokio_postgres::NoTls;

pub(crate) enum Bare {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Bare {
    /// Appends to a session of its own, `n` events per commit.
    pub(crate) async fn append(&mut self, events: &[NewEvent], per_commit: usize) -> Duration {
        match self {
            Self::Sqlite(bare) => bare.append(events, per_commit),
            Self::Postgres(bare) => bare.append(events, per_commit).await,
        }
    }
}

pub(crate) struct Sqlite {
    connection: Connection,
    n_sessions: i64,
}

impl Sqlite {
    pub(crate) fn open(path: &Path) -> Self {
        let connection = Connection::open(path).unwrap();
        connection.pragma_update(None, "journal_mode", "wal").unwrap();
        connection.pragma_update(None, "synchronous", "full").unwrap();
        let schema = include_str!("../../migrations/sqlite/V1__sessions.sql");
        connection.execute_batch(schema).unwrap();
        Self { connection, n_sessions: 0 }
    }

    fn append(&mut self, events: &[NewEvent], per_commit: usize) -> Duration {
        self.n_sessions += 1;
        let no = self.n_sessions;
        let id = uuid::Uuid::now_v7();
        self.connection
            .execute(
                "INSERT INTO sessions VALUES (?1, ?2, '', NULL, NULL, NULL, 1, 1, 0)",
                params![no, id.as_bytes()],
            )
            .unwrap();
        let start = Instant::now();
        let mut seq = 0;
        for part in events.chunks(per_commit) {
            let transaction = self.connection.unchecked_transaction().unwrap();
            let sql = "UPDATE sessions SET next_seq = next_seq + ?3, changed = max(changed, ?4)
                       WHERE id = ?1 AND next_seq = ?2 RETURNING no";
            let mut update = transaction.prepare_cached(sql).unwrap();
            let params = params![id.as_bytes(), seq, part.len() as i64, 1_795_000_000_000_000_i64];
            update.query_row(params, |row| row.get::<_, i64>(0)).unwrap();
            let event = "INSERT INTO events VALUES (?1, ?2, 1, ?3)";
            let mut event_row = transaction.prepare_cached(event).unwrap();
            let words = "INSERT INTO event_words (rowid, words) VALUES (?1, ?2)";
            let mut words_row = transaction.prepare_cached(words).unwrap();
            for event in part {
                let id = (no << 32) + seq;
                event_row.execute(params![id, 1_i64, event.body()]).unwrap();
                // As the store does it: what comes one by one is indexed by a search.
                if part.len() >= 256 {
                    words_row.execute(params![id, event.words().unwrap()]).unwrap();
                }
                seq += 1;
            }
            drop((update, event_row, words_row));
            transaction.commit().unwrap();
        }
        start.elapsed()
    }
}

pub(crate) struct Postgres(tokio_postgres::Client);

impl Postgres {
    pub(crate) async fn open(url: &str) -> Self {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute("CREATE SCHEMA interleaf").await.unwrap();
        let schema = include_str!("../../migrations/postgres/V1__sessions.sql");
        client.batch_execute(schema).await.unwrap();
        Self(client)
    }

    async fn append(&mut self, events: &[NewEvent], per_commit: usize) -> Duration {
        let id = uuid::Uuid::now_v7();
        let sql = "INSERT INTO interleaf.sessions VALUES ($1, '', NULL, NULL, NULL, 1, 1, 0)";
        self.0.execute(sql, &[&id]).await.unwrap();
        let statement = "
            WITH head AS (
                UPDATE interleaf.sessions
                SET next_seq = next_seq + $3, changed = greatest(changed, $4)
                WHERE id = $1 AND next_seq = $2 RETURNING next_seq
            ), written AS (
                INSERT INTO interleaf.events
                SELECT $1, head.next_seq - $3 + event.n - 1, $4, 1, event.body,
                       to_tsvector('simple', nullif(event.words, ''))
                FROM head, unnest($5::text[], $6::text[]) WITH ORDINALITY AS event (body, words, n)
            )
            SELECT next_seq FROM head";
        let start = Instant::now();
        let statement = self.0.prepare(statement).await.unwrap();
        let mut seq = 0_i64;
        for part in events.chunks(per_commit) {
            let bodies: Vec<&str> = part.iter().map(NewEvent::body).collect();
            let words: Vec<String> = part.iter().map(|event| event.words().unwrap()).collect();
            let n = part.len() as i64;
            let at = 1_795_000_000_000_000_i64;
            let row = self.0.query_one(&statement, &[&id, &seq, &n, &at, &bodies, &words]).await;
            seq = row.unwrap().get(0);
        }
        start.elapsed()
    }
}

/// How many bytes a database takes.
pub(crate) async fn size_on_disk(url: &str) -> u64 {
    if let Some(path) = url.strip_prefix("sqlite:") {
        let files = ["", "-wal"].map(|end| std::fs::metadata(format!("{path}{end}")));
        return files.into_iter().flatten().map(|file| file.len()).sum();
    }
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let sql = "SELECT pg_database_size(current_database())";
    client.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) as u64
}
