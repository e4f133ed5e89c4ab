//! What holds for this family.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod examples;
pub(crate) mod frames;
mod laws;
mod rules;
mod streams;

pub(crate) use self::frames::event;

use std::path::PathBuf;
use std::sync::Arc;

use interleaf_model::{
    Body, Entry, Message, Parts, Prompt, Provenance, Role, SystemPart, Tool, ToolName,
};
use interleaf_wire::{Encoded, Family, Options, Vendor, encode, lint};

fn vendor() -> &'static Vendor {
    Vendor::of(Family::Bedrock)
}

fn fixture(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The messages as a prompt, all system text at its head.
fn prompt(messages: Vec<Message>, tools: Vec<Tool>) -> Prompt {
    let (system, rest): (Vec<_>, Vec<_>) =
        messages.into_iter().partition(|message| message.role() == Role::System);
    let parts: Vec<SystemPart> = system
        .into_iter()
        .flat_map(|message| match message.body {
            Body::System(parts) => parts.into_vec(),
            _ => Vec::new(),
        })
        .collect();
    let head = Parts::new(parts).ok().map(|parts| Message::from(Body::System(parts)));
    let entry = |message: Message| {
        let provenance =
            if message.role() == Role::System { Provenance::System } else { Provenance::Original };
        Entry { message: Arc::new(message), provenance }
    };
    let entries = head.into_iter().chain(rest).map(entry).collect();
    Prompt::check_for(crate::taking_blanks(), entries, tools.into())
        .unwrap_or_else(|e| panic!("{e}"))
}

fn tool(name: &str) -> Tool {
    Tool {
        name: ToolName::new(name),
        description: None,
        parameters: None,
        strict: None,
        extra: interleaf_model::Extra::NONE,
    }
}

fn text(encoded: &Encoded) -> String {
    String::from_utf8(encoded.to_bytes()).unwrap()
}

/// The body, which the API would take.
fn body(prompt: &Prompt, options: &Options) -> (serde_json::Value, Encoded) {
    let encoded = encode(prompt, vendor(), options).unwrap();
    let text = text(&encoded);
    assert_eq!(lint::lint(vendor(), &text).unwrap(), [], "{text}");
    (serde_json::from_str(&text).unwrap(), encoded)
}
