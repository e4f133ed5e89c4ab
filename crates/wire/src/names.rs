//! Call ids and tool names in the alphabet of an API.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::OnceLock;

use interleaf_model::{AssistantPart, Body, CallId, Message, Parts, Tool, ToolCall, ToolName};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::Vendor;

/// How many digits of a hash tell names apart, after the first.
const MOST_DIGITS: usize = 21;

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
    /// Whether all names have the same length.
    pub(crate) const fn is_exact(&self) -> bool {
        self.is_exact
    }

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
        Cow::Owned(self.hashed(text))
    }

    /// An identifier made from a hash.
    fn hashed(&self, text: &str) -> String {
        const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let mut hash = xxhash_rust::xxh3::xxh3_128(text.as_bytes());
        let first = hash % 52;
        hash /= 52;
        // The first digit is a letter in every alphabet.
        let mut out = String::from(char::from(DIGITS[10 + first as usize]));
        while out.len() < self.longest.min(MOST_DIGITS + 1) {
            out.push(char::from(DIGITS[(hash % 62) as usize]));
            hash /= 62;
        }
        out
    }
}

impl Alphabet {
    /// A readable identifier for a name that is not taken as it is: what is illegal becomes
    /// an underscore. Where that says nothing, is too long, or is in use already, a few
    /// digits of a hash follow.
    fn readable(&self, name: &str, in_use: impl Fn(&str) -> bool) -> SmolStr {
        let stem = self.stem(name);
        match says_something(&stem) && self.takes(&stem) && !in_use(&stem) {
            true => stem.into(),
            false => self.suffixed(name, in_use),
        }
    }

    /// A name with an underscore for what is illegal.
    fn stem(&self, name: &str) -> String {
        let mut stem = String::new();
        for c in name.chars() {
            let is_legal =
                u8::try_from(c).is_ok_and(|c| c.is_ascii() && self.legal & (1 << c) != 0);
            match is_legal {
                true => stem.push(c),
                false if stem.ends_with('_') => {}
                false => stem.push('_'),
            }
        }
        if self.is_letter_first && !stem.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        {
            stem.insert(0, '_');
        }
        stem
    }

    /// A readable identifier that ends with a few digits of a hash of the name.
    fn suffixed(&self, name: &str, in_use: impl Fn(&str) -> bool) -> SmolStr {
        let stem = self.stem(name);
        let hash = Self::new("", usize::MAX).hashed(name);
        let with_digits = |n_digits: usize| {
            let room = self.longest.saturating_sub(n_digits + 1);
            let stem = if says_something(&stem) { stem.trim_end_matches('_') } else { "tool" };
            let stem = stem.get(..stem.len().min(room)).unwrap_or_default();
            SmolStr::from(format!("{stem}_{}", hash.get(..n_digits).unwrap_or(&hash)))
        };
        let longest = self.longest.saturating_sub(1).min(MOST_DIGITS);
        let fits = [6, 10, 16].into_iter().filter(|n_digits| *n_digits < longest);
        let mut candidates = fits.map(with_digits);
        candidates
            .find(|name| self.takes(name) && !in_use(name))
            .unwrap_or_else(|| SmolStr::from(self.hashed(name)))
    }
}

fn says_something(stem: &str) -> bool {
    stem.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

/// What the tools of a request are called on the wire.
///
/// A declared tool that the API takes by its name has it. One that it does not take has the
/// readable form of its name, unless another tool has that, as its own name or declared
/// before; then digits made from its own name follow. So a name depends on the declared
/// tools alone, and changes only when a tool joins that is called so itself.
///
/// A tool that is not declared and cannot have its name always gets digits: turns are
/// written one by one, and nothing else tells two such tools apart.
#[derive(Debug)]
pub(crate) struct WireNames<'a> {
    tools: &'a [Tool],
    alphabet: &'a Alphabet,
    /// The names of those that the API does not take as they are.
    rewritten: HashMap<&'a str, SmolStr>,
    /// The values of `rewritten`.
    in_use: HashSet<SmolStr>,
    declared: OnceLock<HashSet<SmolStr>>,
}

