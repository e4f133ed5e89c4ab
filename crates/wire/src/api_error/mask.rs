//! What an error says, without keys: some servers repeat the key that they refuse.
//!
//! | what is masked | how it is known |
//! |---|---|
//! | the key of the request, and what else is secret in it | it is given; see [`Secret::hidden_in`] |
//! | a key of a known maker | its first letters, also inside of a word |
//! | what stands after `Bearer` or `Basic` | it holds a digit |
//! | a long run of hex, or of letters of both cases and digits | its length; not in the number that support asks for |
//!
//! All but the given key keep their first four letters, by which their owner knows them.

use interleaf_model::{Secret, is_key_letter, key_start};
use smol_str::SmolStr;

use super::Told;

/// The longest sentence of an API that is kept, in characters.
pub(super) const LONGEST_MESSAGE: usize = 1000;
/// How many bytes of a text are searched for keys of which only the beginning is shown.
pub(crate) const HEAD: usize = 4096;
/// The longest of its words and numbers.
const LONGEST_WORD: usize = 200;

/// Takes the keys out of a text.
#[derive(Clone, Copy)]
pub(crate) struct Mask<'k> {
    /// What the request was sent with.
    given: &'k [Secret],
}

impl<'k> Mask<'k> {
    pub(crate) fn new(given: &'k [Secret]) -> Self {
        Self { given }
    }

    /// Masks all that an error says, and then cuts it to a length that fits a log: half a
    /// key would not be known as one.
    pub(super) fn seal(self, told: &mut Told) {
        told.message = capped(&self.keys(&told.message, true), LONGEST_MESSAGE);
        let word = |word: &SmolStr, bare| -> SmolStr {
            capped(&self.keys(word, bare), LONGEST_WORD).into()
        };
        for code in &mut told.codes {
            *code = word(code, true);
        }
        told.param = told.param.take().map(|param| word(&param, true));
        // A number for support is a long run of hex.
        told.request_id = told.request_id.take().map(|id| word(&id, false));
    }

    /// The text without what the request was sent with.
    pub(crate) fn given(self, text: &str) -> String {
        self.given.iter().fold(text.to_owned(), |text, key| key.hidden_in(&text))
    }

    /// How a text begins, without what the request was sent with. It is searched before it is cut
    /// to its length: half a key would not be known as one.
    pub(crate) fn beginning(self, text: &str) -> String {
        let head = head(text);
        let shown = capped(&self.given(head), LONGEST_MESSAGE);
        if head.len() < text.len() && !shown.ends_with('…') { shown + "…" } else { shown }
    }

    /// The text without anything that looks like a key; `bare`: also without runs that
    /// show by their length alone what they are.
    fn keys(self, text: &str, bare: bool) -> String {
        let text = self.given(text);
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        let mut is_after_scheme = false;
        while !rest.is_empty() {
            let end = rest.find(|c: char| !is_key_letter(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let word_end = word.trim_end_matches('.').len();
            let (word, dots) = word.split_at(word_end);
            let told_by_scheme = is_after_scheme && word.len() >= 8 && has_digit(word);
            let start = if told_by_scheme || (bare && word.split('.').any(is_bare)) {
                Some(0)
            } else {
                key_start(word, true)
            };
            match start.and_then(|start| Some((start, word.get(start..start + 4)?))) {
                Some((start, head)) => {
                    out.push_str(&word[..start]);
                    out.push_str(head);
                    out.push_str("***");
                }
                None => out.push_str(word),
            }
            out.push_str(dots);
            let between = after.find(is_key_letter).unwrap_or(after.len());
            out.push_str(&after[..between]);
            is_after_scheme = ["bearer", "basic"].iter().any(|s| word.eq_ignore_ascii_case(s))
                && &after[..between] == " ";
            rest = &after[between..];
        }
        out
    }
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether a run of letters is a key by its length: no word of a language and no id that
/// an API gives to an answer or a call is made like this.
fn is_bare(run: &str) -> bool {
    let has = |is: fn(&u8) -> bool| run.as_bytes().iter().any(is);
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has_digit(run);
    let is_hex = run.bytes().all(|byte| byte.is_ascii_hexdigit());
    match run.len() {
        40.. if is_mixed => true,
        32.. => is_hex && has_digit(run) && has(u8::is_ascii_alphabetic),
        _ => false,
    }
}

/// The part of a text in which keys are looked for.
pub(crate) fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(HEAD)).unwrap_or(text)
}

/// The beginning of a text.
pub(super) fn capped(text: &str, longest: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
