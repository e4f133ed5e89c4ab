//! Appending one turn and having the body ready to send, against making the whole request
//! anew. Nothing is stored: `session` measures that.
//!
//! `cargo bench -p interleaf --bench turn`

#![expect(clippy::expect_used, reason = "a bench that cannot go on has failed")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf::assemble::{Outcome, Recipe, Running, View, assemble};
use interleaf::model::{ContextKind, Message, MessageId, Requirements, Tool};
use interleaf::wire::{Family, Options, SessionEncoder, Vendor, encode};
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
    let (vendor, options) = (Vendor::of(family), Options::model("a-model"));
    let messages: Vec<Arc<Message>> = agent_session(n + 2 * TURNS)
        .into_iter()
        .enumerate()
        .map(|(i, message)| Arc::new(message.with_id(MessageId::of_index(i))))
        .collect();
    let mut running = Running::of(View::of(messages[..n].iter().cloned()));
    let mut encoder = SessionEncoder::new();
    let mut send = |running: &mut Running, recipe: &Recipe| {
        let assembly = running.assemble(recipe, Requirements::STRICT).expect("a request");
        let Outcome::Ready(prompt) = assembly.outcome else { return 0 };
        encoder.encode(&prompt, vendor, &options).expect("a body").fragments().count()
    };
    // The session has been running: its beginning is settled.
    (0..3).for_each(|_| _ = send(&mut running, &recipe(0)));
    let mut times: Vec<Duration> = Vec::new();
    for turn in 0..TURNS {
        let recipe = recipe(turn);
        let start = Instant::now();
        for message in &messages[n + 2 * turn..][..2] {
            running.append(message.clone());
        }
        black_box(send(&mut running, &recipe));
        times.push(start.elapsed());
    }
    let appended = median(times);
    let anew = median((0..5).map(|_| from_scratch(&messages[..n], vendor, &options)).collect());
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
