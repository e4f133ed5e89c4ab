//! Where messages stand in the bytes of the turns that they are part of.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use interleaf_model::{Entry, Message, PartRef};
use interleaf_store::Pieces;
use memchr::memmem;

use super::Now;

/// This much of a text is looked for.
const LOOKED_FOR: usize = 32;

/// The turns of a request that are not settled. Each is looked at once.
pub(super) struct Turns<'a> {
    now: &'a Now<'a>,
    body: &'a Pieces,
    pieces: Vec<OnceCell<Vec<Piece<'a>>>>,
}

/// A message of a turn, or one of those that a message carries with it.
#[derive(Clone)]
pub(super) struct Piece<'a> {
    /// Which message of the turn it is in.
    pub(super) index: usize,
    pub(super) entry: Cow<'a, Entry>,
    /// Its bytes, from the beginning of the turn on.
    pub(super) bytes: Range<usize>,
}

impl<'a> Turns<'a> {
    pub(super) fn of(now: &'a Now<'a>, body: &'a Pieces) -> Self {
        Self { now, body, pieces: vec![OnceCell::new(); now.body.outline.turns.len()] }
    }

    /// The bytes of a turn in the body.
    pub(super) fn bytes(&self, turn: usize) -> Range<usize> {
        let outline = &self.now.body.outline;
        let start = turn.checked_sub(1).map_or(outline.settled_end, |last| outline.turns[last].0);
        start..outline.turns[turn].0
    }

    /// The messages of a turn.
    pub(super) fn entries(&self, turn: usize) -> &'a [Entry] {
        &self.now.prompt.entries()[self.now.body.outline.turns[turn].1.clone()]
    }

    /// Its messages, and where they stand.
    pub(super) fn pieces(&self, turn: usize) -> &[Piece<'a>] {
        self.pieces[turn].get_or_init(|| {
            let bytes = self.bytes(turn);
            of(self.entries(turn), &self.body.copy(bytes.start as u64..bytes.end as u64))
        })
    }
}

/// Where each of these messages stands, one after the other. A message begins where the one
/// before it ends, and ends with the last of its texts.
pub(super) fn of<'a>(entries: &'a [Entry], bytes: &[u8]) -> Vec<Piece<'a>> {
    let mut at = 0;
    let mut pieces = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let mut add = |entry: Cow<'a, Entry>| {
            let start = at;
            at = end_of(&entry.message, bytes, at);
            pieces.push(Piece { index, entry, bytes: start..at });
        };
        match entry.apart() {
            Some(apart) => apart.into_iter().for_each(|entry| add(Cow::Owned(entry))),
            None => add(Cow::Borrowed(entry)),
        }
    }
    pieces
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
    let start = joined_at(text, bytes, at).or_else(|| quoted_at(text, bytes, at))?;
    if let Some(end) = closed_at(text.as_bytes(), bytes, start) {
        return Some(end);
    }
    let end = start + escaped_len(text.as_bytes());
    let closed = bytes.get(end) == Some(&b'"');
    Some((end + usize::from(closed)).min(bytes.len()))
}

/// Where a text begins that goes on from the one before: some APIs take what one side says as
/// one text, with line breaks between.
fn joined_at(text: &str, bytes: &[u8], at: usize) -> Option<usize> {
    const BREAK: &[u8] = br"\n";
    let mut start = at;
    while bytes.get(start..)?.starts_with(BREAK) {
        start += BREAK.len();
        if begins(text, &bytes[start..]) {
            return Some(start);
        }
    }
    None
}

/// Where a text begins after a quote. Between two texts of a turn there are few others, so that
/// to look at each is less work than to prepare a search.
fn quoted_at(text: &str, bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let mut starts = memchr::memchr_iter(b'"', rest).map(|quote| quote + 1);
    starts.find(|&start| begins(text, &rest[start..])).map(|start| at + start)
}

/// Whether these bytes begin as a text does in JSON.
fn begins(text: &str, mut bytes: &[u8]) -> bool {
    text.bytes().take(LOOKED_FOR).all(|byte| {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            return bytes.split_off_first() == Some(&byte);
        }
        let escape = match byte {
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0c => b'f',
            b'\r' => b'r',
            0..0x20 => b'u',
            _ => byte,
        };
        let is_it = bytes.starts_with(&[b'\\', escape]);
        bytes = bytes.get(if escape == b'u' { 6 } else { 2 }..).unwrap_or_default();
        is_it
    })
}

fn find(text: &[u8], bytes: &[u8], at: usize) -> Option<usize> {
    memmem::find(bytes.get(at..)?, text).map(|found| at + found)
}

