//! Opening a stored session and making its first request, beside the bare cost of the
//! database and of the JSON library on the same bytes.
//!
//! `cargo bench -p interleaf --bench open`

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf::assemble::Recipe;
use interleaf::model::{ContextKind, Message};
use interleaf::store::{OpenOptions, SessionId, Store, open_with};
use interleaf::{Next, Session, Target};
use interleaf_samples::generate::agent_session;
use rusqlite::Connection;
use serde_json::value::RawValue;

/// How often each is done; the median counts.
const ROUNDS: usize = 15;

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for n in [1_000, 10_000, 100_000] {
        runtime.block_on(measure(n));
    }
}

async fn measure(n: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let url = format!("sqlite:{}", path.display());
    let store = open_with(&url, OpenOptions::default()).await.unwrap();
    let id = fill(&store, n).await;
    let bodies = read_bare(&path);
    let bytes: usize = bodies.iter().map(String::len).sum();

    let mut times = Times::default();
    let mut body_len = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        black_box(read_bare(&path));
        times.database.push(start.elapsed());
        let start = Instant::now();
        for body in &bodies {
            black_box(serde_json::from_str::<&RawValue>(body).unwrap());
        }
        times.scan.push(start.elapsed());
        let start = Instant::now();
        for body in &bodies {
            black_box(serde_json::from_str::<serde_json::Value>(body).unwrap());
        }
        times.json.push(start.elapsed());

        let start = Instant::now();
        let mut session = Session::open(store.clone(), id).await.unwrap();
        let opened = start.elapsed();
        body_len = first_request(&mut session).await;
        let both = start.elapsed();
        times.open.push(opened);
        times.request.push(both - opened);
        times.both.push(both);
    }
    times.print(n, bytes, body_len);
}

#[derive(Default)]
struct Times {
    database: Vec<Duration>,
    scan: Vec<Duration>,
    json: Vec<Duration>,
    open: Vec<Duration>,
    request: Vec<Duration>,
    both: Vec<Duration>,
}

impl Times {
    fn print(self, n: usize, bytes: usize, body_len: usize) {
        let (database, json) = (median(self.database), median(self.json));
        let mb = |bytes: usize| bytes as f64 / 1e6;
        println!("{n} messages, events of {:.1} MB, body of {:.1} MB", mb(bytes), mb(body_len));
        let show = |what: &str, took: Duration| {
            let ratio = took.as_secs_f64() / (database + json).as_secs_f64();
            println!("  {what:<44} {:>9.2} ms {ratio:>6.2}", took.as_secs_f64() * 1e3);
        };
        show("bare: SQLite reads the rows", database);
        show("bare: JSON library, values skipped", median(self.scan));
        show("bare: JSON library, values built", json);
        show("open", median(self.open));
        show("first request", median(self.request));
        show("open and first request", median(self.both));
        println!();
    }
}

async fn fill(store: &Arc<dyn Store>, n: usize) -> SessionId {
    let mut session = Session::create(store.clone(), "a bench").await.unwrap();
    let messages: Vec<Arc<Message>> = agent_session(n).into_iter().map(Arc::new).collect();
    for part in messages.chunks(5000) {
        session.append_all(part.iter().cloned()).await.unwrap();
    }
    session.id()
}

fn read_bare(path: &std::path::Path) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection.prepare("SELECT body FROM events ORDER BY id").unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

async fn first_request(session: &mut Session) -> usize {
    let recipe = Recipe::new()
        .with_system("You are a careful agent.")
        .with_context(ContextKind::Todo, "1. list the files");
    let target = Target::new("anthropic", "a-model").unwrap();
    let Next::Send(request) = session.preview(&recipe, &target).await.unwrap() else { return 0 };
    request.body.fragments().map(|fragment| fragment.len()).sum()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
