//! Whatever comes down a connection, and however it is cut, it is the same answer or
//! the same error.
//!
//! The first digit picks the family; 5 is Bedrock again, with the frames written here,
//! one for each line, since no fuzzer guesses a checksum. The second byte says where
//! the bytes are cut.

#![no_main]

mod picked;

use interleaf_model::Reply;
use interleaf_wire::{Delta, Error, Family, NameMap, StreamDecoder};
use libfuzzer_sys::fuzz_target;

/// The families, and whether the input has their frames already.
const FAMILIES: [(Family, bool); 6] = [
    (Family::OpenaiChat, true),
    (Family::OpenaiResponses, true),
    (Family::Anthropic, true),
    (Family::Gemini, true),
    (Family::Bedrock, true),
    (Family::Bedrock, false),
];

fuzz_target!(|data: &[u8]| {
    let Some((&(family, is_framed), rest)) = picked::pick(data, &FAMILIES) else { return };
    let Some((&pattern, rest)) = rest.split_first() else { return };
    let framed: Vec<u8>;
    let bytes = if is_framed {
        rest
    } else {
        framed = rest.split(|&byte| byte == b'\n').flat_map(frame).collect();
        &framed
    };
    let whole = decoded(family, std::iter::once(bytes));
    assert_eq!(whole, decoded(family, pieces(bytes, pattern)));
    assert_eq!(whole, decoded(family, bytes.chunks(1)));
});

/// What the pieces amount to.
fn decoded<'a>(
    family: Family,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Result<(Vec<Delta>, Reply), Error> {
    let mut decoder = StreamDecoder::new(family, NameMap::default());
    let mut deltas = Vec::new();
    for piece in pieces {
        deltas.extend(decoder.push(piece)?);
    }
    Ok((deltas, decoder.finish()?))
}

/// The bytes, cut into pieces of sizes that the pattern leads to.
fn pieces(bytes: &[u8], pattern: u8) -> impl Iterator<Item = &[u8]> {
    let (mut rest, mut size) = (bytes, usize::from(pattern));
    std::iter::from_fn(move || {
        size = (size * 29 + 7) % 61;
        let (piece, after) = rest.split_at(size.min(rest.len()));
        (!rest.is_empty()).then(|| {
            rest = after;
            piece
        })
    })
}

/// A line such as `messageStop {"stopReason":"end_turn"}` as a frame.
fn frame(line: &[u8]) -> Vec<u8> {
    let end = line.iter().position(|&byte| byte == b' ').unwrap_or(line.len());
    let (event, payload) = line.split_at(end);
    let event = &event[..event.len().min(64)];
    let mut headers = header(b":message-type", b"event");
    headers.extend(header(b":event-type", event));
    let mut frame = Vec::new();
    let total = 16 + headers.len() + payload.len();
    frame.extend((total as u32).to_be_bytes());
    frame.extend((headers.len() as u32).to_be_bytes());
    frame.extend(crc32fast::hash(&frame).to_be_bytes());
    frame.extend(headers);
    frame.extend(payload);
    frame.extend(crc32fast::hash(&frame).to_be_bytes());
    frame
}

fn header(name: &[u8], value: &[u8]) -> Vec<u8> {
    let mut header = vec![name.len() as u8];
    header.extend(name);
    header.push(7);
    header.extend((value.len() as u16).to_be_bytes());
    header.extend(value);
    header
}
