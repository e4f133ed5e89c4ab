//! From every earlier form to the newest; what is newer, foreign or damaged is left alone.

use std::path::{Path, PathBuf};

use interleaf_conversation::{Conversation, Event};
use interleaf_model::Json;
use interleaf_store::{
    Commit, ErrorKind, ListSessions, NewSession, Page, RecordChange, RecordFilter, RecordKind,
    Search, SessionId, Store, StoredEvent, open,
};
use rusqlite::{Connection, params};

use crate::fixture::{at, new_session, said, say, server, sqlite, texts};

const APPLICATION: i64 = 0x494c_4546;

/// The SQL of every step, in order.
fn steps(database: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(database);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// A session of two events, as the first version wrote it, and a fork of it.
const SESSION: &str = "0198d7c2-0000-7000-8000-000000000001";
const FORK: &str = "0198d7c2-0000-7000-8000-000000000002";
const BODIES: [&str; 2] = [
    r#"{"appended":{"message":{"id":"m0","role":"user","parts":[{"type":"text","text":"an old word"}]}}}"#,
    r#"{"marked":{"index":0,"mark":"pinned"}}"#,
];

fn bytes(id: &str) -> [u8; 16] {
    uuid::Uuid::parse_str(id).unwrap().into_bytes()
}

/// The last versions that wrote no checksums.
const SQLITE_UNSUMMED: usize = 3;
const POSTGRES_UNSUMMED: usize = 2;

/// A file that a version without checksums wrote, and that was brought to a version.
fn sqlite_of_version(path: &Path, steps: &[String]) {
    let file = Connection::open(path).unwrap();
    let (unsummed, later) = steps.split_at(steps.len().min(SQLITE_UNSUMMED));
    for sql in unsummed {
        file.execute_batch(sql).unwrap();
    }
    let sql = "INSERT INTO sessions (id, title, parent, fork_seq, created, changed, next_seq)
               VALUES (?1, 'old', ?2, ?3, 5, 6, ?4)";
    file.execute(sql, params![bytes(SESSION), None::<i64>, None::<i64>, 2]).unwrap();
    file.execute(sql, params![bytes(FORK), 1, 1, 1]).unwrap();
    for (seq, body) in (0..).zip(BODIES) {
        let id = (1_i64 << 32) + seq;
        let sql = "INSERT INTO events (id, at, version, body) VALUES (?1, 7, 1, ?2)";
        file.execute(sql, params![id, body]).unwrap();
    }
    let sql = "INSERT INTO event_words (rowid, words) VALUES (?1, 'an old word')";
    file.execute(sql, [1_i64 << 32]).unwrap();
    for sql in later {
        file.execute_batch(sql).unwrap();
    }
    file.pragma_update(None, "application_id", APPLICATION).unwrap();
    file.pragma_update(None, "user_version", steps.len()).unwrap();
}

async fn postgres_of_version(url: &str, steps: &[String]) {
    let mut sql =
        "CREATE SCHEMA interleaf; CREATE TABLE interleaf.schema (version bigint);".to_owned();
    let (unsummed, later) = steps.split_at(steps.len().min(POSTGRES_UNSUMMED));
    sql.extend(unsummed.iter().map(String::as_str));
    sql += &format!(
        "INSERT INTO interleaf.schema VALUES ({});
         INSERT INTO interleaf.sessions (id, title, parent, fork_seq, created, changed, next_seq)
         VALUES ('{SESSION}', 'old', NULL, NULL, 5, 6, 2), ('{FORK}', 'old', '{SESSION}', 1, 5, 6, 1);
         INSERT INTO interleaf.events VALUES
             ('{SESSION}', 0, 7, 1, '{}', to_tsvector('simple', 'an old word')),
             ('{SESSION}', 1, 7, 1, '{}', NULL);",
        steps.len(),
        BODIES[0],
        BODIES[1],
    );
    sql.extend(later.iter().map(String::as_str));
    server::execute(url, &sql).await;
}

async fn check_old_session(store: &dyn Store) {
    let [session, fork]: [SessionId; 2] = [SESSION, FORK].map(|id| id.parse().unwrap());
    assert_eq!(store.list(ListSessions::default()).await.unwrap().len(), 2);
    let events = store.events(session, Page::newest(9)).await.unwrap();
    assert_eq!(events.iter().map(|event| event.body.as_str()).collect::<Vec<_>>(), BODIES);
    assert_eq!(store.search(Search::new("old")).await.unwrap().len(), 1);
    assert_eq!(texts(store, fork).await, ["an old word"]);
    let change = RecordChange::put(RecordKind::Todo, "a", Json::parse("1").unwrap());
    let commit = Commit::new(session, at(1)).append(2, vec![said("new")]).record(change);
    store.commit(commit).await.unwrap();
    assert_eq!(store.records(session, RecordFilter::default()).await.unwrap().len(), 1);
    assert_eq!(store.records(fork, RecordFilter::default()).await.unwrap().len(), 0);
}

#[tokio::test]
async fn sqlite_is_brought_forward_from_every_earlier_version() {
    let steps = steps("sqlite");
    for version in 1..=steps.len() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        sqlite_of_version(&path, &steps[..version]);
        for _ in 0..2 {
            let store = open(&format!("sqlite:{}", path.display())).await.unwrap();
            if version > 0 && store.head(SESSION.parse().unwrap()).await.unwrap().next_seq == 2 {
                check_old_session(&*store).await;
            }
        }
    }
}

