//! Several processes at once.

use std::collections::BTreeSet;
use std::io::Read as _;

use interleaf_store::{Notice, open};
use tokio::time::timeout;

use crate::fixture::child::{TEXTS, WRITERS, start};
use crate::fixture::server::node::PATIENCE;
use crate::fixture::{self, Backend, new_session, say, texts};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_lose_nothing_and_double_nothing_on_sqlite() {
    check(fixture::sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_lose_nothing_and_double_nothing_on_postgres() {
    check(fixture::postgres().await).await;
}

async fn check(backend: Option<Backend>) {
    let Some(backend) = backend else { return };
    let mut ids = vec![];
    for _ in 0..3 {
        ids.push(new_session(&*backend.store).await.id);
    }
    let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let mut processes = [(); 2].map(|()| start("write", &backend.url, &names.join(",")));
    let mut expected = BTreeSet::new();
    for process in &mut processes {
        let mut output = String::new();
        process.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        assert!(process.wait().unwrap().success(), "{output}");
        let name = output.lines().find_map(|line| line.strip_prefix("wrote as ")).unwrap();
        for writer in 0..WRITERS {
            expected.extend((0..TEXTS).map(|n| format!("{name} {writer} {n}")));
        }
    }
    for id in ids {
        let texts = texts(&*backend.store, id).await;
        assert_eq!(texts.len(), 2 * WRITERS * TEXTS);
        assert_eq!(texts.iter().cloned().collect::<BTreeSet<_>>(), expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_hears_of_what_another_node_writes() {
    let Some(backend) = fixture::postgres().await else { return };
    let other = open(&backend.url).await.unwrap();
    let session = new_session(&*backend.store).await.id;
    let mut notices = other.watch().await.unwrap();
    say(&*backend.store, session, 0, &["one"]).await;
    let notice = timeout(PATIENCE, notices.next()).await.unwrap();
    assert_eq!(notice, Some(Notice::Changed { session, next_seq: 1 }));

    // A listener whose connection is cut says that it missed something, and goes on.
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE query = 'LISTEN interleaf' AND datname = current_database()";
    fixture::server::execute(&backend.url, cut).await;
    for _ in 0..2 {
        let notice = timeout(PATIENCE, notices.next()).await.unwrap();
        assert_eq!(notice, Some(Notice::Missed));
    }
    say(&*backend.store, session, 1, &["two"]).await;
    let notice = timeout(PATIENCE, notices.next()).await.unwrap();
    assert_eq!(notice, Some(Notice::Changed { session, next_seq: 2 }));
}