impl<'a> WireNames<'a> {
    pub(crate) fn new(tools: &'a [Tool], alphabet: &'a Alphabet) -> Self {
        let (rewritten, in_use) = Default::default();
        let mut names = Self { tools, alphabet, rewritten, in_use, declared: OnceLock::new() };
        for tool in tools.iter().filter(|tool| !alphabet.takes(tool.name.as_str())) {
            let name = tool.name.as_str();
            let written = alphabet.readable(name, |written| names.is_taken(written));
            names.in_use.insert(written.clone());
            names.rewritten.insert(name, written);
        }
        names
    }

    /// The name itself where the API takes it, or a readable one. Names of tools that are
    /// not declared give way.
    pub(crate) fn write<'n>(&self, name: &'n ToolName) -> Cow<'n, str> {
        let name = name.as_str();
        if self.alphabet.takes(name) && (!self.in_use.contains(name) || self.is_declared(name)) {
            return Cow::Borrowed(name);
        }
        if let Some(written) = self.rewritten.get(name) {
            return Cow::Owned(written.to_string());
        }
        Cow::Owned(self.alphabet.suffixed(name, |written| self.is_taken(written)).into())
    }

    fn is_declared(&self, name: &str) -> bool {
        let names = || self.tools.iter().map(|tool| SmolStr::new(tool.name.as_str())).collect();
        self.declared.get_or_init(names).contains(name)
    }

    fn is_taken(&self, written: &str) -> bool {
        self.in_use.contains(written) || self.is_declared(written)
    }
}

/// The tool names that were rewritten in a request, for the way back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NameMap {
    originals: BTreeMap<SmolStr, ToolName>,
}

impl NameMap {
    /// The names that a vendor's requests have for these tools.
    ///
    /// ```
    /// use interleaf_wire::{Family, NameMap, Vendor, decode_tools};
    ///
    /// let list = r#"[{"type": "function", "function": {"name": "notify.user"}}]"#;
    /// let (tools, _) = decode_tools(Family::OpenaiChat, list)?;
    /// let names = NameMap::of(&tools, Vendor::of(Family::OpenaiChat));
    /// assert_eq!(names.original("notify_user").as_str(), "notify.user");
    /// # Ok::<(), interleaf_wire::Error>(())
    /// ```
    pub fn of(tools: &[Tool], vendor: &Vendor) -> Self {
        let mut names = Self::default();
        let written = WireNames::new(tools, &vendor.quirks.tool_names);
        for tool in tools {
            names.write(&tool.name, &written);
        }
        names
    }

    /// The name on the wire; remembers it if it differs.
    pub(crate) fn write<'a>(&mut self, name: &'a ToolName, names: &WireNames<'_>) -> Cow<'a, str> {
        let written = names.write(name);
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

    /// The message of an answer with the names that the caller knows, also if it has them already:
    /// a name that is both on the wire, for another tool, and a tool's own is left as it is.
    #[must_use]
    pub fn restored(&self, mut message: Message) -> Message {
        let is_own = |name: &str| self.originals.values().any(|own| own.as_str() == name);
        let is_rewritten = |call: &ToolCall| {
            let name = call.name.as_str();
            self.originals.contains_key(name) && !is_own(name)
        };
        if let Body::Assistant(parts) = &message.body
            && message.calls().any(is_rewritten)
        {
            let mut restored = parts.to_vec();
            for part in &mut restored {
                if let AssistantPart::Call(call) = part
                    && is_rewritten(call)
                {
                    call.name = self.original(call.name.as_str());
                }
            }
            // As many parts as before.
            if let Ok(parts) = Parts::new(restored) {
                message.body = Body::Assistant(parts);
            }
        }
        message
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