#[tokio::test]
async fn postgres_is_brought_forward_from_every_earlier_version() {
    let steps = steps("postgres");
    for version in 1..=steps.len() {
        let Some(url) = server::new_database().await else { return };
        postgres_of_version(&url, &steps[..version]).await;
        check_old_session(&*open(&url).await.unwrap()).await;
        open(&url).await.unwrap();
    }
}

#[tokio::test]
async fn nodes_that_start_together_migrate_once() {
    let Some(url) = server::new_database().await else { return };
    let nodes = tokio::join!(open(&url), open(&url), open(&url), open(&url));
    for node in [nodes.0, nodes.1, nodes.2, nodes.3] {
        new_session(&*node.unwrap()).await;
    }
}

#[tokio::test]
async fn a_newer_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("newer.db");
    let file = Connection::open(&path).unwrap();
    file.pragma_update(None, "application_id", APPLICATION).unwrap();
    file.pragma_update(None, "user_version", 99).unwrap();
    file.execute_batch("CREATE TABLE from_the_future (x)").unwrap();
    drop(file);
    let refused = refused(&path).await;
    assert_eq!(refused.0, ErrorKind::Newer);
    assert!(refused.1.contains("version 99, and this program reads up to 6"), "{}", refused.1);

    let Some(url) = server::new_database().await else { return };
    open(&url).await.unwrap();
    server::execute(&url, "UPDATE interleaf.schema SET version = 99").await;
    assert_eq!(open(&url).await.err().unwrap().kind(), ErrorKind::Newer);
}

/// Opens what must be refused, and sees that not a byte of it has changed.
async fn refused(path: &Path) -> (ErrorKind, String) {
    let before = std::fs::read(path).unwrap();
    let error = open(&format!("sqlite:{}", path.display())).await.err().unwrap();
    assert_eq!(std::fs::read(path).unwrap(), before);
    (error.kind(), error.to_string())
}

#[tokio::test]
async fn a_file_that_is_no_database_of_ours_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.db");
    std::fs::write(&path, "This is a letter, not a database. ".repeat(200)).unwrap();
    assert_eq!(refused(&path).await.0, ErrorKind::Corrupt);

    let path = folder.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE recipes (x)").unwrap();
    let refused = refused(&path).await;
    assert_eq!(refused.0, ErrorKind::Corrupt);
    assert!(refused.1.contains("a database of another program"), "{}", refused.1);
}

