//! One turn in the states that long sessions are in, against making the request anew: a
//! summary over the first 90 %, and a window that holds about half of the session.
//!
//! `cargo bench -p interleaf --bench long`

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf::assemble::{
    Budget, Estimate, Ledger, Outcome, Recipe, Running, Step, Summary, View, assemble,
};
use interleaf::model::{ContextKind, Message, MessageId, Requirements};
use interleaf::wire::{Family, Options, SessionEncoder, Vendor, encode};
use interleaf_samples::generate::agent_session;

/// How many turns the cost is spread over.
const TURNS: usize = 100;

fn main() {
    println!("one turn, amortised over {TURNS}\n");
    println!(
        "{:>18} {:>9} {:>12} {:>9} {:>12} {:>8}",
        "state", "messages", "appended", "gave way", "anew", "ratio"
    );
    for n in [1_000, 10_000, 100_000] {
        let messages = session(n + 4 * TURNS);
        let covers = messages[..n * 9 / 10].iter().map(|message| message.id.clone()).collect();
        let summary =
            Summary { text: "They worked.".into(), start: messages[0].id.clone(), covers };
        measure("summary over 90 %", &messages, n, &recipe().with_summary(summary));
        let ledger = Arc::new(Ledger::new(Arc::new(Estimate::default())));
        let whole: u64 = messages[..n].iter().map(|message| ledger.message(message)).sum();
        // Half of the session, give or take what makes more give way while it is measured.
        let windows = (0..12).map(|i| whole / 2 + whole * i / 240);
        let recipe_of = |window| {
            let budget = Budget { reserve: 0, ..Budget::of_window(window) };
            recipe().with_budget(budget).with_ledger(ledger.clone())
        };
        let gives_way = |window: &u64| run(&messages, n, &recipe_of(*window)).1 > 0;
        let window = windows.clone().find(gives_way).unwrap_or(whole / 2);
        measure("window of half", &messages, n, &recipe_of(window));
    }
}

/// The time of a turn, and on how many of them more gave way.
fn run(messages: &[Arc<Message>], n: usize, recipe: &Recipe) -> (Duration, usize) {
    let (vendor, options) = (Vendor::of(Family::Anthropic), Options::model("a-model"));
    let mut running = Running::of(View::of(messages[..n].iter().cloned()));
    let mut encoder = SessionEncoder::new();
    let mut given_way = Vec::new();
    let mut send = |running: &mut Running| {
        if let Ok(assembly) = running.assemble(recipe, Requirements::STRICT)
            && let Outcome::Ready(prompt) = assembly.outcome
        {
            let _ = black_box(encoder.encode(&prompt, vendor, &options));
            let fitted = assembly.report.findings().filter(|(step, _)| *step == Step::Fit);
            given_way.push(fitted.map(|(_, finding)| finding.count).sum::<usize>());
        }
    };
    // The session has been running: its beginning is settled.
    (0..3).for_each(|_| send(&mut running));
    let start = Instant::now();
    for turn in 0..TURNS {
        let at = n + 2 * turn;
        messages[at..at + 2].iter().for_each(|message| running.append(message.clone()));
        send(&mut running);
    }
    let time = start.elapsed() / TURNS as u32;
    (time, given_way[2..].windows(2).filter(|pair| pair[0] != pair[1]).count())
}

fn measure(state: &str, messages: &[Arc<Message>], n: usize, recipe: &Recipe) {
    let (vendor, options) = (Vendor::of(Family::Anthropic), Options::model("a-model"));
    let (appended, given_way) = run(messages, n, recipe);
    let view = View::of(messages[..n].iter().cloned());
    let start = Instant::now();
    if let Ok(assembly) = assemble(&view, recipe, Requirements::STRICT, None)
        && let Outcome::Ready(prompt) = assembly.outcome
    {
        let _ = black_box(encode(&prompt, vendor, &options).map(|body| body.to_bytes()));
    }
    let anew = start.elapsed();
    println!(
        "{state:>18} {n:>9} {:>9.1} µs {given_way:>9} {:>9.1} µs {:>7.0}x",
        micros(appended),
        micros(anew),
        micros(anew) / micros(appended)
    );
}

fn recipe() -> Recipe {
    Recipe::new()
        .with_system("You are a careful agent.")
        .with_context(ContextKind::Todo, "1. mend the alarm")
}

fn session(n: usize) -> Vec<Arc<Message>> {
    let name = |(i, message): (usize, Message)| Arc::new(message.with_id(MessageId::of_index(i)));
    agent_session(n).into_iter().enumerate().map(name).collect()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
