//! What an error says, without keys: some servers repeat the key that they refuse.
//!
//! | what is masked | how it is known |
//! |---|---|
//! | the key of the request | it is given; see [`echo`] |
//! | a key of a known maker | its first letters, also inside of a word |
//! | what stands after `Bearer` or `Basic` | it holds a digit |
//! | a long run of hex, or of letters of both cases and digits | its length; not in the number that support asks for |
//!
//! All but the given key keep their first four letters, by which their owner knows them.

use smol_str::SmolStr;

use super::{Told, echo};

/// The longest sentence of an API that is kept, in characters.
pub(super) const LONGEST_MESSAGE: usize = 1000;
/// The longest of its words and numbers.
const LONGEST_WORD: usize = 200;
/// What is shorter than this is a word that begins like a key.
const SHORTEST_KEY: usize = 16;
const PREFIXES: [&str; 21] = [
    "sk-",
    "sk_",
    "rk_",
    "pk_",
    "AIza",
    "ya29.",
    "gsk_",
    "xai-",
    "hf_",
    "nvapi-",
    "pplx-",
    "fw_",
    "r8_",
    "tgp_",
    "ghp_",
    "github_pat_",
    "glpat-",
    "ABSK",
    "AKIA",
    "ASIA",
    "eyJ",
];

/// Takes the keys out of a text.
#[derive(Clone, Copy)]
pub(crate) struct Mask<'k> {
    /// The key of the request.
    key: Option<&'k str>,
}

impl<'k> Mask<'k> {
    pub(crate) fn new(key: Option<&'k str>) -> Self {
        Self { key: key.map(str::trim) }
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

    /// The text without the key of the request.
    pub(crate) fn given(self, text: &str) -> String {
        self.key.map_or_else(|| text.to_owned(), |key| echo::hidden(text, key))
    }

    /// The text without anything that looks like a key; `bare`: also without runs that
    /// show by their length alone what they are.
    fn keys(self, text: &str, bare: bool) -> String {
        let text = self.given(text);
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        let mut is_after_scheme = false;
        while !rest.is_empty() {
            let end = rest.find(|c: char| !is_letter(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let word_end = word.trim_end_matches('.').len();
            let (word, dots) = word.split_at(word_end);
            let told_by_scheme = is_after_scheme && word.len() >= 8 && has_digit(word);
            let start = if told_by_scheme || (bare && word.split('.').any(is_bare)) {
                Some(0)
            } else {
                key_start(word)
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
            let between = after.find(is_letter).unwrap_or(after.len());
            out.push_str(&after[..between]);
            is_after_scheme = ["bearer", "basic"].iter().any(|s| word.eq_ignore_ascii_case(s))
                && &after[..between] == " ";
            rest = &after[between..];
        }
        out
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*' | '.' | '+')
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Where a key of a known maker begins. Inside of a run of letters (`task-…`) only what
/// holds a digit is one.
fn key_start(word: &str) -> Option<usize> {
    let last_start = word.len().checked_sub(SHORTEST_KEY)?;
    let last_digit = word.rfind(|c: char| c.is_ascii_digit());
    let start_of = |prefix: &str| {
        let starts = word.match_indices(prefix).map(|(start, _)| start);
        let is_key = |start: &usize| {
            let before = word.get(..*start).and_then(|before| before.bytes().last());
            let is_word_start = before.is_none_or(|byte| !byte.is_ascii_alphanumeric());
            *start <= last_start
                && (is_word_start || last_digit.is_some_and(|digit| digit >= start + prefix.len()))
        };
        starts.into_iter().find(is_key)
    };
    PREFIXES.into_iter().filter_map(start_of).min()
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

/// The beginning of a text.
pub(super) fn capped(text: &str, longest: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
