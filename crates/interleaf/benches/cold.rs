//! The first request of a long conversation: 10,000 messages are assembled and written as
//! one body, against the JSON library alone, which writes the same body from a tree that
//! is already in the API's form.
//!
//! `cargo bench -p interleaf --bench cold`

#![expect(clippy::unwrap_used, clippy::panic, reason = "a bench that cannot go on has failed")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf::assemble::{Outcome, Recipe, View, assemble};
use interleaf::model::{Body, ContentPart, ContextKind, Message, Parts, Requirements, Text};
use interleaf::wire::{Family, Options, Vendor, encode};
use interleaf_samples::generate::agent_session;

/// How many messages the conversation has.
const MESSAGES: usize = 10_000;

/// How often each is done, in turns; the best counts.
const ROUNDS: usize = 25;

fn main() {
    let view = View::of(agent_session(MESSAGES).into_iter().map(longer).map(Arc::new));
    println!("{MESSAGES} messages to one body, best of {ROUNDS}\n");
    print!("{:>18} {:>6} {:>10} {:>10}", "API", "MB", "assemble", "write");
    println!(" {:>10} {:>12} {:>7}", "together", "JSON library", "ratio");
    for family in Family::ALL {
        measure(&view, Vendor::of(family));
    }
}

/// The message with three times the text, if it is a tool's result.
fn longer(mut message: Message) -> Message {
    if let Body::Tool(result) = &mut message.body {
        let texts = result.parts.iter().filter_map(|part| match part {
            ContentPart::Text(text) => Some(&*text.text),
            _ => None,
        });
        let text: String = texts.collect();
        result.parts = Parts::one(ContentPart::Text(Text::new(&*text.repeat(3))));
    }
    message
}

fn measure(view: &View, vendor: &Vendor) {
    let recipe = Recipe::new()
        .with_system("You are a careful agent.")
        .with_context(ContextKind::Todo, "1. list the files");
    let options = Options::model("a-model");
    let prompt = || {
        let assembly = assemble(view, &recipe, Requirements::STRICT, None).unwrap();
        let Outcome::Ready(prompt) = assembly.outcome else { panic!("it is ready") };
        prompt
    };
    let body = encode(&prompt(), vendor, &options).unwrap().to_bytes();
    let tree: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let [mut assembled, mut written, mut json] = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let prompt = prompt();
        assembled = assembled.min(start.elapsed());
        let start = Instant::now();
        black_box(encode(&prompt, vendor, &options).unwrap());
        written = written.min(start.elapsed());
        drop(prompt);
        let start = Instant::now();
        black_box(serde_json::to_vec(&tree).unwrap());
        json = json.min(start.elapsed());
    }
    let millis = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
    let together = assembled + written;
    print!("{:>18} {:>6.1}", vendor.family.as_str(), body.len() as f64 / 1e6);
    print!(" {:>10} {:>10} {:>10}", millis(assembled), millis(written), millis(together));
    println!(" {:>12} {:>6.2}x", millis(json), together.as_secs_f64() / json.as_secs_f64());
}
