//! Where messages stand in the bytes of the turns that they are part of.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use interleaf_model::{Entry, Message, PartRef};
use interleaf_store::Pieces;
use memchr::memmem;

use super::Now;
use super::written::end_of_text;

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

fn find(text: &[u8], bytes: &[u8], at: usize) -> Option<usize> {
    memmem::find(bytes.get(at..)?, text).map(|found| at + found)
}

#[cfg(test)]
mod tests {
    use super::of;
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
}
