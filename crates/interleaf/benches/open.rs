//! Opening a stored session and making its first request, beside the bare cost of the
//! database and of the JSON library on the same bytes.
//!
//! `cargo bench -p interleaf --bench open`, or with `-- 10000` for sessions of that many
//! messages only. The best of all rounds counts, by the clock and in CPU time of all threads.

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use interleaf::assemble::Recipe;
use interleaf::model::{ContextKind, Message};
use interleaf::store::{OpenOptions, SessionId, Store, open_with};
use interleaf::{Next, Session, Target};
use interleaf_samples::generate::agent_session;
use rusqlite::Connection;
use rustix::time::{ClockId, clock_gettime};
use serde_json::value::RawValue;

/// How often each is done.
const ROUNDS: usize = 25;

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let asked: Vec<usize> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    let sizes = if asked.is_empty() { vec![1_000, 10_000, 100_000] } else { asked };
    for n in sizes {
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

    let mut best = Best::default();
    let mut body_len = 0;
    for _ in 0..ROUNDS {
        let start = Spent::until_now();
        black_box(read_bare(&path));
        best.database.take(start.since());
        let start = Spent::until_now();
        for body in &bodies {
            black_box(serde_json::from_str::<&RawValue>(body).unwrap());
        }
        best.scan.take(start.since());
        let start = Spent::until_now();
        for body in &bodies {
            black_box(serde_json::from_str::<serde_json::Value>(body).unwrap());
        }
        best.json.take(start.since());

        let start = Spent::until_now();
        let mut session = Session::open(store.clone(), id).await.unwrap();
        best.open.take(start.since());
        let opened = Spent::until_now();
        body_len = first_request(&mut session).await;
        best.request.take(opened.since());
        best.both.take(start.since());
    }
    best.print(n, bytes, body_len);
}

/// Time by the clock, and in the processor.
#[derive(Clone, Copy)]
struct Spent {
    wall: Duration,
    cpu: Duration,
}

impl Default for Spent {
    fn default() -> Self {
        Self { wall: Duration::MAX, cpu: Duration::MAX }
    }
}

impl Spent {
    fn until_now() -> Self {
        let time = |clock| clock_gettime(clock).try_into().unwrap();
        Self { wall: time(ClockId::Monotonic), cpu: time(ClockId::ProcessCPUTime) }
    }

    fn since(self) -> Self {
        let now = Self::until_now();
        Self { wall: now.wall - self.wall, cpu: now.cpu - self.cpu }
    }

    fn take(&mut self, other: Self) {
        *self = Self { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu) };
    }
}

#[derive(Default)]
struct Best {
    database: Spent,
    scan: Spent,
    json: Spent,
    open: Spent,
    request: Spent,
    both: Spent,
}

impl Best {
    fn print(self, n: usize, bytes: usize, body_len: usize) {
        let mb = |bytes: usize| bytes as f64 / 1e6;
        println!("{n} messages, events of {:.1} MB, body of {:.1} MB", mb(bytes), mb(body_len));
        let show = |what: &str, Spent { wall, cpu }: Spent| {
            let [wall, cpu] = [wall, cpu].map(|time| time.as_secs_f64() * 1e3);
            println!("  {what:<44} {wall:>9.2} ms {cpu:>9.2} ms of CPU");
        };
        show("bare: SQLite reads the rows", self.database);
        show("bare: JSON library, values skipped", self.scan);
        show("bare: JSON library, values built", self.json);
        show("open", self.open);
        show("first request", self.request);
        show("open and first request", self.both);
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
