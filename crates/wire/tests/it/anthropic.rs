//! What holds for Anthropic's Messages API.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says by a panic that it failed")]

mod answers;
mod laws;
mod requests;
mod rules;

use std::sync::Arc;

use interleaf_model::{Body, Entry, Message, Parts, Prompt, Provenance, Tool};
use interleaf_wire::{Encoded, Family, Options, Vendor, encode};

fn vendor() -> &'static Vendor {
    Vendor::of(Family::Anthropic)
}

/// The messages as a prompt, their system messages joined at its head.
fn prompt(messages: Vec<Message>, tools: Vec<Tool>) -> Prompt {
    let mut system = Vec::new();
    let mut entries = Vec::new();
    for message in messages {
        match message.body {
            Body::System(parts) => system.extend(parts.into_vec()),
            _ => {
                entries.push(Entry { message: Arc::new(message), provenance: Provenance::Original })
            }
        }
    }
    if let Ok(parts) = Parts::new(system) {
        let message = Arc::new(Message::from(Body::System(parts)));
        entries.insert(0, Entry { message, provenance: Provenance::System });
    }
    Prompt::check_for(crate::taking_blanks(), entries, tools.into()).unwrap()
}

fn encode_all(messages: Vec<Message>, options: &Options) -> Encoded {
    encode(&prompt(messages, Vec::new()), vendor(), options).unwrap()
}

fn text_of(encoded: &Encoded) -> String {
    String::from_utf8(encoded.to_bytes()).unwrap()
}
