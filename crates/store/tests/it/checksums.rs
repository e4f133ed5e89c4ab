//! Whatever bit of what is stored flips, it is never read as good.

use interleaf_model::{AgentName, Json, Usage};
use interleaf_store::{
    Commit, Error, ErrorKind, ForkPoint, LastBody, ListSessions, NewRequest, NewSession, Page,
    RecordChange, RecordFilter, RecordKind, RequestUsage, SessionId, Store,
};
use rusqlite::types::Value;
use rusqlite::{Connection, params};

use crate::fixture::{at, postgres, said, say, server, sqlite};

/// The first page of all sessions.
const ALL: ListSessions = ListSessions { limit: 9, after: None };

/// A session of three events, a request that has cost something, and a record.
async fn filled(store: &dyn Store) -> SessionId {
    let agent = Some(AgentName::new("scout"));
    let new = NewSession { agent, ..NewSession::new("a title", at(0)) };
    let session = store.create(new).await.unwrap().id;
    let (body, _) = LastBody::after(None, [r#"{"messages":["one"]}"#]);
    let mut commit = Commit::new(session, at(1)).append(0, ["a", "é", "c"].map(said).into());
    let (model, vendor) = ("a-model".to_owned(), "anthropic".to_owned());
    let report = Json::parse(r#"{"steps":[]}"#).unwrap();
    commit.request = Some(NewRequest { no: 0, model, vendor, body, report });
    let todo = Json::parse(r#"{"text":"go"}"#).unwrap();
    commit = commit.record(RecordChange::put(RecordKind::Todo, "1", todo));
    let usage = Usage { prompt: 10, completion: 3, ..Usage::default() };
    commit.usage = Some(RequestUsage { no: 0, usage });
    commit.title = Some("another title".to_owned());
    store.commit(commit).await.unwrap();
    session
}

/// Every value that differs in one bit.
fn flipped(value: &Value) -> Vec<Value> {
    let bits = |bytes: &[u8]| -> Vec<Vec<u8>> {
        let flip = |bit: usize| {
            let mut bytes = bytes.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        };
        (0..8 * bytes.len()).map(flip).collect()
    };
    match value {
        Value::Null => vec![],
        Value::Integer(number) => (0..64).map(|bit| Value::Integer(number ^ (1 << bit))).collect(),
        Value::Real(_) => panic!("there is no such column"),
        // What is no text any more is written as bytes.
        Value::Text(text) => bits(text.as_bytes()).into_iter().map(Value::Blob).collect(),
        Value::Blob(bytes) => bits(bytes).into_iter().map(Value::Blob).collect(),
    }
}

/// The columns of a file in which a flipped bit makes a difference, with the type that a text
/// or bytes must have there.
fn columns() -> Vec<(&'static str, &'static str, &'static str)> {
    let texts = [
        ("events", &["body"][..]),
        ("requests", &["model", "vendor", "report", "usage"]),
        ("records", &["kind", "key", "body"]),
        ("sessions", &["title", "agent"]),
    ];
    let others = [
        ("events", &["at", "version", "sum"][..]),
        ("requests", &["seq", "at", "hash", "len", "prefix", "suffix", "since_whole", "middle"]),
        ("requests", &["sum", "usage_sum"]),
        ("records", &["no", "seq", "at", "sum"]),
        ("sessions", &["created", "next_seq", "next_request", "next_record", "sum", "tally"]),
        ("sessions", &["fork_sum"]),
    ];
    let of = |kind| {
        move |(table, names): (_, &'static [&'static str])| {
            names.iter().map(move |name| (table, *name, kind))
        }
    };
    texts.into_iter().flat_map(of("TEXT")).chain(others.into_iter().flat_map(of("BLOB"))).collect()
}

/// Reads what a table of the database holds.
async fn read(store: &dyn Store, session: SessionId, table: &str) -> Result<(), Error> {
    let page = Page::from(0, 9);
    match table {
        "events" => {
            store.events(session, page).await?;
            // Whoever rebuilds the conversation sees it as well.
            store.replay(session, page).await.map(drop)
        }
        "requests" => store.requests(session, page).await.map(drop),
        "records" => store.records(session, RecordFilter::default()).await.map(drop),
        _ => {
            store.head(session).await?;
            store.events(session, page).await.map(drop)
        }
    }
}

/// Whether a list tells that this column of a session is damaged.
fn is_listed(table: &str, column: &str) -> bool {
    table == "sessions" && column != "fork_sum"
}

async fn check_whole(store: &dyn Store, session: SessionId) {
    assert_eq!(store.head(session).await.unwrap().title, "another title");
    assert_eq!(store.list(ALL).await.unwrap().len(), 1);
    assert_eq!(store.events(session, Page::from(0, 9)).await.unwrap().len(), 3);
    assert_eq!(store.requests(session, Page::from(0, 9)).await.unwrap().len(), 1);
    assert_eq!(store.records(session, RecordFilter::default()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_flipped_bit_in_a_file_is_never_read_as_good() {
    let backend = sqlite().await.unwrap();
    let store = &*backend.store;
    let session = filled(store).await;
    let file = Connection::open(backend.url.strip_prefix("sqlite:").unwrap()).unwrap();
    file.execute_batch("PRAGMA synchronous = off").unwrap();
    for (table, column, kind) in columns() {
        let row = match table {
            "events" => "id = (SELECT max(id) FROM events)",
            _ => "true",
        };
        let good: Value = file
            .query_row(&format!("SELECT {column} FROM {table} WHERE {row}"), [], |row| row.get(0))
            .unwrap();
        assert_ne!(good, Value::Null, "{table}.{column}");
        let set = format!("UPDATE {table} SET {column} = ?1 WHERE {row}");
        let cast = format!("UPDATE {table} SET {column} = CAST(?1 AS {kind}) WHERE {row}");
        for bad in flipped(&good) {
            let sql = if matches!(bad, Value::Blob(_)) { &cast } else { &set };
            file.execute(sql, params![bad]).unwrap();
            let error = read(store, session, table).await;
            let error = error.expect_err(&format!("{table}.{column}: {bad:?} was read"));
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{table}.{column}: {bad:?}: {error}");
            let named = match table {
                "events" => "event 2",
                "requests" => "request 0",
                _ => "",
            };
            let told = error.to_string();
            let is_named = told.contains(&session.to_string()) && told.contains(named);
            assert!(is_named, "{table}.{column}: {bad:?}: {error}");
            if is_listed(table, column) {
                let listed = store.list(ALL).await;
                let error = listed.expect_err(&format!("{table}.{column}: {bad:?} was listed"));
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{table}.{column}: {bad:?}: {error}");
            }
        }
        file.execute(&set, params![good]).unwrap();
    }
    check_whole(store, session).await;
}

/// The columns that hold a checksum.
const SUMS: [(&str, &str); 7] = [
    ("events", "sum"),
    ("requests", "sum"),
    ("requests", "usage_sum"),
    ("records", "sum"),
    ("sessions", "sum"),
    ("sessions", "tally"),
    ("sessions", "fork_sum"),
];

/// What a row without a checksum is called.
fn check_gone(read: Result<(), Error>, (table, column): (&str, &str)) {
    let Err(error) = read else { panic!("{table} was read without {column}") };
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{table}.{column}: {error}");
    let rule = "is damaged: the checksum that was written with it is gone";
    assert!(error.to_string().ends_with(rule), "{table}.{column}: {error}");
}

#[tokio::test]
async fn a_row_of_a_file_whose_checksum_is_gone_is_never_read_as_good() {
    for (table, column) in SUMS {
        let backend = sqlite().await.unwrap();
        let store = &*backend.store;
        let session = filled(store).await;
        let file = Connection::open(backend.url.strip_prefix("sqlite:").unwrap()).unwrap();
        file.execute(&format!("UPDATE {table} SET {column} = NULL"), []).unwrap();
        check_gone(read(store, session, table).await, (table, column));
        if is_listed(table, column) {
            check_gone(store.list(ALL).await.map(drop), (table, column));
        }
    }
}

#[tokio::test]
async fn a_row_of_a_server_whose_checksum_is_gone_is_never_read_as_good() {
    let Some(backend) = postgres().await else { return };
    let store = &*backend.store;
    for (table, column) in SUMS {
        let session = filled(store).await;
        let change = format!("UPDATE interleaf.{table} SET {column} = NULL");
        server::execute(&backend.url, &change).await;
        check_gone(read(store, session, table).await, (table, column));
        server::execute(&backend.url, "TRUNCATE interleaf.sessions CASCADE").await;
    }
}

#[tokio::test]
async fn a_fork_whose_point_of_fork_has_changed_is_not_read() {
    let backend = sqlite().await.unwrap();
    let store = &*backend.store;
    let parent = filled(store).await;
    let fork = Some(ForkPoint { session: parent, seq: 1 });
    let fork = NewSession { parent: fork, ..NewSession::new("a fork", at(2)) };
    let fork = store.create(fork).await.unwrap().id;
    say(store, fork, 1, &["x", "y"]).await;
    let file = Connection::open(backend.url.strip_prefix("sqlite:").unwrap()).unwrap();
    for column in ["fork_seq", "fork_record"] {
        let change = format!("UPDATE sessions SET {column} = {column} + 1 WHERE parent NOT NULL");
        file.execute(&change, []).unwrap();
        let error = store.events(fork, Page::from(0, 9)).await.unwrap_err();
        let rule = "its point of fork is damaged: it does not have the checksum";
        assert!(error.to_string().contains(rule), "{error}");
        file.execute(&change.replace("+ 1", "- 1"), []).unwrap();
    }
    assert_eq!(store.events(fork, Page::from(0, 9)).await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_changed_row_of_a_server_is_never_read_as_good() {
    let Some(backend) = postgres().await else { return };
    let store = &*backend.store;
    let session = filled(store).await;
    let rule = "does not have the checksum that was written with it";
    for (table, change, back) in [
        ("events", "at = at # 1", "at = at # 1"),
        ("events", "body = replace(body, 'text', 'tdxt')", "body = replace(body, 'tdxt', 'text')"),
        ("events", "sum = sum # 4096", "sum = sum # 4096"),
        ("requests", "middle = set_bit(middle, 9, 1 - get_bit(middle, 9))", ""),
        ("requests", "middle = set_bit(middle, 9, 1 - get_bit(middle, 9))", ""),
        ("requests", "report = replace(report, '[', ' [')", "report = replace(report, ' [', '[')"),
        ("requests", "len = len # 1", "len = len # 1"),
        ("requests", "usage = replace(usage, '10', '11')", "usage = replace(usage, '11', '10')"),
        ("records", "body = replace(body, 'go', 'ho')", "body = replace(body, 'ho', 'go')"),
        ("records", "at = at # 1", "at = at # 1"),
        ("sessions", "title = 'onother title'", "title = 'another title'"),
        ("sessions", "next_seq = next_seq # 1", "next_seq = next_seq # 1"),
        ("sessions", "next_request = next_request # 1", "next_request = next_request # 1"),
        ("sessions", "fork_sum = fork_sum # 1", "fork_sum = fork_sum # 1"),
    ] {
        server::execute(&backend.url, &format!("UPDATE interleaf.{table} SET {change}")).await;
        let read = read(store, session, table).await;
        let column = change.split_once(' ').unwrap().0;
        let listed = store.list(ALL).await;
        assert_eq!(listed.is_err(), is_listed(table, column), "{change}: {listed:?}");
        let undone = if back.is_empty() { change } else { back };
        server::execute(&backend.url, &format!("UPDATE interleaf.{table} SET {undone}")).await;
        let error = read.expect_err(change);
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{change}");
        let named = error.to_string();
        assert!(named.starts_with(&format!("session {session}: ")), "{named}");
        assert!(named.ends_with(rule), "{named}");
    }
    check_whole(store, session).await;
}
