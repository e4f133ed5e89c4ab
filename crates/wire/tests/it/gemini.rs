//! What holds for this family.

#![expect(clippy::unwrap_used, clippy::panic, reason = "the helpers of a test fail like a test")]

mod answers;
mod laws;
mod requests;
mod rules;

use std::path::PathBuf;
use std::sync::Arc;

use interleaf_model::{Entry, Message, Prompt, Provenance, Tool};
use interleaf_wire::{Encoded, Options, Vendor, encode};
use serde_json::Value;

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn google() -> &'static Vendor {
    Vendor::named("google").unwrap()
}

fn prompt(messages: Vec<Message>, tools: Vec<Tool>) -> Prompt {
    let entry = |message| Entry { message: Arc::new(message), provenance: Provenance::Original };
    Prompt::check_for(
        crate::taking_blanks(),
        messages.into_iter().map(entry).collect(),
        tools.into(),
    )
    .unwrap()
}

fn model(name: &str) -> Options {
    Options::model(name)
}

fn body(encoded: &Encoded) -> Value {
    serde_json::from_slice(&encoded.to_bytes()).unwrap()
}

/// The body of messages in the notation.
fn written(notation: &str, options: &Options) -> Value {
    let messages = interleaf_model::notation::parse(notation).unwrap();
    body(&encode(&prompt(messages, Vec::new()), google(), options).unwrap())
}
