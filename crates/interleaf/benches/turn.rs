//! Appending one turn and having the body ready to send, against making the whole
//! request anew.
//!
//! `cargo bench -p interleaf --bench turn`

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf::assemble::{Outcome, Recipe, View, assemble};
use interleaf::model::{ContextKind, Extra, Json, Message, MessageId, Requirements, Tool};
use interleaf::wire::{Family, Options, Vendor, encode};
use interleaf::{Next, Requests};
use interleaf_samples::generate::agent_session;

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
    let vendor = Vendor::of(family);
    let options = Options { model: "a-model".into(), ..Options::default() };
    let messages: Vec<Arc<Message>> = agent_session(n + 2 * TURNS)
        .into_iter()
        .enumerate()
        .map(|(i, message)| Arc::new(message.with_id(MessageId::of_index(i))))
        .collect();
    let mut requests = Requests::of(messages[..n].iter().cloned());
    // The session has been running: its beginning is settled.
    for _ in 0..3 {
        send(&mut requests, &recipe(0), vendor, &options);
    }
    let mut times: Vec<Duration> = Vec::new();
    for turn in 0..TURNS {
        let recipe = recipe(turn);
        let start = Instant::now();
        requests.append(messages[n + 2 * turn].clone());
        requests.append(messages[n + 2 * turn + 1].clone());
        black_box(send(&mut requests, &recipe, vendor, &options));
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
    Tool {
        name: "read_file".into(),
        description: Some("Reads a file.".into()),
        parameters: Json::parse(r#"{"type":"object","properties":{"path":{"type":"string"}}}"#)
            .ok(),
        strict: None,
        extra: Extra::NONE,
    }
}

fn send(requests: &mut Requests, recipe: &Recipe, vendor: &Vendor, options: &Options) -> usize {
    match requests.next(recipe, vendor, options) {
        Ok(Next::Send { body, .. }) => body.fragments().len(),
        Ok(Next::Wait(_)) | Err(_) => 0,
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
