//! What an agent does in one turn: append durably, assemble with a budget, write the body,
//! note the request.
//!
//! The times are the processor's, of all threads. They stand for the same turns three
//! times: with the session in memory, which is the engine's own work; in SQLite; and bare,
//! where SQLite gets the same bytes in the same two transactions and nothing else is done.
//! What the kernel needs to write and sync stands by itself. The clock shows the wait for
//! the disk as well.
//!
//! `cargo bench -p interleaf --bench session`

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf::assemble::{Budget, OpenBlock, Recipe};
use interleaf::model::{ContextKind, Message};
use interleaf::store::Page;
use interleaf::{Next, Session, Target, store};
use interleaf_samples::generate::agent_session;
use rusqlite::{Connection, params};
use rustix::time::{ClockId, clock_gettime};

/// How many turns are measured at each length.
const TURNS: usize = 1000;

fn main() {
    println!("the processor's time for one durable turn, mean of {TURNS} turns\n");
    println!("{:>9} {:>12} {:>26} {:>26}", "", "in memory", "in SQLite", "bare SQLite");
    print!("{:>9} {:>12} {:>12} {:>13}", "messages", "", "program", "kernel");
    println!(" {:>12} {:>13} {:>14}", "program", "kernel", "on the clock");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for n in [1_000, 10_000, 100_000] {
        runtime.block_on(measure(n));
    }
}

async fn measure(n: usize) {
    let messages: Vec<Arc<Message>> =
        agent_session(n + 2 * TURNS).into_iter().map(Arc::new).collect();
    let memory = turns("memory:", &messages, n).await.spent;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("sessions.db").display());
    let durable = turns(&url, &messages, n).await;
    let bare = bare(&folder.path().join("bare.db"), &durable.session, n).await;
    let micros = |time: Duration| format!("{:.0} µs", time.as_secs_f64() * 1e6 / TURNS as f64);
    let (spent, clock) = (durable.spent, durable.clock);
    print!("{n:>9} {:>12}", micros(memory.program + memory.kernel));
    print!(" {:>12} {:>13}", micros(spent.program), micros(spent.kernel));
    println!(" {:>12} {:>13} {:>14}", micros(bare.program), micros(bare.kernel), micros(clock));
}

struct Measured {
    session: Session,
    spent: Spent,
    clock: Duration,
}

/// The processor's time, in our code and the libraries', and in the kernel.
#[derive(Clone, Copy)]
struct Spent {
    program: Duration,
    kernel: Duration,
}

impl Spent {
    fn since(self, before: Self) -> Self {
        let program = self.program.saturating_sub(before.program);
        Self { program, kernel: self.kernel.saturating_sub(before.kernel) }
    }
}

async fn turns(url: &str, messages: &[Arc<Message>], n: usize) -> Measured {
    let store = store::open(url).await.unwrap();
    let mut session = Session::create(store, "").await.unwrap();
    for part in messages[..n].chunks(5_000) {
        session.append_all(part.iter().cloned()).await.unwrap();
    }
    let target = Target::new("anthropic", "a-model").unwrap().with_key("k");
    let mut recipe = Recipe::new()
        .with_system("You are a careful agent.")
        .with_context(ContextKind::Role, "You mend programs.")
        .with_budget(Budget::of_window(1 << 40));
    // The made-up session stops anywhere, also between a call and its result.
    recipe.open_block = OpenBlock::Mend;
    for _ in 0..3 {
        session.request(&recipe, &target).await.unwrap();
    }
    let (before, start) = (spent(), Instant::now());
    for turn in 0..TURNS {
        let todo = format!("{turn} things are done, {} are left", TURNS - turn);
        let recipe = recipe.clone().with_context(ContextKind::Todo, todo);
        let new = messages[n + 2 * turn..][..2].iter().cloned();
        session.append_all(new).await.unwrap();
        let next = session.request(&recipe, &target).await.unwrap();
        assert!(matches!(black_box(next), Next::Send(_)));
    }
    Measured { session, spent: spent().since(before), clock: start.elapsed() }
}

/// The same bytes in the same number of transactions, written by SQLite alone.
async fn bare(path: &Path, session: &Session, n: usize) -> Spent {
    let all = Page::from(0, usize::MAX);
    let events = session.store().events(session.id(), all).await.unwrap();
    let requests = session.requests(Page::from(3, usize::MAX)).await.unwrap();
    assert_eq!(requests.len(), TURNS);
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection.pragma_update(None, "synchronous", "full").unwrap();
    connection.execute_batch("CREATE TABLE bytes (id INTEGER PRIMARY KEY, body)").unwrap();
    let insert = |bodies: &[&[u8]]| {
        connection.prepare_cached("BEGIN IMMEDIATE").unwrap().execute([]).unwrap();
        let mut statement = connection.prepare_cached("INSERT INTO bytes VALUES (NULL, ?1)");
        for body in bodies {
            statement.as_mut().unwrap().execute(params![body]).unwrap();
        }
        connection.prepare_cached("COMMIT").unwrap().execute([]).unwrap();
    };
    // Each turn appends two messages and notes one request.
    let first = n + 3;
    let bodies: Vec<&[u8]> = events.iter().map(|event| event.body.as_bytes()).collect();
    insert(&bodies[..first]);
    let before = spent();
    for (turn, request) in requests.iter().enumerate() {
        let events = &bodies[first + 3 * turn..][..3];
        insert(&events[..2]);
        insert(&[events[2], &request.body.middle, request.report.as_str().as_bytes()]);
    }
    spent().since(before)
}

/// How long all threads of this process have run so far. The system tells the shares of
/// program and kernel in steps of 10 ms, and their sum exactly.
fn spent() -> Spent {
    let all: Duration = clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap();
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, which may hold anything, ends with the last bracket.
    let mut fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11);
    let mut ticks = || fields.next().and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    let (program, kernel) = (ticks(), ticks());
    let share = if program + kernel > 0.0 { kernel / (program + kernel) } else { 0.0 };
    let kernel = all.mul_f64(share);
    Spent { program: all - kernel, kernel }
}
