//! The answers that lie in `fixtures/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use interleaf_model::Reply;
use interleaf_wire::{Family, NameMap};
use serde_json::value::RawValue;

use crate::bedrock::event;
use crate::{decode_response, decode_stream};

fn files(family: Family) -> Vec<(String, Vec<u8>)> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/exchanges"));
    let mut files: Vec<_> = fs::read_dir(root.join(family.as_str()))
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            (format!("{family}/{name}"), fs::read(&path).unwrap())
        })
        .filter(|(name, _)| !name.ends_with(".request.json"))
        .collect();
    files.sort();
    files
}

/// Every recorded stream, those with errors included.
pub(super) fn streams() -> Vec<(String, Family, Vec<u8>)> {
    let mut streams = Vec::new();
    for family in Family::ALL {
        for (name, bytes) in files(family) {
            if name.ends_with(".sse") {
                streams.push((name, family, bytes));
            } else if name.ends_with(".events.jsonl") {
                streams.push((name, family, frames(&String::from_utf8(bytes).unwrap())));
            }
        }
    }
    streams
}

/// The frames of a recording, one event to a line.
fn frames(lines: &str) -> Vec<u8> {
    let frame = |line: &str| {
        let event_of: BTreeMap<String, Box<RawValue>> = serde_json::from_str(line).unwrap();
        let (name, payload) = event_of.first_key_value().unwrap();
        event(name, payload.get())
    };
    lines.lines().flat_map(frame).collect()
}

/// What every recorded answer says, but for errors.
pub(crate) fn replies() -> Vec<(String, Reply)> {
    let names = NameMap::default();
    let mut replies = Vec::new();
    for family in Family::ALL {
        for (name, bytes) in files(family) {
            if name.ends_with(".json") {
                let text = String::from_utf8(bytes).unwrap();
                replies.extend(decode_response(family, &text, &names).map(|reply| (name, reply)));
            }
        }
    }
    for (name, family, bytes) in streams() {
        replies.extend(decode_stream(family, &bytes, &names).map(|reply| (name, reply)));
    }
    replies
}
