//! Call ids and tool names in the alphabet of an API.

use std::borrow::Cow;
use std::collections::BTreeMap;

use interleaf_model::{CallId, ToolName};
use smol_str::SmolStr;

/// Which identifiers an API takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alphabet {
    /// Punctuation that it takes beside ASCII letters and digits.
    pub punctuation: &'static str,
    /// The most characters.
    pub longest: usize,
    /// Exactly as many as `longest`, neither more nor fewer.
    pub exact: bool,
    /// Whether the first character must be a letter or an underscore.
    pub letter_first: bool,
}

impl Alphabet {
    /// What every API takes as a name: letters, digits, `_` and `-`, at most 64.
    pub const NAME: Self =
        Self { punctuation: "_-", longest: 64, exact: false, letter_first: false };

    /// Whether an identifier is taken as it is.
    pub fn takes(&self, text: &str) -> bool {
        // All that is legal is ASCII, so bytes are characters.
        let punctuation = self.punctuation.as_bytes();
        let legal = |byte: &u8| byte.is_ascii_alphanumeric() || punctuation.contains(byte);
        let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
        (1..=self.longest).contains(&text.len())
            && (!self.exact || text.len() == self.longest)
            && text.as_bytes().iter().all(legal)
            && (!self.letter_first || text.starts_with(starts))
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
