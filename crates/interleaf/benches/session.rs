//! What an agent does in one turn: append durably, assemble with a budget, write the body,
//! note the request. What the processor does stands beside the time on the clock, most of
//! which is the wait for the disk.
//!
//! `cargo bench -p interleaf --bench session`

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use std::fs;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf::assemble::{Budget, OpenBlock, Recipe};
use interleaf::model::{ContextKind, Message};
use interleaf::{Next, Session, Target, store};
use interleaf_samples::generate::agent_session;

/// How many turns are measured at each length.
const TURNS: usize = 200;

fn main() {
    println!("one durable turn in SQLite, {TURNS} turns each\n");
    println!("{:>9} {:>14} {:>14} {:>14}", "messages", "append", "request", "on the clock");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for n in [1_000, 10_000, 100_000] {
        runtime.block_on(measure(n));
    }
}

async fn measure(n: usize) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("sessions.db").display());
    let store = store::open(&url).await.unwrap();
    let mut session = Session::create(store, "").await.unwrap();
    let messages: Vec<Arc<Message>> =
        agent_session(n + 2 * TURNS).into_iter().map(Arc::new).collect();
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
    let (mut append, mut request) = (Duration::ZERO, Duration::ZERO);
    let start = Instant::now();
    for turn in 0..TURNS {
        let todo = format!("{turn} things are done, {} are left", TURNS - turn);
        let recipe = recipe.clone().with_context(ContextKind::Todo, todo);
        let before = busy();
        let new = messages[n + 2 * turn..][..2].iter().cloned();
        session.append_all(new).await.unwrap();
        let between = busy();
        let next = session.request(&recipe, &target).await.unwrap();
        assert!(matches!(black_box(next), Next::Send(_)));
        append += between - before;
        request += busy() - between;
    }
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / TURNS as f64;
    let clock = micros(start.elapsed());
    let (append, request) = (micros(append), micros(request));
    println!("{n:>9} {append:>11.1} µs {request:>11.1} µs {clock:>11.1} µs");
}

/// How long all threads of this process have run so far; zero where the system does not
/// tell.
fn busy() -> Duration {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let run = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    Duration::from_nanos(threads.filter_map(run).sum())
}
