//! Appends, and opening a session, against the bare database client that does the same
//! inserts in the same run.
//!
//! `cargo bench -p interleaf-store --bench store` (a second argument sets the length of
//! the long session, one million unless it is given)

#![expect(clippy::unwrap_used, clippy::panic, reason = "a bench that cannot go on has failed")]

#[path = "store/bare.rs"]
mod bare;
#[path = "store/cpu.rs"]
mod cpu;
#[allow(dead_code, reason = "the tests of the store use all of it")]
#[path = "../tests/it/fixture/server.rs"]
mod server;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use interleaf_conversation::{Conversation, Event};
use interleaf_model::{MessageId, Timestamp};
use interleaf_samples::generate::agent_session;
use interleaf_store::{Commit, NewEvent, NewSession, Page, Replay, Search, SessionId, Store, open};
use tokio::task::JoinSet;

/// Commits of one event, one after the other, in each round.
const SINGLE: usize = 200;

/// How often ours and the bare client take turns, so that a noisy neighbour hits both.
const ROUNDS: usize = 41;

/// Writers at the same time, each with its own session.
const WRITERS: usize = 64;

/// How many events a large commit has.
const LARGE: usize = 1000;

fn main() {
    let long = std::env::args().filter_map(|argument| argument.parse().ok()).next();
    let long: usize = long.unwrap_or(1_000_000);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let events = events(10_000);
    let bytes: usize = events.iter().map(|event| event.body().len()).sum();
    println!("{} events, {} bytes each on average\n", events.len(), bytes / events.len());
    let folder = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
    let bare = bare::Sqlite::open(&folder.path().join("bare.db"));
    runtime.block_on(run("SQLite", &url("ours.db"), bare::Bare::Sqlite(bare), &events, long));
    server::DURABLE.store(true, Ordering::Relaxed);
    let Some(database) = runtime.block_on(server::new_database()) else { return };
    let bare = runtime.block_on(async {
        let url = server::new_database().await.unwrap();
        bare::Postgres::open(&url).await
    });
    runtime.block_on(run("PostgreSQL", &database, bare::Bare::Postgres(bare), &events, long));
}

async fn run(name: &str, url: &str, mut bare: bare::Bare, events: &[NewEvent], long: usize) {
    let store = open(url).await.unwrap();
    println!("{name}, every commit on the disk");

    let (mut ours, mut theirs) = (vec![], vec![]);
    let mut busy = (Duration::ZERO, Duration::ZERO);
    for round in 0..ROUNDS {
        let part = &events[round * SINGLE..(round + 1) * SINGLE];
        let start = cpu::busy();
        ours.push(append_singly(&store, part).await);
        busy.0 += cpu::busy() - start;
        let start = cpu::busy();
        theirs.push(bare.append(part, 1).await);
        busy.1 += cpu::busy() - start;
    }
    compare("one event per commit, one writer", SINGLE, ours, theirs);
    cpu::compare("one event per commit, one writer", SINGLE * ROUNDS, busy);
    if name == "SQLite" {
        cpu::turns(&store, new_session(&store).await, events).await;
    }

    let (mut ours, mut theirs) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        ours.push(append_large(&store, &events[..LARGE]).await);
        theirs.push(bare.append(&events[..LARGE], LARGE).await);
    }
    compare("1000 events per commit, one writer", LARGE, ours, theirs);

    let took = append_together(&store, events).await;
    rate("one event per commit, 64 writers", WRITERS * 100, took);

    let session = new_session(&store).await;
    fill(&store, session, events, 10_000).await;
    let times = (0..ROUNDS).map(|_| open_session(&store, session)).collect::<Vec<_>>();
    let mut took = vec![];
    for time in times {
        took.push(time.await);
    }
    println!("  open a session of 10,000 messages, whole {:>26}", millis(median(took)));

    let session = new_session(&store).await;
    let start = Instant::now();
    fill(&store, session, events, long).await;
    rate("fill the long session", long, start.elapsed());
    let size = bare::size_on_disk(url).await;
    println!("  the whole database on the disk {:>31} MB", size / 1_000_000);
    let mut took = vec![];
    for _ in 0..20 {
        let start = Instant::now();
        assert_eq!(store.events(session, Page::newest(100)).await.unwrap().len(), 100);
        took.push(start.elapsed());
    }
    println!("  newest 100 of a session of {long} {:>33}", millis(median(took)));
    let start = Instant::now();
    let search = Search { session: Some(session), limit: 20, query: "9999".to_owned() };
    let n_found = store.search(search).await.unwrap().len();
    println!("  search a word in it ({n_found} found) {:>36}\n", millis(start.elapsed()));
}

