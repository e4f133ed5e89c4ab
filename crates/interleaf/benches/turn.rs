//! Appending one turn to a session and having the body ready to send, against making the
//! whole request anew.
//!
//! `cargo bench -p interleaf --bench turn`

#![expect(clippy::expect_used, reason = "a bench that cannot go on has failed")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf::assemble::{Outcome, Recipe, View, assemble};
use interleaf::model::{ContextKind, Message, MessageId, Requirements, Tool};
use interleaf::wire::{Family, Options, Vendor, encode};
use interleaf::{Next, Session, Target, store};
use interleaf_samples::generate::agent_session;
use serde_json::json;

/// How many turns are appended and measured one by one.
const TURNS: usize = 200;

fn main() {
    println!("one turn appended, assembled, and its body ready (median of {TURNS})\n");
    println!("{:>18} {:>9} {:>12} {:>12} {:>8}", "API", "messages", "appended", "anew", "ratio");
    for family in Family::ALL {
        for n in [1_000, 10_000, 100_000] {
            measure(family, n);
        }
    }
}

fn measure(family: Family, n: usize) {
    let target = Target::of(Vendor::of(family).clone(), "a-model");
    let (vendor, options) = (&target.vendor, &target.options);
    let messages: Vec<Arc<Message>> = agent_session(n + 2 * TURNS)
        .into_iter()
        .enumerate()
        .map(|(i, message)| Arc::new(message.with_id(MessageId::of_index(i))))
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut times: Vec<Duration> = Vec::new();
    runtime.block_on(async {
        let store = store::open("memory:").await.expect("a store");
        let mut session = Session::create(store, "").await.expect("a session");
        session.append_all(messages[..n].iter().cloned()).await.expect("appended");
        // The session has been running: its beginning is settled.
        for _ in 0..3 {
            send(&mut session, &recipe(0), &target).await;
        }
        for turn in 0..TURNS {
            let recipe = recipe(turn);
            let start = Instant::now();
            let new = messages[n + 2 * turn..][..2].iter().cloned();
            session.append_all(new).await.expect("appended");
            black_box(send(&mut session, &recipe, &target).await);
            times.push(start.elapsed());
        }
    });
    let appended = median(times);
    let anew = median((0..5).map(|_| from_scratch(&messages[..n], vendor, options)).collect());
    println!(
        "{:>18} {n:>9} {:>9.1} µs {:>9.1} µs {:>7.0}x",
        family.as_str(),
        micros(appended),
        micros(anew),
        micros(anew) / micros(appended)
    );
}

fn recipe(turn: usize) -> Recipe {
    let text = format!("{turn} things are done, {} are left", TURNS - turn);
    Recipe::new()
        .with_system("You are a careful agent.")
        .with_tools([tool()])
        .with_context(ContextKind::Role, "You mend programs.")
        .with_context(ContextKind::Todo, text)
}

fn tool() -> Tool {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    Tool::new("read_file", "Reads a file.", schema)
}

async fn send(session: &mut Session, recipe: &Recipe, target: &Target) -> usize {
    match session.preview(recipe, target).await {
        Ok(Next::Send(request)) => request.body.fragments().take(8).count(),
        Ok(_) | Err(_) => 0,
    }
}

fn from_scratch(view: &[Arc<Message>], vendor: &Vendor, options: &Options) -> Duration {
    let (view, recipe) = (View::of(view.iter().cloned()), recipe(0));
    let start = Instant::now();
    if let Ok(assembly) = assemble(&view, &recipe, Requirements::STRICT, None)
        && let Outcome::Ready(prompt) = assembly.outcome
    {
        let _ = black_box(encode(&prompt, vendor, options).map(|body| body.to_bytes()));
    }
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
