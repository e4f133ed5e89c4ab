//! The length of the JSON form, without writing it.
//!
//! A report names the bytes that two requests have in common, so every message of every
//! request is measured. Texts are by far the most of it, and to count what must be
//! escaped in them costs a fraction of writing them.

use serde::Serialize;

use super::{PartForm, write_extra};
use crate::{Arguments, Message, Origin, PartRef, Status};

/// The length of a message's JSON form.
pub(super) fn of(message: &Message) -> usize {
    let result = message.as_result();
    let mut object = Object::default();
    if !message.id.is_unassigned() {
        object.field("id", text(message.id.as_str()));
    }
    object.field("role", text(message.role().as_str()));
    if let Some(at) = &message.at {
        object.field("at", written(at));
    }
    match &message.origin {
        Origin::Main => {}
        Origin::SubAgent(agent) => object.field("agent", text(agent.as_str())),
        Origin::Internal => object.field("internal", "true".len()),
    }
    if let Some(result) = result {
        object.field("call", text(result.call.as_str()));
        if let Some(name) = &result.name {
            object.field("name", text(name.as_str()));
        }
        if result.status == Status::Error {
            object.field("error", "true".len());
        }
    }
    let (mut n_parts, mut parts) = (0, 0);
    for length in message.parts().map(part) {
        n_parts += 1;
        parts += length;
    }
    object.field("parts", list(n_parts, parts));
    if !message.extra.is_empty() {
        object.field("extra", written(&write_extra(&message.extra)));
    }
    object.length()
}

fn part(part: PartRef<'_>) -> usize {
    let mut object = Object::default();
    match part {
        PartRef::Text(said) if said.extra.is_empty() => {
            object.field("type", text("text"));
            object.field("text", text(&said.text));
        }
        PartRef::Call(call) if call.extra.is_empty() => {
            object.field("type", text("call"));
            object.field("id", text(call.id.as_str()));
            object.field("name", text(call.name.as_str()));
            match &call.arguments {
                Arguments::Object(json) => object.field("arguments", json.as_str().len()),
                Arguments::Invalid(said) => object.field("arguments_text", text(said)),
            }
        }
        PartRef::Text(_)
        | PartRef::Call(_)
        | PartRef::Image(_)
        | PartRef::File(_)
        | PartRef::Thinking(_)
        | PartRef::Opaque(_) => return written(&PartForm::from(part)),
    }
    object.length()
}

/// The fields of an object so far.
#[derive(Default)]
struct Object {
    n_fields: usize,
    inside: usize,
}

impl Object {
    /// Adds a field whose value has this length.
    fn field(&mut self, name: &str, value: usize) {
        self.n_fields += 1;
        self.inside += name.len() + "\"\":".len() + value;
    }

    fn length(&self) -> usize {
        list(self.n_fields, self.inside)
    }
}

/// The length of what stands between two brackets, with commas between.
fn list(n: usize, inside: usize) -> usize {
    2 + inside + n.saturating_sub(1)
}

/// The length of a text as JSON.
fn text(text: &str) -> usize {
    let is_short = |byte: u8| matches!(byte, 0x08 | b'\t' | b'\n' | 0x0c | b'\r');
    // A short count for each stretch, so that the compiler can look at many bytes at once.
    let escapes = text.as_bytes().chunks(255).map(|stretch| {
        let (mut short, mut long) = (0_u8, 0_u8);
        for &byte in stretch {
            let is_control = byte < 0x20;
            short += u8::from(is_control | (byte == b'"') | (byte == b'\\'));
            long += u8::from(is_control & !is_short(byte));
        }
        usize::from(short) + usize::from(long) * 4
    });
    text.len() + 2 + escapes.sum::<usize>()
}

/// The length of what serde writes.
fn written(value: &impl Serialize) -> usize {
    let mut counted = ByteCount(0);
    // Counting cannot fail, nor can our own Serialize.
    let _ = serde_json::to_writer(&mut counted, value);
    counted.0
}

/// A writer that only counts.
struct ByteCount(usize);

impl std::io::Write for ByteCount {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
