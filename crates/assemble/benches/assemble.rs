//! What assembling costs, against the least that it could cost.
//!
//! `cargo bench -p interleaf-assemble` prints the median of several runs, the plain
//! way in the same run, and the ratio of the two.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf_assemble::{
    Amount, Bpe, Budget, Ledger, Part, Recipe, Running, Share, Shares, View, assemble,
};
use interleaf_model::{
    AssistantPart, Body, CallId, ContextKind, Message, MessageId, PartRef, Parts, Requirements,
    Tool,
};
use interleaf_samples::generate::agent_session;
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    println!("assembling, four context texts           interleaf     plain clone   ratio");
    for n in [1_000, 10_000, 100_000] {
        let view = named(agent_session(n));
        let plain = median(|| view.clone());
        let reused = View::of(one_call_id(&view)?);
        let view = View::of(view);
        let make =
            |view: &View, recipe: &Recipe| assemble(view, recipe, Requirements::STRICT, None);
        let recipe = recipe();
        row(&format!("{n} messages"), median(|| make(&view, &recipe)), plain);

        let mut counted = recipe.clone();
        counted.ledger = Some(Arc::new(Ledger::new(Arc::new(o200k()?))));
        make(&view, &counted)?;
        row(&format!("{n} messages, warm ledger"), median(|| make(&view, &counted)), plain);
        let one_id = format!("{n} messages, one call id for all");
        row(&one_id, median(|| make(&reused, &recipe)), plain);
    }
    println!();
    println!("the next request of a session, 64 tools      shared     whole tools   ratio");
    for n in [1_000, 10_000, 100_000] {
        share_tools(n)?;
    }
    println!();
    println!("counting tokens (o200k)                      ledger       tokenizer   ratio");
    count_tokens()
}

/// Four context texts.
fn recipe() -> Recipe {
    Recipe::new()
        .with_context(ContextKind::Role, "You are a careful coding agent.")
        .with_context(ContextKind::Todo, "1. read\n2. write\n3. test")
        .with_context(ContextKind::Info, "src/lib.rs, lines 1 to 20")
        .with_context(ContextKind::Notes, "src: one file per step")
}

/// The next request of a session whose tools take more than their share, so that some are
/// left out, against one whose tools are sent whole.
fn share_tools(n: usize) -> Result<(), Failure> {
    let tools: Vec<Tool> = (0..64).map(tool).collect();
    let ledger = Arc::new(Ledger::new(Arc::new(o200k()?)));
    let whole = ledger.tools(&tools);
    let next = |max: u64| -> Result<Duration, Failure> {
        let mut running = Running::of(View::of(named(agent_session(n))));
        let share = Share::new(None, Some(Amount::Tokens(max)));
        let mut recipe = recipe().with_ledger(ledger.clone()).with_tools(tools.clone());
        recipe.budget = Some(Budget::of_window(100_000_000));
        recipe.shares = Shares::new().with(Part::Tools, share);
        running.assemble(&recipe, Requirements::STRICT)?;
        Ok(median(|| running.preview(&recipe, Requirements::STRICT)))
    };
    row(&format!("{n} messages"), next(whole / 8)?, next(whole)?);
    Ok(())
}

fn tool(n: usize) -> Tool {
    let text = "It does this and that, and a little more. ".repeat(12);
    let path = json!({"type": "string", "description": text});
    Tool::new(&*format!("tool{n}"), text, json!({"type": "object", "properties": {"path": path}}))
}

/// The session of a server that gives every call the same id.
fn one_call_id(view: &[Arc<Message>]) -> Result<Vec<Arc<Message>>, Failure> {
    let id = CallId::new("call_0")?;
    let mut messages = Vec::with_capacity(view.len());
    for message in view {
        let mut message = Message::clone(message);
        match &mut message.body {
            Body::Assistant(parts) => {
                let mut all = parts.to_vec();
                for part in &mut all {
                    if let AssistantPart::Call(call) = part {
                        call.id = id.clone();
                    }
                }
                *parts = Parts::new(all)?;
            }
            Body::Tool(result) => result.call = id.clone(),
            Body::System(_) | Body::User(_) => {}
        }
        messages.push(Arc::new(message));
    }
    Ok(messages)
}

fn count_tokens() -> Result<(), Failure> {
    let session = agent_session(4_000);
    let texts: Vec<&str> = session.iter().flat_map(texts).collect();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let alone = tiktoken::get_encoding("o200k_base").ok_or("no o200k")?;
    let plain = median(|| texts.iter().map(|text| alone.count(text)).sum::<usize>());

    let view = named(session.clone());
    let bpe: Arc<Bpe> = Arc::new(o200k()?);
    let cold = median(|| {
        let ledger = Ledger::new(bpe.clone());
        view.iter().map(|message| ledger.message(message)).sum::<u64>()
    });
    let ledger = Ledger::new(bpe);
    view.iter().for_each(|message| _ = ledger.message(message));
    let warm = median(|| view.iter().map(|message| ledger.message(message)).sum::<u64>());

    let speed = |time: Duration| format!("{:.1} MB/s", bytes as f64 / time.as_secs_f64() / 1e6);
    for (name, time) in [("for the first time", cold), ("remembered", warm)] {
        let name = format!("{:.1} MB, {name}", bytes as f64 / 1e6);
        let ratio = plain.as_secs_f64() / time.as_secs_f64();
        println!("{name:<36}{:>16}{:>16}{ratio:>8.2}", speed(time), speed(plain));
    }
    Ok(())
}

/// What is counted of a message.
fn texts(message: &Message) -> Vec<&str> {
    let mut texts = Vec::new();
    for part in message.parts() {
        match part {
            PartRef::Text(text) => texts.push(&*text.text),
            PartRef::Call(call) => texts.extend([call.name.as_str(), call.arguments.as_str()]),
            PartRef::Thinking(_) | PartRef::Image(_) | PartRef::File(_) | PartRef::Opaque(_) => {}
        }
    }
    texts
}

fn o200k() -> Result<Bpe, Failure> {
    Ok(Bpe::named("o200k_base").ok_or("no o200k")?)
}

fn named(messages: Vec<Message>) -> Vec<Arc<Message>> {
    let name = |(i, message): (usize, Message)| Arc::new(message.with_id(MessageId::of_index(i)));
    messages.into_iter().enumerate().map(name).collect()
}

/// The median time of a run, what it made thrown away again.
fn median<T>(mut run: impl FnMut() -> T) -> Duration {
    const LEAST: usize = 7;
    const ENOUGH: Duration = Duration::from_millis(400);
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < LEAST || (start.elapsed() < ENOUGH && times.len() < 1_000) {
        let began = Instant::now();
        drop(black_box(run()));
        times.push(began.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}

fn row(name: &str, time: Duration, plain: Duration) {
    let ratio = time.as_secs_f64() / plain.as_secs_f64();
    println!("{name:<36}{:>16}{:>16}{ratio:>8.1}", show(time), show(plain));
}

fn show(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}
