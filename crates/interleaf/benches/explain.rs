//! What a session adds to a turn by telling its impact on the prompt cache, and under `auto` by
//! choosing how each source is shown: one turn appended and its request looked at, against the
//! same turn assembled and written without a session, under `auto` without prices to choose by.
//!
//! The difference is an upper bound: a session also looks for its records.
//!
//! `cargo bench -p interleaf --bench explain`

#![expect(clippy::expect_used, reason = "a bench that cannot go on has failed")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf::assemble::{Outcome, PlacementRule, Recipe, Running, View};
use interleaf::model::{ContextKind, Message, MessageId, Tool};
use interleaf::wire::{CacheMarks, SessionEncoder};
use interleaf::{Session, Target, store};
use interleaf_samples::generate::agent_session;
use serde_json::json;

/// How many turns are appended and measured one by one.
const TURNS: usize = 200;

fn main() {
    println!("one turn appended and its request made (median of {TURNS})\n");
    println!(
        "{:>21} {:>9} {:>12} {:>12} {:>12} {:>7}",
        "rule", "messages", "plain", "explained", "more", "ratio"
    );
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let rules = [PlacementRule::default(), PlacementRule::Auto(8)];
    for (rule, n) in rules.iter().flat_map(|rule| [1_000, 10_000, 100_000].map(|n| (rule, n))) {
        let messages: Vec<Arc<Message>> = agent_session(n + 2 * TURNS)
            .into_iter()
            .enumerate()
            .map(|(i, message)| Arc::new(message.with_id(MessageId::of_index(i))))
            .collect();
        let plain = micros(plain(rule, &messages, n));
        let explained = micros(runtime.block_on(explained(rule, &messages, n)));
        let (more, ratio) = (explained - plain, explained / plain);
        let rule = rule.to_string();
        println!(
            "{rule:>21} {n:>9} {plain:>9.1} µs {explained:>9.1} µs {more:>9.1} µs {ratio:>6.2}x"
        );
    }
}

fn target() -> Target {
    let mut target = Target::new("anthropic", "claude-sonnet-4-5").expect("a vendor");
    target.options.cache = CacheMarks::On;
    target
}

fn plain(rule: &PlacementRule, messages: &[Arc<Message>], n: usize) -> Duration {
    let (target, mut encoder) = (target(), SessionEncoder::new());
    let mut running = Running::of(View::of(messages[..n].iter().cloned()));
    let mut send = |running: &mut Running, recipe: &Recipe| {
        let assembly = running.assemble(recipe, target.requirements()).expect("a request");
        let Outcome::Ready(prompt) = assembly.outcome else { return 0 };
        encoder
            .encode(&prompt, &target.vendor, &target.options)
            .expect("a body")
            .fragments()
            .count()
    };
    (0..3).for_each(|_| _ = send(&mut running, &recipe(rule, 0)));
    let mut times: Vec<Duration> = Vec::new();
    for turn in 0..TURNS {
        let recipe = recipe(rule, turn);
        messages[n + 2 * turn..][..2].iter().for_each(|message| running.append(message.clone()));
        let start = Instant::now();
        black_box(send(&mut running, &recipe));
        times.push(start.elapsed());
    }
    median(times)
}

async fn explained(rule: &PlacementRule, messages: &[Arc<Message>], n: usize) -> Duration {
    let target = target();
    let store = store::open("memory:").await.expect("a store");
    let mut session = Session::create(store, "").await.expect("a session");
    session.append_all(messages[..n].iter().cloned()).await.expect("messages");
    let mut times: Vec<Duration> = Vec::new();
    for turn in 0..TURNS {
        let recipe = recipe(rule, turn);
        session.record(&recipe, &target).await.expect("a request");
        let new = messages[n + 2 * turn..][..2].iter().cloned();
        session.append_all(new).await.expect("messages");
        let start = Instant::now();
        let next = session.preview(&recipe, &target).await.expect("a request");
        times.push(start.elapsed());
        black_box(next.request().map(|request| request.impact));
    }
    median(times)
}

fn recipe(rule: &PlacementRule, turn: usize) -> Recipe {
    let text = format!("{turn} things are done, {} are left", TURNS - turn);
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let mut recipe = Recipe::new()
        .with_rule(rule.clone())
        .with_system("You are a careful agent.")
        .with_tools([Tool::new("read_file", "Reads a file.", schema)])
        .with_context(ContextKind::Role, "You mend programs.")
        .with_context(ContextKind::Todo, text);
    recipe.open_block = interleaf::assemble::OpenBlock::Mend;
    recipe
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
