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
            let bytes = self.body.bytes(bytes.start as u64..bytes.end as u64);
            of(self.entries(turn), &bytes, usize::MAX)
        })
    }
}

/// Where each of these messages stands, one after the other, up to the one that a byte belongs
/// to. A message begins where the one before it ends, and ends with the last of its texts.
pub(super) fn of<'a>(entries: &'a [Entry], bytes: &[u8], upto: usize) -> Vec<Piece<'a>> {
    let mut search = Search { bytes, at: 0, n_far: MOST_FAR };
    let mut pieces = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let mut add = |entry: Cow<'a, Entry>| {
            let start = search.at;
            search.pass(&entry.message);
            pieces.push(Piece { index, entry, bytes: start..search.at });
        };
        match entry.apart() {
            Some(apart) => apart.into_iter().for_each(|entry| add(Cow::Owned(entry))),
            None => add(Cow::Borrowed(entry)),
        }
        if search.at > upto {
            break;
        }
    }
    pieces
}

/// A text is nearly always as near as this to the one before it.
const NEAR: usize = 1024;

/// How many texts may be looked for in vain in all that is left of a turn, which may have
/// thousands.
const MOST_FAR: usize = 16;

/// What is looked for in the bytes of a turn, from its beginning to its end.
struct Search<'b> {
    bytes: &'b [u8],
    at: usize,
    /// How many more texts may be looked for that are not near.
    n_far: usize,
}

impl Search<'_> {
    /// Goes to where a message ends that begins here.
    fn pass(&mut self, message: &Message) {
        for part in message.parts() {
            match part {
                PartRef::Text(text) => _ = self.text(&text.text),
                PartRef::Thinking(thinking) => _ = self.text(&thinking.text),
                PartRef::Call(call) => {
                    _ = self.text(call.id.as_str()) || self.near(call.name.as_str());
                    let arguments = call.arguments.as_str();
                    _ = self.near(arguments) || self.raw(arguments);
                }
                PartRef::Image(_) | PartRef::File(_) => {}
                PartRef::Opaque(opaque) => _ = self.raw(opaque.value.as_str()),
            }
        }
    }

    /// Goes to the end of a text that begins near, if there is one.
    fn near(&mut self, text: &str) -> bool {
        self.end(end_of_text(text, self.bytes, self.at, NEAR))
    }

    /// Goes to the end of a text, if it comes.
    fn text(&mut self, text: &str) -> bool {
        self.near(text) || self.far(|bytes, at| end_of_text(text, bytes, at, usize::MAX))
    }

    /// Goes to the end of JSON that stands as it is, if it comes.
    fn raw(&mut self, json: &str) -> bool {
        let near = |bytes: &[u8], at: usize| {
            let (rest, first) = (bytes.get(at..)?, json.bytes().next()?);
            let mut starts = memchr::memchr_iter(first, &rest[..rest.len().min(NEAR)]);
            let start = starts.find(|&start| rest[start..].starts_with(json.as_bytes()))?;
            Some(at + start + json.len())
        };
        let far = |bytes: &[u8], at: usize| {
            memmem::find(bytes.get(at..)?, json.as_bytes()).map(|found| at + found + json.len())
        };
        self.end(near(self.bytes, self.at)) || self.far(far)
    }

    fn far(&mut self, end: impl FnOnce(&[u8], usize) -> Option<usize>) -> bool {
        if self.n_far == 0 {
            return false;
        }
        let is_found = self.end(end(self.bytes, self.at));
        self.n_far -= usize::from(!is_found);
        is_found
    }

    fn end(&mut self, end: Option<usize>) -> bool {
        self.at = end.unwrap_or(self.at);
        end.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::of;
    use interleaf_model::{CallId, Entry, Message, Provenance, Status, json_text};

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
            let found = of(&entries, bytes.as_bytes(), usize::MAX);
            for (piece, text) in found.iter().zip(texts) {
                let written = json_text(text).unwrap();
                let piece = bytes[piece.bytes.clone()].trim_end_matches('"');
                assert!(piece.ends_with(written.trim_matches('"')), "{piece} is not {written}");
            }
            assert_eq!(found.last().unwrap().bytes.end, bytes.len() - 1);
        }
    }

    #[test]
    fn a_result_that_failed_is_found_where_its_text_tells_so() {
        let result = |text: &&str| {
            let message = Message::tool(CallId::new("c").unwrap(), Status::Error, text).into();
            Entry { message, provenance: Provenance::Made }
        };
        let texts = ["no \"lamp\"", "no horn", "no horn"];
        let entries: Vec<Entry> = texts.iter().map(result).collect();
        for before in ["", "Error: "] {
            let written = texts.map(|text| json_text(&format!("{before}{text}")).unwrap());
            let written = written.map(|text| format!(r#"{{"id":"c","content":{text}}}"#));
            let bytes = written.join(",");
            let ends: Vec<usize> = of(&entries, bytes.as_bytes(), usize::MAX)
                .iter()
                .map(|piece| piece.bytes.end)
                .collect();
            let closed: Vec<usize> = bytes.match_indices('}').map(|(brace, _)| brace).collect();
            assert_eq!(ends, closed, "{bytes}");
        }
    }
}
