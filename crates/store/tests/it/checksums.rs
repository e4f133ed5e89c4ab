//! Whatever bit of a stored event or request flips, it is never read as good.

use interleaf_model::Json;
use interleaf_store::{Commit, ErrorKind, LastBody, NewRequest, Page, SessionId, Store};
use rusqlite::types::Value;
use rusqlite::{Connection, params};

use crate::fixture::{at, new_session, postgres, said, server, sqlite};

/// A session of three events and a request.
async fn filled(store: &dyn Store) -> SessionId {
    let session = new_session(store).await.id;
    let (body, _) = LastBody::after(None, [r#"{"messages":["one"]}"#]);
    let mut commit = Commit::new(session, at(1)).append(0, ["a", "é", "c"].map(said).into());
    let (model, vendor) = ("a-model".to_owned(), "anthropic".to_owned());
    let report = Json::parse(r#"{"steps":[]}"#).unwrap();
    commit.request = Some(NewRequest { no: 0, model, vendor, body, report });
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

#[tokio::test]
async fn a_flipped_bit_in_a_file_is_never_read_as_good() {
    let backend = sqlite().await.unwrap();
    let store = &*backend.store;
    let session = filled(store).await;
    let file = Connection::open(backend.url.strip_prefix("sqlite:").unwrap()).unwrap();
    let events = ["at", "version", "body", "sum"].map(|column| ("events", column, "TEXT"));
    let texts = ["model", "vendor", "report"].map(|column| ("requests", column, "TEXT"));
    let others = ["seq", "at", "hash", "len", "prefix", "suffix", "since_whole", "middle", "sum"];
    let others = others.map(|column| ("requests", column, "BLOB"));
    for (table, column, kind) in events.into_iter().chain(texts).chain(others) {
        let sql = format!("SELECT id, {column} FROM {table} ORDER BY id DESC LIMIT 1");
        let (id, good): (i64, Value) =
            file.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let (set, cast) = (
            format!("UPDATE {table} SET {column} = ?2 WHERE id = ?1"),
            format!("UPDATE {table} SET {column} = CAST(?2 AS {kind}) WHERE id = ?1"),
        );
        for bad in flipped(&good) {
            let sql = if matches!(bad, Value::Blob(_)) { &cast } else { &set };
            file.execute(sql, params![id, bad]).unwrap();
            let page = Page::from(0, 9);
            let error = match table {
                "events" => store.events(session, page).await.map(drop).and(
                    // Whoever rebuilds the conversation sees it as well.
                    store.replay(session, page).await.map(drop),
                ),
                _ => store.requests(session, page).await.map(drop),
            };
            let error = error.expect_err(&format!("{table}.{column}: {bad:?} was read"));
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{table}.{column}: {bad:?}: {error}");
        }
        file.execute(&set, params![id, good]).unwrap();
    }
    assert_eq!(store.events(session, Page::from(0, 9)).await.unwrap().len(), 3);
    assert_eq!(store.requests(session, Page::from(0, 9)).await.unwrap().len(), 1);
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
    ] {
        server::execute(&backend.url, &format!("UPDATE interleaf.{table} SET {change}")).await;
        let page = Page::from(0, 9);
        let read = match table {
            "events" => store.events(session, page).await.map(drop),
            _ => store.requests(session, page).await.map(drop),
        };
        let undone = if back.is_empty() { change } else { back };
        server::execute(&backend.url, &format!("UPDATE interleaf.{table} SET {undone}")).await;
        let error = read.expect_err(change);
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{change}");
        let named = error.to_string();
        assert!(named.starts_with(&format!("session {session}: ")) && named.ends_with(rule));
    }
    assert_eq!(store.events(session, Page::from(0, 9)).await.unwrap().len(), 3);
    assert_eq!(store.requests(session, Page::from(0, 9)).await.unwrap().len(), 1);
}
