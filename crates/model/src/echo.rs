//! A secret, found in what a server says, however it repeats it.
//!
//! | how it is repeated | from which length of the secret |
//! |---|---|
//! | as it is, as a word of its own | 6 letters; a shorter text is no secret, and may stand anywhere |
//! | as it is, inside of a word | 8 |
//! | with blanks and line breaks in it, escaped as in JSON or in an address, in base64 | 12 |
//! | 12 letters of it, or more | 24 |

use std::collections::HashSet;

use memchr::memmem::Finder;

use crate::in_base64;

const HIDDEN: &str = "***";
const WORD: usize = 6;
const ANYWHERE: usize = 8;
const CHANGED: usize = 12;
const IN_PARTS: usize = 24;
/// The shortest part that is known for one.
const PART: usize = 12;

/// The text without the key.
pub(crate) fn hidden(text: &str, key: &str) -> String {
    match key.len() {
        ..WORD => text.to_owned(),
        WORD..ANYWHERE => without_word(text, key),
        ANYWHERE..CHANGED => text.replace(key, HIDDEN),
        _ => Letters::of(text).without(text, key),
    }
}

fn without_word(text: &str, key: &str) -> String {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(key) {
        let (before, from) = rest.split_at(at);
        let after = &from[key.len()..];
        out.push_str(before);
        let is_inside = out.ends_with(is_letter) || after.starts_with(is_letter);
        out.push_str(if is_inside { key } else { HIDDEN });
        rest = after;
    }
    out + rest
}

/// The letters of a text without its blanks and escapes, and where each stands.
#[derive(Default)]
struct Letters {
    bytes: Vec<u8>,
    /// Where it begins, and where it ends.
    places: Vec<(usize, usize)>,
}

impl Letters {
    fn of(text: &str) -> Self {
        let (bytes, mut letters, mut at) = (text.as_bytes(), Self::default(), 0);
        while let Some(&byte) = bytes.get(at) {
            let (letter, len) = escaped(bytes.get(at..).unwrap_or_default()).unwrap_or((byte, 1));
            if !letter.is_ascii_whitespace() {
                letters.bytes.push(letter);
                letters.places.push((at, at + len));
            }
            at += len;
        }
        letters
    }

    fn without(&self, text: &str, key: &str) -> String {
        let mut marked = vec![false; self.bytes.len()];
        // Of a key that itself holds what looks like an escape: as it is, as it is after an escape
        // was taken for what it stands for, and as it is when it was escaped once more.
        self.mark_in(text, key, &mut marked);
        for own in [Self::of(key).bytes.as_slice(), key.as_bytes()] {
            match own.len() {
                ..ANYWHERE => {}
                ANYWHERE..IN_PARTS => self.mark(own, &mut marked),
                _ => self.mark_parts(own, &mut marked),
            }
        }
        let sealed = marked.clone();
        for core in cores(key) {
            self.mark(core.as_bytes(), &mut marked);
        }
        self.widen(&sealed, &mut marked);
        let (mut out, mut end) = (String::with_capacity(text.len()), 0);
        for (i, &(from, to)) in self.places.iter().enumerate() {
            if !marked[i] {
                out.push_str(text.get(end..to).unwrap_or_default());
            } else if i == 0 || !marked[i - 1] {
                out.push_str(text.get(end..from).unwrap_or_default());
                out.push_str(HIDDEN);
            }
            // Half of a letter of more than one byte goes with its rest.
            if marked[i] || text.is_char_boundary(to) {
                end = to;
            }
        }
        out + text.get(end..).unwrap_or_default()
    }

    /// Marks the letters of each place where the text has the key as it is.
    fn mark_in(&self, text: &str, key: &str, marked: &mut [bool]) {
        for (from, _) in text.match_indices(key) {
            let first = self.places.partition_point(|place| place.1 <= from);
            let last = self.places.partition_point(|place| place.0 < from + key.len());
            marked[first..last].fill(true);
        }
    }

    /// Marks each place where these letters stand.
    fn mark(&self, own: &[u8], marked: &mut [bool]) {
        let (finder, mut from) = (Finder::new(own), 0);
        while let Some(at) = self.bytes.get(from..).and_then(|rest| finder.find(rest)) {
            marked[from + at..from + at + own.len()].fill(true);
            from += at + 1;
        }
    }

    /// Marks what has some letters of a key in a row.
    fn mark_parts(&self, key: &[u8], marked: &mut [bool]) {
        let parts: HashSet<&[u8]> = key.windows(PART).collect();
        for (at, letters) in self.bytes.windows(PART).enumerate() {
            if parts.contains(letters) {
                marked[at..at + PART].fill(true);
            }
        }
    }

    /// Marks the whole of each text in base64 of which a part is marked, and was not before.
    fn widen(&self, before: &[bool], marked: &mut [bool]) {
        let is_digit = |at: usize| {
            let letter = self.bytes[at];
            letter.is_ascii_alphanumeric() || b"+/-_=".contains(&letter)
        };
        // What stands apart in the text belongs together only inside of the marked.
        let is_next = |at: usize| self.places[at].1 == self.places[at + 1].0;
        let found: Vec<usize> = (0..marked.len()).filter(|&i| marked[i] && !before[i]).collect();
        for at in found {
            let mut start = at;
            while start > 0 && !marked[start - 1] && is_digit(start - 1) && is_next(start - 1) {
                start -= 1;
                marked[start] = true;
            }
            let mut end = at;
            while end + 1 < marked.len() && !marked[end + 1] && is_digit(end + 1) && is_next(end) {
                end += 1;
                marked[end] = true;
            }
        }
    }
}

/// What an escape of JSON or of an address stands for, and its length.
fn escaped(from: &[u8]) -> Option<(u8, usize)> {
    let hex = |range: std::ops::Range<usize>| {
        let digits = std::str::from_utf8(from.get(range)?).ok()?;
        u32::from_str_radix(digits, 16).ok().and_then(|code| u8::try_from(code).ok())
    };
    match from {
        [b'%', ..] => hex(1..3).filter(u8::is_ascii).map(|byte| (byte, 3)),
        [b'\\', b'u', ..] => hex(2..6).filter(u8::is_ascii).map(|byte| (byte, 6)),
        [b'\\', b'n' | b'r' | b't', ..] => Some((b' ', 2)),
        [b'\\', letter @ (b'/' | b'"' | b'\\'), ..] => Some((*letter, 2)),
        _ => None,
    }
}

/// What every text in base64 has that holds a key, by where the key begins in it: the digits
/// that depend on nothing else. Of either alphabet.
fn cores(key: &str) -> Vec<String> {
    let mut found = Vec::new();
    for before in ["", ":", "::"] {
        let whole = in_base64(&format!("{before}{key}"));
        let from = (before.len() * 8).div_ceil(6);
        let to = (before.len() + key.len()) * 8 / 6;
        let core = whole.get(from..to).unwrap_or_default();
        found.push(core.replace('+', "-").replace('/', "_"));
        found.push(core.to_owned());
    }
    found.dedup();
    found
}
