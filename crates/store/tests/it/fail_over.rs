//! A server dies, another takes its place, and nothing that was acknowledged is lost.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use interleaf_store::{SessionId, Store, open_with};
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

use crate::fixture::child::insist;
use crate::fixture::server::node::{Node, PATIENCE};
use crate::fixture::{new_session, patient, texts};

const WRITERS: usize = 8;

/// How many appends are acknowledged before the server dies, and how many after.
const APPENDS: usize = 300;

/// Everyone may come in, also to copy.
const RULES: &str = "local all all trust\nhost all all 127.0.0.1/32 trust\n\
                     local replication all trust\nhost replication all 127.0.0.1/32 trust\n";

async fn connect(node: &Node) -> Client {
    let url = format!("postgres://interleaf@127.0.0.1:{}/postgres", node.port);
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// A server, and one that has all it has before it says so.
async fn primary_and_standby() -> Option<(Node, Node)> {
    let (mut primary, mut standby) = (Node::new()?, Node::new()?);
    primary.init(RULES);
    primary.start_on_loopback(&[]);
    let (port, data) = (primary.port.to_string(), standby.data().display().to_string());
    let copy = ["-h", "127.0.0.1", "-p", &port, "-U", "interleaf", "-c", "fast", "-R", "-D", &data];
    standby.run("pg_basebackup", &copy);
    standby.start_on_loopback(&[]);
    let client = connect(&primary).await;
    client.batch_execute("ALTER SYSTEM SET synchronous_standby_names = '*'").await.unwrap();
    client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    let deadline = Instant::now() + PATIENCE;
    let is_synchronous = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
    while client.query(is_synchronous, &[]).await.unwrap().is_empty() {
        assert!(Instant::now() < deadline, "the standby does not follow");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Some((primary, standby))
}

/// Appends until this many are acknowledged by all writers together; gives its own.
async fn write(
    store: Arc<dyn Store>,
    sessions: [SessionId; 2],
    writer: usize,
    acknowledged: Arc<AtomicUsize>,
) -> Vec<String> {
    let mut texts = vec![];
    while acknowledged.load(Ordering::Relaxed) < 2 * APPENDS {
        let text = format!("{writer} {}", texts.len());
        insist(&*store, sessions[writer % 2], &text).await;
        acknowledged.fetch_add(1, Ordering::Relaxed);
        texts.push(text);
    }
    texts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_takes_over_and_writers_lose_nothing_and_double_nothing() {
    let Some((primary, standby)) = primary_and_standby().await else { return };
    let url = format!(
        "postgres://interleaf@127.0.0.1:{},127.0.0.1:{}/postgres?target_session_attrs=read-write",
        primary.port, standby.port
    );
    let options = patient().connections(8);
    let store = open_with(&url, options).await.unwrap();
    let sessions = [new_session(&*store).await.id, new_session(&*store).await.id];
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write(store.clone(), sessions, writer, acknowledged.clone()));
    }
    while acknowledged.load(Ordering::Relaxed) < APPENDS {
        assert!(writers.try_join_next().is_none(), "a writer gave up");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    primary.kill();
    let data = standby.data().display().to_string();
    standby.run("pg_ctl", &["promote", "-D", &data, "-t", "120"]);
    let written: Vec<String> = writers.join_all().await.into_iter().flatten().collect();

    let mut kept = texts(&*store, sessions[0]).await;
    kept.extend(texts(&*store, sessions[1]).await);
    println!("{} appends over a fail-over, each there once", written.len());
    assert!(written.len() >= 2 * APPENDS);
    assert_eq!(kept.len(), written.len(), "lost or doubled");
    let (kept, written): (BTreeSet<_>, BTreeSet<_>) =
        (kept.into_iter().collect(), written.into_iter().collect());
    assert_eq!(kept, written);
}

/// A host that takes connections and never answers does not keep from the next one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_does_not_answer_is_passed_over() {
    let Some(mut node) = Node::new() else { return };
    node.init(RULES);
    node.start_on_loopback(&["fsync=off"]);
    let silent = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let silent = silent.local_addr().unwrap().port();
    let url = format!("postgres://interleaf@127.0.0.1:{silent},127.0.0.1:{}/postgres", node.port);
    let options = patient().patience(Duration::from_secs(10));
    let store = open_with(&url, options.connections(1)).await.unwrap();
    new_session(&*store).await;
}