fn events(n: usize) -> Vec<NewEvent> {
    let messages = agent_session(n).into_iter().enumerate();
    let event = |(i, message): (usize, interleaf_model::Message)| {
        let message = Arc::new(message.with_id(MessageId::of_index(i)));
        NewEvent::of(&Event::Appended { message }).unwrap()
    };
    messages.map(event).collect()
}

fn now() -> Timestamp {
    Timestamp::from_microseconds(1_795_000_000_000_000).unwrap()
}

async fn new_session(store: &Arc<dyn Store>) -> SessionId {
    store.create(NewSession::new("a bench", now())).await.unwrap().id
}

async fn append_singly(store: &Arc<dyn Store>, events: &[NewEvent]) -> Duration {
    let session = new_session(store).await;
    let start = Instant::now();
    for (seq, event) in (0..).zip(events) {
        let commit = Commit::new(session, now()).append(seq, vec![event.clone()]);
        store.commit(commit).await.unwrap();
    }
    start.elapsed()
}

async fn append_large(store: &Arc<dyn Store>, events: &[NewEvent]) -> Duration {
    let session = new_session(store).await;
    let start = Instant::now();
    store.commit(Commit::new(session, now()).append(0, events.to_vec())).await.unwrap();
    start.elapsed()
}

async fn append_together(store: &Arc<dyn Store>, events: &[NewEvent]) -> Duration {
    let mut writers = JoinSet::new();
    let start = Instant::now();
    for writer in 0..WRITERS {
        let (store, events) = (store.clone(), events[writer * 100..][..100].to_vec());
        writers.spawn(async move { append_singly(&store, &events).await });
    }
    writers.join_all().await;
    start.elapsed()
}

async fn fill(store: &Arc<dyn Store>, session: SessionId, events: &[NewEvent], n: usize) {
    let mut all = events.iter().cycle().take(n).cloned();
    let mut next = 0;
    while next < n as u64 {
        let part = all.by_ref().take(5000).collect();
        let commit = Commit::new(session, now()).append(next, part);
        next = store.commit(commit).await.unwrap().next_seq;
    }
}

/// Reads all events and rebuilds the conversation, as `Session::open` does.
async fn open_session(store: &Arc<dyn Store>, session: SessionId) -> Duration {
    let start = Instant::now();
    let mut conversation = Conversation::new();
    let len = store.head(session).await.unwrap().next_seq;
    let mut replay = Replay::new(&**store, session, 0..len);
    while conversation.view_len() < len as usize {
        for event in replay.next_page().await.unwrap() {
            conversation.apply(&event).unwrap();
        }
    }
    assert_eq!(conversation.view_len() as u64, len);
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn compare(what: &str, n: usize, ours: Vec<Duration>, theirs: Vec<Duration>) {
    let (ours, theirs) = (median(ours), median(theirs));
    rate(what, n, ours);
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("    the bare client {:>38} /s   ratio {ratio:.2}", per_second(n, theirs));
}

fn rate(what: &str, n: usize, took: Duration) {
    println!("  {what:<40} {:>15} /s", per_second(n, took));
}

fn per_second(n: usize, took: Duration) -> String {
    format!("{:.0}", n as f64 / took.as_secs_f64())
}

fn millis(took: Duration) -> String {
    format!("{:.2} ms", took.as_secs_f64() * 1e3)
}
