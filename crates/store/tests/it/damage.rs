//! What was changed by hand is an error, and never an endless read.

use std::path::Path;

use interleaf_store::{
    Commit, Error, ErrorKind, ForkPoint, NewSession, Page, RecordFilter, SessionId, Store, open,
};
use rusqlite::Connection;

use crate::fixture::{at, new_session, postgres, said, say, server, sqlite, texts};

/// A session, a fork of it, and a fork of that.
async fn three_generations(store: &dyn Store) -> [SessionId; 3] {
    let root = new_session(store).await.id;
    say(store, root, 0, &["a", "b", "c"]).await;
    let fork = async |session| {
        let parent = Some(ForkPoint { session, seq: 2 });
        let new = NewSession { parent, ..NewSession::new("a fork", at(1)) };
        store.create(new).await.unwrap().id
    };
    let child = fork(root).await;
    [root, child, fork(child).await]
}

/// Every way to read a session refuses it, and says what is wrong.
async fn check_refused(store: &dyn Store, session: SessionId, says: &str) {
    let refused = |error: Error| {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    };
    refused(store.events(session, Page::newest(9)).await.unwrap_err());
    refused(store.records(session, RecordFilter::default()).await.unwrap_err());
    let parent = Some(ForkPoint { session, seq: 0 });
    let fork = NewSession { parent, ..NewSession::new("", at(0)) };
    refused(store.create(fork).await.unwrap_err());
    // It is still there for whoever mends it.
    store.head(session).await.unwrap();
}

async fn check(store: &dyn Store, id: fn(SessionId) -> String, execute: impl AsyncFn(String)) {
    let [root, child, grandchild] = three_generations(store).await;
    let whole = new_session(store).await.id;
    let own = if id(root).starts_with('x') { "no" } else { "id" };
    let set = async |what: &str| {
        execute(format!("UPDATE sessions SET {what} WHERE id = {}", id(root))).await;
    };
    for parent in [grandchild, root] {
        let parent = format!("(SELECT {own} FROM sessions WHERE id = {})", id(parent));
        set(&format!("parent = {parent}, fork_seq = 2")).await;
        for session in [root, child, grandchild] {
            check_refused(store, session, "it is its own ancestor").await;
        }
    }
    set("parent = NULL").await;
    check_refused(store, root, "it has half a point of fork").await;
    set("fork_seq = NULL").await;
    assert_eq!(store.events(grandchild, Page::newest(9)).await.unwrap().len(), 2);

    execute(format!("DELETE FROM sessions WHERE id = {}", id(root))).await;
    check_refused(store, child, "it lacks an ancestor").await;
    check_refused(store, grandchild, "it lacks an ancestor").await;
    say(store, whole, 0, &["others are fine"]).await;
}

#[tokio::test]
async fn a_line_of_parents_that_is_cyclic_or_broken_is_an_error_on_sqlite() {
    let backend = sqlite().await.unwrap();
    let other = Connection::open(backend.url.strip_prefix("sqlite:").unwrap()).unwrap();
    other.pragma_update(None, "foreign_keys", false).unwrap();
    let id = |id: SessionId| format!("x'{}'", id.to_string().replace('-', ""));
    check(&*backend.store, id, async |sql| other.execute_batch(&sql).unwrap()).await;
}

/// Writes other bytes into the page on which an index begins, where they are there once.
fn damage_index(path: &Path, index: &str, from: &[u8], to: &[u8]) {
    let file = Connection::open(path).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let page: usize = file.query_row(sql, [index], |row| row.get(0)).unwrap();
    file.close().unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    let page = &mut bytes[(page - 1) * 4096..page * 4096];
    let places: Vec<usize> = (0..page.len()).filter(|&at| page[at..].starts_with(from)).collect();
    let [at] = places[..] else { panic!("{from:?} is there {} times", places.len()) };
    page[at..at + to.len()].copy_from_slice(to);
    std::fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn a_session_with_forks_stays_though_the_index_of_parents_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let url = format!("sqlite:{}", path.display());
    let store = open(&url).await.unwrap();
    let [root, child, grandchild] = three_generations(&*store).await;
    store.remove(grandchild).await.unwrap();
    drop(store);
    // A record of two numbers: 1 is a type without a body, and 2 is one byte. A flipped bit
    // makes the parent 0.
    damage_index(&path, "sessions_by_parent", &[3, 9, 1, 2], &[3, 8, 1, 2]);
    let store = open(&url).await.unwrap();
    assert_eq!(store.remove(root).await.unwrap_err().kind(), ErrorKind::HasForks);
    assert_eq!(texts(&*store, child).await, ["a", "b"]);
}

#[tokio::test]
async fn nothing_is_written_to_the_session_of_another_though_the_index_of_ids_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let url = format!("sqlite:{}", path.display());
    let store = open(&url).await.unwrap();
    new_session(&*store).await;
    let [asked, other] = [new_session(&*store).await.id, new_session(&*store).await.id];
    say(&*store, other, 0, &["kept"]).await;
    drop(store);
    let id = uuid::Uuid::parse_str(&asked.to_string()).unwrap().into_bytes();
    let entry = |no: u8| [&id[..], &[no]].concat();
    damage_index(&path, "sqlite_autoindex_sessions_1", &entry(2), &entry(3));
    let store = open(&url).await.unwrap();
    let refused = |error: Error| {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains("the index of sessions is damaged"), "{error}");
    };
    refused(store.remove(asked).await.unwrap_err());
    let commit = Commit::new(asked, at(2)).append(1, vec![said("strayed")]);
    refused(store.commit(commit).await.unwrap_err());
    assert_eq!(texts(&*store, other).await, ["kept"]);
    assert_eq!(store.head(other).await.unwrap().changed, at(1));
}

#[tokio::test]
async fn a_line_of_parents_that_is_cyclic_or_broken_is_an_error_on_postgres() {
    let Some(backend) = postgres().await else { return };
    let id = |id: SessionId| format!("'{id}'");
    let unchecked = "SET search_path = interleaf; SET session_replication_role = replica";
    let execute = async |sql| server::execute(&backend.url, &format!("{unchecked}; {sql}")).await;
    check(&*backend.store, id, execute).await;
}
