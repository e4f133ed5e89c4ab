//! What holds for OpenAI's Responses.
#![expect(clippy::unwrap_used, reason = "the helpers of a test fail like a test")]

mod answers;
mod bodies;
mod laws;
mod requests;
mod rules;

use std::path::PathBuf;
use std::sync::Arc;

use interleaf_model::{Entry, Message, Prompt, Provenance, Tool};
use interleaf_wire::{Encoded, Family, Options, Vendor, encode};

const FAMILY: Family = Family::OpenaiResponses;
const OWNER: &str = "openai_responses";

fn vendor() -> &'static Vendor {
    Vendor::of(FAMILY)
}

fn fixture(folder: &str, name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("../../fixtures").join(folder).join("openai-responses").join(name)
}

fn exchange(name: &str) -> String {
    std::fs::read_to_string(fixture("exchanges", name)).unwrap()
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

fn encoded(messages: Vec<Message>, options: &Options) -> Encoded {
    encode(&prompt(messages, Vec::new()), vendor(), options).unwrap()
}

fn body_of(encoded: &Encoded) -> String {
    String::from_utf8(encoded.to_bytes()).unwrap()
}

/// A body, read and written again.
fn again(body: &str) -> Encoded {
    let request = interleaf_wire::decode_request(FAMILY, body).unwrap();
    let prompt = prompt(request.messages, request.tools);
    encode(&prompt, vendor(), &request.options).unwrap()
}