#[tokio::test]
async fn a_file_whose_tables_are_not_those_of_its_version_is_corrupt() {
    let steps = steps("sqlite");
    let newest = steps.len();
    // The last steps may change rows alone.
    let last = steps.iter().rposition(|sql| sql.contains(" TABLE ")).unwrap();
    let (_folder, path, _) = full_file().await;
    let whole = std::fs::read(&path).unwrap();
    for version in 0..=last {
        std::fs::write(&path, &whole).unwrap();
        let file = Connection::open(&path).unwrap();
        file.pragma_update(None, "user_version", version).unwrap();
        file.pragma_update(None, "journal_mode", "wal").unwrap();
        drop(file);
        let (kind, says) = refused(&path).await;
        assert_eq!(kind, ErrorKind::Corrupt, "version {version}: {says}");
    }
    for version in 1..=last {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        sqlite_of_version(&path, &steps[..version]);
        Connection::open(&path).unwrap().pragma_update(None, "user_version", newest).unwrap();
        let store = open(&format!("sqlite:{}", path.display())).await.unwrap();
        let error = store.list(ListSessions::default()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "version {version}: {error}");
        assert!(error.to_string().contains("of its version: no such column: "), "{error}");
        let new = store.create(NewSession::new("", at(0))).await.unwrap_err();
        assert_eq!(new.kind(), ErrorKind::Corrupt, "version {version}: {new}");
    }
}

/// A file with many events, closed.
async fn full_file() -> (tempfile::TempDir, PathBuf, SessionId) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let store = open(&format!("sqlite:{}", path.display())).await.unwrap();
    let session = new_session(&*store).await.id;
    let text = "many words ".repeat(50);
    say(&*store, session, 0, &[text.as_str(); 200]).await;
    drop(store);
    let file = Connection::open(&path).unwrap();
    file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    file.pragma_update(None, "journal_mode", "delete").unwrap();
    (folder, path, session)
}

#[tokio::test]
async fn a_damaged_file_is_refused_and_left_alone() {
    let (_folder, path, _) = full_file().await;
    let whole = std::fs::read(&path).unwrap();
    let mut overwritten = whole.clone();
    overwritten[20 * 4096..28 * 4096].fill(0x5a);
    let cut = whole[..whole.len() / 2].to_vec();
    for damaged in [overwritten, cut] {
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(refused(&path).await.0, ErrorKind::Corrupt);
    }
}

#[tokio::test]
async fn a_damaged_or_missing_event_is_named() {
    let backend = sqlite().await.unwrap();
    let session = new_session(&*backend.store).await.id;
    say(&*backend.store, session, 0, &["a", "b", "c"]).await;
    let path = backend.url.strip_prefix("sqlite:").unwrap();
    let other = Connection::open(path).unwrap();
    other.execute("UPDATE events SET body = '{\"appe' WHERE id & 3 = 1", []).unwrap();
    let error = backend.store.events(session, Page::from(0, 9)).await.unwrap_err();
    let rule = "it does not have the checksum that was written with it";
    let named = format!("session {session}: event 1 is damaged: {rule}");
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Corrupt, named));
    // What an earlier version wrote has no checksum, and is read for what it says.
    other.execute("UPDATE events SET sum = -1", []).unwrap();
    let events = backend.store.events(session, Page::from(0, 9)).await.unwrap();
    let error = events[1].event().unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::Corrupt, "event 1 is damaged")
    );
    other.execute("DELETE FROM events WHERE id & 3 = 1", []).unwrap();
    let error = backend.store.events(session, Page::from(0, 9)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

/// One event of every kind, as each version of the form wrote it.
#[test]
fn every_event_that_was_ever_written_still_loads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/events");
    let text = std::fs::read_to_string(folder.join("v1.jsonl")).unwrap();
    let events: Vec<Event> = (0..)
        .zip(text.lines())
        .map(|(seq, line)| StoredEvent { seq, at: at(0), version: 1, body: line.to_owned() })
        .map(|stored| stored.event().unwrap())
        .collect();
    let conversation = Conversation::replay(&events).unwrap();
    assert_eq!((conversation.log_len(), conversation.view_len()), (7, 0));
    let newer = StoredEvent { seq: 4, at: at(0), version: 2, body: "{}".to_owned() };
    assert_eq!(newer.event().unwrap_err().kind(), ErrorKind::Newer);
}
