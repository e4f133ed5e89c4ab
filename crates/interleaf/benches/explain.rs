//! What it takes of a turn to tell its impact on the prompt cache, and under `auto` to choose how
//! each source is shown: the time inside of the spans `explain` and `choose` of a session's turn.
//!
//! Beside it one turn appended and its request made, by a session and by the assembly and the
//! encoder alone, which keep no records and tell nothing; under `auto` without prices to choose by.
//!
//! `cargo bench -p interleaf --bench explain [-- MESSAGES…]`

#![expect(clippy::expect_used, clippy::panic, reason = "a bench that cannot go on has failed")]

use std::cell::Cell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf::assemble::{Outcome, PlacementRule, Recipe, Running, View};
use interleaf::model::{ContextKind, Message, MessageId, Tool};
use interleaf::wire::{CacheMarks, SessionEncoder};
use interleaf::{Session, Target, store};
use interleaf_samples::generate::agent_session;
use serde_json::json;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// How many turns are appended and measured one by one.
const TURNS: usize = 200;

fn main() {
    println!("one turn appended and its request made (median of {TURNS})\n");
    println!(
        "{:>21} {:>9} {:>12} {:>12} {:>22} {:>7}",
        "rule", "messages", "plain", "session", "choosing + explaining", "of plain"
    );
    tracing::subscriber::set_global_default(Clock).expect("no other subscriber");
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
        let medians = runtime.block_on(turns(rule, &messages, n)).map(median).map(micros);
        let [plain, session, told] = medians;
        let (rule, part) = (rule.to_string(), 100.0 * told / plain);
        println!(
            "{rule:>21} {n:>9} {plain:>9.1} µs {session:>9.1} µs {told:>19.1} µs {part:>6.0} %"
        );
    }
}

fn target() -> Target {
    let mut target = Target::new("anthropic", "claude-sonnet-4-5").expect("a vendor");
    target.options.cache = CacheMarks::On;
    target
}

/// Turns without a session, turns in one, and what it took of these to choose and explain. All
/// are measured in the same loop, first the one and then the other by turns, so that neither has
/// the warmer processor.
async fn turns(rule: &PlacementRule, messages: &[Arc<Message>], n: usize) -> [Vec<Duration>; 3] {
    let mut plain = Plain::of(&messages[..n]);
    let target = target();
    let store = store::open("memory:").await.expect("a store");
    let mut session = Session::create(store, "").await.expect("a session");
    session.append_all(messages[..n].iter().cloned()).await.expect("messages");
    (0..3).for_each(|_| _ = plain.send(&[], &recipe(rule, 0)));
    let (mut bare, mut whole, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..TURNS {
        let recipe = recipe(rule, turn);
        let new = &messages[n + 2 * turn..][..2];
        session.record(&recipe, &target).await.expect("a request");
        session.append_all(new.iter().cloned()).await.expect("messages");
        if turn % 2 == 0 {
            bare.push(plain.send(new, &recipe));
        }
        Clock::take();
        let start = Instant::now();
        let next = session.preview(&recipe, &target).await.expect("a request");
        whole.push(start.elapsed());
        told.push(Clock::take());
        black_box(next.request().map(|request| request.impact));
        if turn % 2 == 1 {
            bare.push(plain.send(new, &recipe));
        }
    }
    [bare, whole, told]
}

/// Adds up the time inside of spans.
struct Clock;

thread_local! {
    static ENTERED: Cell<Option<Instant>> = const { Cell::new(None) };
    static INSIDE: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

impl Clock {
    /// The time since it was last asked.
    fn take() -> Duration {
        INSIDE.replace(Duration::ZERO)
    }
}

impl Subscriber for Clock {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && ["choose", "explain"].contains(&metadata.name())
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn enter(&self, _: &Id) {
        ENTERED.set(Some(Instant::now()));
    }

    fn exit(&self, _: &Id) {
        let inside = ENTERED.take().map_or(Duration::ZERO, |entered| entered.elapsed());
        INSIDE.set(INSIDE.get() + inside);
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}
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
    /// makes one, too, and remembers it as it is recorded.
    fn send(&mut self, new: &[Arc<Message>], recipe: &Recipe) -> Duration {
        let (start, target) = (Instant::now(), &self.target);
        new.iter().for_each(|message| self.running.append(message.clone()));
        let assembly = self.running.preview(recipe, target.requirements()).expect("a request");
        let body = match &assembly.outcome {
            Outcome::Ready(prompt) => {
                self.encoder.encode(prompt, &target.vendor, &target.options).expect("a body")
            }
            Outcome::Waiting(_) => panic!("a request waits"),
        };
        let time = start.elapsed();
        black_box(body.fragments().count());
        self.running.remember(&assembly);
        time
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
