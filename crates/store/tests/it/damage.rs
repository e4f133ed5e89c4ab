//! What was changed by hand is an error, and never an endless read.

use interleaf_store::{
    Error, ErrorKind, ForkPoint, NewSession, Page, RecordFilter, SessionId, Store,
};
use rusqlite::Connection;

use crate::fixture::{at, new_session, postgres, say, server, sqlite};

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

#[tokio::test]
async fn a_line_of_parents_that_is_cyclic_or_broken_is_an_error_on_postgres() {
    let Some(backend) = postgres().await else { return };
    let id = |id: SessionId| format!("'{id}'");
    let unchecked = "SET search_path = interleaf; SET session_replication_role = replica";
    let execute = async |sql| server::execute(&backend.url, &format!("{unchecked}; {sql}")).await;
    check(&*backend.store, id, execute).await;
}
