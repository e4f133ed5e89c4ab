//! What was acknowledged is there, whole, whatever is killed or cut, whenever.

use std::io::{BufRead as _, BufReader};
use std::time::Duration;

use interleaf_store::{Commit, ErrorKind, Page, SessionId, Store, open, open_with};

use crate::fixture::child::{all_bodies, start};
use crate::fixture::{at, new_session, patient, postgres, said, server, sqlite};

/// How often a process that appends is killed.
const KILLS: u64 = 200;

/// How often the connections to the server are cut.
const CUTS: u64 = 60;

/// Numbers that look random.
fn dice(n: u64) -> u64 {
    let mixed = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
}

/// Whether a session can have this length, if no commit was written by half.
fn is_whole(len: u64) -> bool {
    let mut boundary = 0;
    while boundary < len {
        boundary += 1 + boundary % 3;
    }
    boundary == len
}

async fn check(store: &dyn Store, session: SessionId, acknowledged: u64) -> u64 {
    let len = store.head(session).await.unwrap().next_seq;
    assert!(len >= acknowledged, "{acknowledged} were acknowledged, {len} are there");
    assert!(is_whole(len), "half a commit is there: {len} events");
    let newest = store.events(session, Page::newest(5)).await.unwrap();
    for event in newest {
        assert!(event.body.contains(&format!("event {}\"", event.seq)), "{}", event.body);
    }
    len
}

async fn check_all(store: &dyn Store, session: SessionId) {
    for (seq, body) in all_bodies(store, session).await.iter().enumerate() {
        assert!(body.contains(&format!("event {seq}\"")), "{seq}: {body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_process_loses_nothing_that_sqlite_acknowledged() {
    let backend = sqlite().await.unwrap();
    let session = new_session(&*backend.store).await.id;
    let url = backend.url.clone();
    let mut n_acknowledged = 0;
    for kill in 0..KILLS {
        let mut child = start("append", &url, &session.to_string());
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut told = vec![];
        // Every other one is killed after a commit, however slowly the machine gets there.
        while kill % 2 == 1 && !told.iter().any(|line: &String| line.starts_with("acknowledged ")) {
            told.push(output.next().unwrap().unwrap());
        }
        // From before it has opened the file to after many commits.
        tokio::time::sleep(Duration::from_micros(15_000 + dice(kill) % 90_000)).await;
        child.kill().unwrap();
        // What it was about to say when it was killed may be cut.
        told.extend(output.map_while(Result::ok));
        child.wait().unwrap();
        let mut numbers = told.iter().filter_map(|line| line.strip_prefix("acknowledged "));
        let acknowledged = numbers.next_back().map_or(0, |number| number.parse().unwrap());
        n_acknowledged += u64::from(acknowledged > 0);
        // Opened anew, as after a crash.
        check(&*open(&url).await.unwrap(), session, acknowledged).await;
    }
    check_all(&*backend.store, session).await;
    let len = backend.store.head(session).await.unwrap().next_seq;
    println!("{KILLS} kills, {n_acknowledged} of them after a commit, {len} events, no gap");
    assert!(n_acknowledged >= KILLS / 2, "the kills came too early: {n_acknowledged}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_connection_loses_nothing_that_postgres_acknowledged() {
    let Some(backend) = postgres().await else { return };
    let session = new_session(&*backend.store).await.id;
    // Only this user's connections are cut, so that what is there can be read.
    server::execute(&backend.url, "CREATE ROLE appender SUPERUSER LOGIN").await;
    let appender = backend.url.replace("interleaf@", "appender@");
    let options = patient().connections(2);
    let store = open_with(&appender, options).await.unwrap();
    let url = backend.url.clone();
    let cutter = tokio::spawn(async move {
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE usename = 'appender'";
        for n in 0..CUTS {
            tokio::time::sleep(Duration::from_micros(500 + dice(n) % 20_000)).await;
            server::execute(&url, cut).await;
        }
    });
    let (mut next, mut n_unknown) = (0, 0);
    while !cutter.is_finished() {
        let n = 1 + next % 3;
        let events = (next..next + n).map(|seq| said(&format!("event {seq}"))).collect();
        match store.commit(Commit::new(session, at(2)).append(next, events)).await {
            Ok(done) => next = done.next_seq,
            // Cut again and again: reading again tells.
            Err(e) => {
                assert!(e.kind() == ErrorKind::Unavailable && e.may_be_written(), "{e}");
                n_unknown += 1;
                next = check(&*backend.store, session, next).await;
            }
        }
    }
    cutter.await.unwrap();
    check(&*backend.store, session, next).await;
    check_all(&*backend.store, session).await;
    println!("{CUTS} cuts, {n_unknown} of them left an append unknown, {next} events, no gap");
}
