//! A connection that breaks, a server that falls silent, a caller who leaves.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf_model::Json;
use interleaf_store::{
    Commit, ErrorKind, RecordChange, RecordFilter, RecordKind, SessionId, Store, open_with,
};
use tokio_postgres::{Client, NoTls};

use crate::fixture::proxy::Proxy;
use crate::fixture::server::node::PATIENCE;
use crate::fixture::{
    Backend, at, child, new_session, patient, postgres, said, say, server, texts,
};

/// The store through a proxy, with a connection that knows its statements.
async fn through_proxy(backend: &Backend, session: SessionId) -> (Arc<dyn Store>, Proxy) {
    let proxy = Proxy::start(server::folder().unwrap()).await;
    let database = backend.url.rsplit('/').next().unwrap();
    let url = format!("postgres://interleaf@127.0.0.1:{}/{database}", proxy.port);
    let store = open_with(&url, patient().connections(1)).await.unwrap();
    say(&*store, session, 0, &["before"]).await;
    (store, proxy)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_is_lost_is_found_and_not_written_twice() {
    let Some(backend) = postgres().await else { return };
    let session = new_session(&*backend.store).await.id;
    let (store, proxy) = through_proxy(&backend, session).await;
    for seq in 1..5 {
        proxy.lose_the_answer_to("once");
        let commit = Commit::new(session, at(2)).append(seq, vec![said("once")]);
        assert_eq!(store.commit(commit).await.unwrap().next_seq, seq + 1);
        assert!(proxy.has_lost_it());
        assert_eq!(backend.store.head(session).await.unwrap().next_seq, seq + 1);
    }
    assert_eq!(texts(&*backend.store, session).await, ["before", "once", "once", "once", "once"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_commit_is_not_taken_for_that_of_another_writer() {
    let Some(backend) = postgres().await else { return };
    let session = new_session(&*backend.store).await.id;
    let (store, proxy) = through_proxy(&backend, session).await;
    say(&*backend.store, session, 1, &["another's"]).await;
    proxy.lose_the_answer_to("mine");
    let commit = Commit::new(session, at(2)).append(1, vec![said("mine")]);
    let error = store.commit(commit).await.unwrap_err();
    assert!(proxy.has_lost_it());
    assert_eq!((error.kind(), error.current()), (ErrorKind::Conflict, Some(2)), "{error}");
    assert!(!error.may_be_written());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_writing_again_would_write_twice_the_outcome_is_said_to_be_unknown() {
    let Some(backend) = postgres().await else { return };
    let session = new_session(&*backend.store).await.id;
    let (store, proxy) = through_proxy(&backend, session).await;
    let body = Json::parse("{}".to_owned()).unwrap();
    let note = RecordChange::put(RecordKind::Note, "n", body);
    proxy.lose_the_answer_to("COMMIT");
    let error = store.commit(Commit::new(session, at(2)).record(note)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.may_be_written());
    assert!(error.to_string().contains("whether it was written is not known"), "{error}");
    assert!(error.to_string().contains("read the session again"), "{error}");
    let kept = backend.store.records(session, RecordFilter::default()).await.unwrap();
    assert_eq!(kept.len(), 1);
}

/// Somebody who watches the connections to a database.
async fn watcher(backend: &Backend) -> Client {
    let (client, connection) = tokio_postgres::connect(&backend.url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The processes of the server that work for a store, if this is true of them.
async fn processes(watcher: &Client, and: &str) -> Vec<i32> {
    let sql = format!(
        "SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'interleaf' AND {and}"
    );
    watcher.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

async fn wait_until(watcher: &Client, and: &str, holds: fn(&[i32]) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds(&processes(watcher, and).await) {
        assert!(Instant::now() < deadline, "still {and}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

const WAITS: &str = "wait_event_type = 'Lock'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_falls_silent_is_given_up_at_the_deadline() {
    let Some(backend) = postgres().await else { return };
    let session = new_session(&*backend.store).await.id;
    let watcher = watcher(&backend).await;
    let known = processes(&watcher, "true").await;
    let options = patient().deadline(Duration::from_secs(8)).connections(1);
    let store = open_with(&backend.url, options).await.unwrap();
    let ours = processes(&watcher, "true").await.into_iter().find(|pid| !known.contains(pid));
    let signal = |signal: &str| {
        let pid = ours.unwrap().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    };
    signal("-STOP");
    let commit = Commit::new(session, at(2)).append(0, vec![said("into the silence")]);
    let error = store.commit(commit.clone()).await.unwrap_err();
    signal("-CONT");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("did not answer within 8s"), "{error}");
    assert!(error.may_be_written());
    // The silent connection is not used again. Writing again tells what became of the commit.
    let deadline = Instant::now() + PATIENCE;
    loop {
        match store.commit(commit.clone()).await.map_err(|error| error.kind()) {
            Ok(_) | Err(ErrorKind::Conflict) => break,
            Err(kind) => assert!(Instant::now() < deadline, "still {kind:?}"),
        }
    }
    assert_eq!(texts(&*backend.store, session).await, ["into the silence"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_ends_when_its_caller_leaves() {
    let Some(backend) = postgres().await else { return };
    let session = new_session(&*backend.store).await.id;
    let (watcher, other) = (watcher(&backend).await, watcher(&backend).await);
    let store = open_with(&backend.url, patient().connections(1)).await.unwrap();
    other.batch_execute("BEGIN; SELECT * FROM interleaf.sessions FOR UPDATE").await.unwrap();
    let commit = Commit::new(session, at(1)).append(0, vec![said("never")]);
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { store.commit(commit).await }
    });
    wait_until(&watcher, WAITS, |waiting| !waiting.is_empty()).await;
    waiting.abort();
    wait_until(&watcher, WAITS, <[i32]>::is_empty).await;
    other.batch_execute("ROLLBACK").await.unwrap();
    // Its only connection was given up with it, and there is another.
    say(&*store, session, 0, &["after"]).await;
    assert_eq!(texts(&*store, session).await, ["after"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_ends_when_its_process_is_killed() {
    let Some(backend) = postgres().await else { return };
    let session = new_session(&*backend.store).await.id;
    let (watcher, other) = (watcher(&backend).await, watcher(&backend).await);
    other.batch_execute("BEGIN; SELECT * FROM interleaf.sessions FOR UPDATE").await.unwrap();
    let mut process = child::start("append", &backend.url, &session.to_string());
    wait_until(&watcher, WAITS, |waiting| !waiting.is_empty()).await;
    process.kill().unwrap();
    process.wait().unwrap();
    wait_until(&watcher, WAITS, <[i32]>::is_empty).await;
    other.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(texts(&*backend.store, session).await, [""; 0]);
}
