//! What a session adds to a turn by telling its impact on the prompt cache, and under `auto` by
//! choosing how each source is shown: one turn appended and its request looked at, against the
//! same turn assembled and written without a session, under `auto` without prices to choose by.
//!
//! The difference is an upper bound: a session also looks for its records.
//!
//! `cargo bench -p interleaf --bench explain [-- MESSAGES…]`

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
    let asked = std::env::args().skip(1).filter_map(|n| n.parse().ok());
    let mut sizes: Vec<usize> = asked.collect();
    if sizes.is_empty() {
        sizes.extend([1_000, 10_000, 100_000]);
    }
    for (rule, n) in rules.iter().flat_map(|rule| sizes.iter().map(move |&n| (rule, n))) {
        let messages: Vec<Arc<Message>> = agent_session(n + 2 * TURNS)
            .into_iter()
            .enumerate()
            .map(|(i, message)| Arc::new(message.with_id(MessageId::of_index(i))))
            .collect();
        let (plain, explained) = runtime.block_on(both(rule, &messages, n));
        let (plain, explained) = (micros(plain), micros(explained));
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

/// A turn without a session, and in one. Both are measured in the same loop, first the one and
/// then the other by turns, so that neither has the warmer processor.
async fn both(rule: &PlacementRule, messages: &[Arc<Message>], n: usize) -> (Duration, Duration) {
    let mut plain = Plain::of(&messages[..n]);
    let target = target();
    let store = store::open("memory:").await.expect("a store");
    let mut session = Session::create(store, "").await.expect("a session");
    session.append_all(messages[..n].iter().cloned()).await.expect("messages");
    (0..3).for_each(|_| _ = plain.send(&[], &recipe(rule, 0)));
    let (mut bare, mut explained) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        let recipe = recipe(rule, turn);
        let new = &messages[n + 2 * turn..][..2];
        session.record(&recipe, &target).await.expect("a request");
        session.append_all(new.iter().cloned()).await.expect("messages");
        if turn % 2 == 0 {
            bare.push(plain.send(new, &recipe));
        }
        let start = Instant::now();
        let next = session.preview(&recipe, &target).await.expect("a request");
        explained.push(start.elapsed());
        black_box(next.request().map(|request| request.impact));
        if turn % 2 == 1 {
            bare.push(plain.send(new, &recipe));
        }
    }
    (median(bare), median(explained))
}

/// What makes requests without a session.
struct Plain {
    target: Target,
    encoder: SessionEncoder,
    running: Running,
}

impl Plain {
    fn of(messages: &[Arc<Message>]) -> Self {
        let running = Running::of(View::of(messages.iter().cloned()));
        Self { target: target(), encoder: SessionEncoder::new(), running }
    }

    /// How long it takes to make a request once these were said. A session takes them in as it
    /// makes one, too.
    fn send(&mut self, new: &[Arc<Message>], recipe: &Recipe) -> Duration {
        let (start, target) = (Instant::now(), &self.target);
        new.iter().for_each(|message| self.running.append(message.clone()));
        let assembly = self.running.assemble(recipe, target.requirements()).expect("a request");
        if let Outcome::Ready(prompt) = &assembly.outcome {
            let body = self.encoder.encode(prompt, &target.vendor, &target.options);
            black_box(body.expect("a body").fragments().count());
        }
        start.elapsed()
    }
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
