//! Call ids and tool names in the alphabet of an API.

use std::borrow::Cow;
use std::collections::BTreeMap;

use interleaf_model::{CallId, ToolName};
use serde::Deserialize;
use smol_str::SmolStr;

/// Which identifiers an API takes: ASCII letters, digits and some punctuation, up to a
/// length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "AlphabetForm")]
pub struct Alphabet {
    /// The ASCII characters that it takes, a bit for each.
    legal: u128,
    longest: usize,
    /// Exactly as many as `longest`, neither more nor fewer.
    is_exact: bool,
    /// The first character must be a letter or an underscore.
    is_letter_first: bool,
}

/// An alphabet as configuration says it.
#[derive(Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
struct AlphabetForm {
    #[serde(default)]
    punctuation: String,
    longest: usize,
    #[serde(default)]
    exact: bool,
    #[serde(default)]
    letter_first: bool,
}

interleaf_model::only_objects!(read: AlphabetForm);

impl From<AlphabetForm> for Alphabet {
    fn from(form: AlphabetForm) -> Self {
        let AlphabetForm { punctuation, longest, exact, letter_first } = form;
        Self { is_exact: exact, is_letter_first: letter_first, ..Self::new(&punctuation, longest) }
    }
}

impl Alphabet {
    /// What every API takes as a name: letters, digits, `_` and `-`, at most 64.
    pub const NAME: Self = Self::new("_-", 64);

    /// Letters, digits and this punctuation, of which only ASCII counts; at most `longest`
    /// characters.
    pub const fn new(punctuation: &str, longest: usize) -> Self {
        let mut legal = 0;
        let mut byte = 0_u8;
        while byte < 128 {
            if byte.is_ascii_alphanumeric() {
                legal |= 1 << byte;
            }
            byte += 1;
        }
        let punctuation = punctuation.as_bytes();
        let mut at = 0;
        while at < punctuation.len() {
            if punctuation[at].is_ascii() {
                legal |= 1 << punctuation[at];
            }
            at += 1;
        }
        Self { legal, longest, is_exact: false, is_letter_first: false }
    }

    /// The same, of exactly `longest` characters.
    pub const fn exact(punctuation: &str, longest: usize) -> Self {
        Self { is_exact: true, ..Self::new(punctuation, longest) }
    }

    /// The same, beginning with a letter or an underscore.
    pub const fn letter_first(punctuation: &str, longest: usize) -> Self {
        Self { is_letter_first: true, ..Self::new(punctuation, longest) }
    }

    /// Whether an identifier may have this many characters. Where the number is fixed, we
    /// never leave it to the caller.
    pub(crate) fn admits_length(&self, n_chars: usize) -> bool {
        !self.is_exact && (1..=self.longest).contains(&n_chars)
    }

    /// Whether an identifier is taken as it is.
    pub fn takes(&self, text: &str) -> bool {
        // All that is legal is ASCII, so bytes are characters.
        let legal = |&byte: &u8| byte.is_ascii() && self.legal & (1 << byte) != 0;
        let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
        (1..=self.longest).contains(&text.len())
            && (!self.is_exact || text.len() == self.longest)
            && text.as_bytes().iter().all(legal)
            && (!self.is_letter_first || text.starts_with(starts))
    }

    /// The identifier itself, or one made from a hash of it.
    ///
    /// The same identifier always gives the same, whatever else is in the request, so
    /// a later turn never changes the bytes of an earlier one; two different ones give
    /// different ones.
    pub fn write<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.takes(text) {
            return Cow::Borrowed(text);
        }
        const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        const MOST_DIGITS: usize = 21;
        let mut hash = xxhash_rust::xxh3::xxh3_128(text.as_bytes());
        let first = hash % 52;
        hash /= 52;
        // The first digit is a letter in every alphabet.
        let mut out = String::from(char::from(DIGITS[10 + first as usize]));
        while out.len() < self.longest.min(MOST_DIGITS + 1) {
            out.push(char::from(DIGITS[(hash % 62) as usize]));
            hash /= 62;
        }
        Cow::Owned(out)
    }
}

/// The tool names that were rewritten in a request, for the way back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameMap {
    originals: BTreeMap<SmolStr, ToolName>,
}

impl NameMap {
    /// The name on the wire; remembers it if it differs.
    pub(crate) fn write<'a>(&mut self, name: &'a ToolName, alphabet: &Alphabet) -> Cow<'a, str> {
        let written = alphabet.write(name.as_str());
        if let Cow::Owned(written) = &written {
            self.originals.insert(SmolStr::new(written), name.clone());
        }
        written
    }

    /// Takes in what another part of the request rewrote.
    pub(crate) fn extend(&mut self, other: &Self) {
        let new = other.originals.iter().map(|(written, name)| (written.clone(), name.clone()));
        self.originals.extend(new);
    }

    /// The name that the caller knows for one on the wire.
    pub fn original(&self, written: &str) -> ToolName {
        self.originals.get(written).cloned().unwrap_or_else(|| ToolName::new(written))
    }

    /// Whether nothing was rewritten.
    pub fn is_empty(&self) -> bool {
        self.originals.is_empty()
    }
}

/// The call id on the wire.
pub(crate) fn call_id<'a>(id: &'a CallId, alphabet: &Alphabet) -> Cow<'a, str> {
    alphabet.write(id.as_str())
}