/// The end of a text that begins here, if the next quote ends it and all its escapes are two bytes
/// long: then there are as many more bytes as backslashes. That is nearly always so, and both are
/// found fast.
fn closed_at(text: &[u8], bytes: &[u8], start: usize) -> Option<usize> {
    let rest = bytes.get(start..)?;
    let n_before = |quote: usize| rest[..quote].iter().rev().take_while(|&&b| b == b'\\').count();
    let end = memchr::memchr_iter(b'"', rest).find(|&quote| n_before(quote) % 2 == 0)?;
    let [more, own] = [&rest[..end], text].map(|text| memchr::memchr_iter(b'\\', text).count());
    (end + own == text.len() + more).then_some(start + end + 1)
}

/// How many bytes a text takes in JSON. Sums of single bytes, without branches, are what a
/// machine adds up many at a time.
fn escaped_len(text: &[u8]) -> usize {
    // No byte takes more than five more, so that the sum of this many is a byte.
    const AT_ONCE: usize = 32;
    let more = |byte: u8| {
        let has_letter = (byte.wrapping_sub(0x08) <= 0x0d - 0x08) & (byte != 0x0b);
        let is_marked = (byte == b'"') | (byte == b'\\');
        5 * u8::from(byte < 0x20) - 4 * u8::from(has_letter) + u8::from(is_marked)
    };
    let (chunks, rest) = text.as_chunks::<AT_ONCE>();
    let sum = |bytes: &[u8]| usize::from(bytes.iter().map(|&byte| more(byte)).sum::<u8>());
    text.len() + chunks.iter().map(|chunk| sum(chunk)).sum::<usize>() + sum(rest)
}

#[cfg(test)]
mod tests {
    use super::{closed_at, escaped_len, of, quoted_at};
    use interleaf_model::{Entry, Message, Provenance, json_text};

    #[test]
    fn texts_that_are_joined_into_one_are_found_in_it() {
        let texts = ["a role\nof \"two\" parts", "todo", "\nquestion", "todo"];
        let entry = |text: &&str| {
            let message = Message::user(text).into();
            Entry { message, provenance: Provenance::Original }
        };
        let entries: Vec<Entry> = texts.iter().map(entry).collect();
        for joiner in ["\n", "\n\n"] {
            let joined = json_text(&texts.join(joiner)).unwrap();
            let bytes = format!(r#"{{"role":"user","content":{joined}}}"#);
            let found = of(&entries, bytes.as_bytes());
            for (piece, text) in found.iter().zip(texts) {
                let written = json_text(text).unwrap();
                let piece = bytes[piece.bytes.clone()].trim_end_matches('"');
                assert!(piece.ends_with(written.trim_matches('"')), "{piece} is not {written}");
            }
            assert_eq!(found.last().unwrap().bytes.end, bytes.len() - 1);
        }
    }

    #[test]
    fn a_text_is_found_by_how_it_is_written() {
        for byte in 0..=0x2ff_u32 {
            let text = format!("a{}b", char::from_u32(byte).unwrap());
            let written = json_text(&text).unwrap();
            assert_eq!(quoted_at(&text, written.as_bytes(), 0), Some(1), "{written}");
            let others = [format!("{text}c"), format!("c{text}")];
            assert!(others.iter().all(|other| quoted_at(other, written.as_bytes(), 0).is_none()));
        }
    }

    #[test]
    fn a_text_without_long_escapes_is_found_to_end_at_its_quote() {
        let all: String =
            "\n\t\r\"\\".chars().chain((0x20..=0x2ff).filter_map(char::from_u32)).collect();
        for (end, _) in all.char_indices() {
            let written = json_text(&all[..end]).unwrap();
            let closed = closed_at(all[..end].as_bytes(), written.as_bytes(), 1);
            assert_eq!(closed, Some(written.len()), "{written}");
        }
    }

    #[test]
    fn the_length_of_a_text_in_json_is_that_of_what_is_written() {
        let all: String = (0..=0x2ff).filter_map(char::from_u32).collect();
        for end in (0..=all.len()).filter(|&end| all.is_char_boundary(end)) {
            let text = &all[..end];
            let written = json_text(text).unwrap();
            assert_eq!(escaped_len(text.as_bytes()) + 2, written.len());
            let closed = closed_at(text.as_bytes(), written.as_bytes(), 1);
            assert!(closed.is_none_or(|end| end == written.len()), "{written}");
            let joined = json_text(&[text, "\n\n", text].concat()).unwrap();
            assert_eq!(closed_at(text.as_bytes(), joined.as_bytes(), 1), None, "{joined}");
        }
    }
}
