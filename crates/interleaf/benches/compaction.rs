//! The plan for a compaction of a long session: which messages would give way, and the figures.
//! The same as for the next request, nothing is counted twice; the baseline is one pass over the
//! visible messages that adds up their texts.
//!
//! `cargo bench -p interleaf --bench compaction`

#![expect(clippy::expect_used, reason = "a bench that cannot go on has failed")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf::assemble::{Budget, Recipe};
use interleaf::compaction::CompactionPolicy;
use interleaf::model::{Message, MessageId};
use interleaf::{Session, Target, store};
use interleaf_samples::generate::agent_session;

const RUNS: usize = 9;

fn main() {
    println!("the plan for a compaction (median of {RUNS})\n");
    println!(
        "{:>9} {:>12} {:>12} {:>12} {:>7}",
        "messages", "first plan", "plan", "one pass", "ratio"
    );
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    for n in [1_000, 10_000, 100_000] {
        let messages: Vec<Arc<Message>> = agent_session(n)
            .into_iter()
            .enumerate()
            .map(|(i, message)| Arc::new(message.with_id(MessageId::of_index(i))))
            .collect();
        let (first, plan, pass) = runtime.block_on(measured(&messages));
        let ratio = plan / pass;
        println!("{n:>9} {first:>9.2} ms {plan:>9.2} ms {pass:>9.2} ms {ratio:>6.1}x");
    }
}

async fn measured(messages: &[Arc<Message>]) -> (f64, f64, f64) {
    let target = Target::new("anthropic", "claude-sonnet-4-5").expect("a vendor");
    let store = store::open("memory:").await.expect("a store");
    let mut session = Session::create(store, "").await.expect("a session");
    session.append_all(messages.iter().cloned()).await.expect("messages");
    let recipe = Recipe::new().with_budget(Budget::of_window(200_000));
    let policy = CompactionPolicy::default();
    let mut plans = Vec::new();
    let mut passes = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        let plan = session.compaction_now(&policy, &recipe, &target).await.expect("a plan");
        plans.push(start.elapsed());
        black_box(plan.n_messages);
        let start = Instant::now();
        let texts = session.conversation().visible().flat_map(|message| message.texts());
        black_box(texts.map(|text| text.len()).sum::<usize>());
        passes.push(start.elapsed());
    }
    let first = plans[0];
    (millis(first), millis(median(plans)), millis(median(passes)))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
