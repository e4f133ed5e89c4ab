//! Where messages stand in the bytes of the turns that they are part of.

use std::ops::Range;

use interleaf_model::{Entry, Message, PartRef, json_text};
use memchr::memmem;

/// This much of a text is looked for.
const LOOKED_FOR: usize = 48;

/// The bytes of each of these messages, which stand one after the other. A message begins
/// where the one before it ends, and ends with the last of its texts.
pub(super) fn of<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    bytes: &[u8],
) -> Vec<Range<usize>> {
    let mut at = 0;
    let span = |entry: &'a Entry| {
        let start = at;
        at = end_of(&entry.message, bytes, at);
        start..at
    };
    entries.into_iter().map(span).collect()
}

/// Where a message ends that begins here.
fn end_of(message: &Message, bytes: &[u8], start: usize) -> usize {
    message.parts().fold(start, |at, part| {
        let end = match part {
            PartRef::Text(text) => end_of_text(&text.text, bytes, at),
            PartRef::Thinking(thinking) => end_of_text(&thinking.text, bytes, at),
            PartRef::Call(call) => {
                let by_id = end_of_text(call.id.as_str(), bytes, at);
                let named = by_id.or_else(|| end_of_text(call.name.as_str(), bytes, at));
                let arguments = call.arguments.as_str();
                let at = named.unwrap_or(at);
                let raw = || find(arguments.as_bytes(), bytes, at).map(|at| at + arguments.len());
                end_of_text(arguments, bytes, at).or_else(raw).or(named)
            }
            PartRef::Image(_) | PartRef::File(_) => None,
            PartRef::Opaque(opaque) => {
                let value = opaque.value.as_str();
                find(value.as_bytes(), bytes, at).map(|at| at + value.len())
            }
        };
        end.unwrap_or(at)
    })
}

/// Where a text ends in JSON, if it stands after this byte.
fn end_of_text(text: &str, bytes: &[u8], at: usize) -> Option<usize> {
    let mut upto = text.len().min(LOOKED_FOR);
    while !text.is_char_boundary(upto) {
        upto -= 1;
    }
    let begins = json_text(&text[..upto]).ok()?;
    let begins = begins.strip_suffix('"')?;
    let end =
        find(begins.as_bytes(), bytes, at)? + 1 + text.bytes().map(escaped_len).sum::<usize>();
    let closed = bytes.get(end) == Some(&b'"');
    Some((end + usize::from(closed)).min(bytes.len()))
}

fn find(text: &[u8], bytes: &[u8], at: usize) -> Option<usize> {
    memmem::find(bytes.get(at..)?, text).map(|found| at + found)
}

/// How many bytes a byte of a text takes in JSON.
fn escaped_len(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | 0x08 | b'\t' | b'\n' | 0x0c | b'\r' => 2,
        0..0x20 => 6,
        _ => 1,
    }
}
