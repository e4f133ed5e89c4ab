//! The family of OpenAI's chat completions: bodies, answers, rules.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod bodies;
mod faults;
mod laws;
mod messages;
mod rules;
mod unknown_fields;
mod vendors;

use std::sync::Arc;

use interleaf_model::{Entry, Message, Prompt, Provenance, Role, Tool};
use interleaf_wire::{Adjustment, Encoded, Error, Family, Options, Request, Vendor, encode};

/// The messages as a prompt: system messages are hoisted, further ones are a summary.
pub(crate) fn prompt(messages: &[Message], tools: Vec<Tool>) -> Prompt {
    let (system, rest): (Vec<_>, Vec<_>) =
        messages.iter().cloned().partition(|message| message.role() == Role::System);
    let mut entries: Vec<Entry> = Vec::new();
    for message in system {
        let provenance = if entries.is_empty() { Provenance::System } else { Provenance::Summary };
        entries.push(Entry { message: Arc::new(message), provenance });
    }
    entries.extend(
        rest.into_iter()
            .map(|message| Entry { message: Arc::new(message), provenance: Provenance::Original }),
    );
    Prompt::check_for(crate::taking_blanks(), entries, tools.into()).unwrap()
}

pub(crate) fn vendor(name: &str) -> &'static Vendor {
    Vendor::named(name).unwrap()
}

pub(crate) fn decode_request(body: &str) -> Result<Request, Error> {
    interleaf_wire::decode_request(Family::OpenaiChat, body)
}

/// A list of messages, read as the body that it stands for.
pub(crate) fn decode_messages(list: &str) -> Result<Vec<Message>, Error> {
    decode_request(list).map(|request| request.messages)
}

/// A chat body, read and written again for a vendor.
pub(crate) fn rewritten(body: &str, vendor_name: &str) -> (String, Vec<Adjustment>) {
    let Request { messages, tools, options } = decode_request(body).unwrap();
    written(&messages, tools, &options, vendor_name)
}

pub(crate) fn written(
    messages: &[Message],
    tools: Vec<Tool>,
    options: &Options,
    vendor_name: &str,
) -> (String, Vec<Adjustment>) {
    let encoded = encode(&prompt(messages, tools), vendor(vendor_name), options).unwrap();
    (text(&encoded), encoded.adjustments)
}

pub(crate) fn text(encoded: &Encoded) -> String {
    String::from_utf8(encoded.to_bytes()).unwrap()
}

/// Only the messages of a body.
pub(crate) fn messages_of(body: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(body).unwrap();
    let list = value["messages"].as_array().unwrap();
    list.iter().map(|message| format!("{message}\n")).collect()
}
