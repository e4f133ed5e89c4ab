//! How much of a text that is still coming is words for certain.
//!
//! The reader decides about a whole text. Whoever shows a text while it comes wants to know
//! earlier: up to the first place at which a call may begin, all is words. What is held back
//! in vain is shown later; a call that no place was seen for is still read, and only its
//! beginning was shown.
//!
//! | at | a call may begin if |
//! |---|---|
//! | `<`, `&lt;` | the name is that of a call, of a wrapper or of a tool, or a mark such as `<\|` |
//! | `{` | the first key is one that calls have |
//! | `[` | `{` of a call, the name of a tool, or a mark follows |
//! | a fence | its language is one that calls are written in, and a call may begin inside |
//! | `✿`, `functools[` | always |

use super::quotes::{is_tool_code, may_hold_calls};
use super::tags::{CALL_TAGS, is_wrapper};
use super::tools::Tools;

/// A name or a key that is longer is none that a call begins with.
const LONGEST: usize = 80;

/// The keys that a call in JSON begins with.
const KEYS: [&str; 12] = [
    "name",
    "tool",
    "tool_name",
    "function",
    "function_name",
    "tool_call",
    "tool_calls",
    "calls",
    "arguments",
    "parameters",
    "type",
    "id",
];

/// Looks at a text while it comes.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Up to here all is words.
    certain: usize,
    /// Whether a call may begin there.
    is_held: bool,
}

/// What a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Words, and so is what stands before this place.
    Words(usize),
    /// A call may begin here.
    Call,
    /// Nobody can tell yet.
    Open,
}

/// How much of a text is words for certain, whatever comes after it.
pub(super) fn certain(text: &str, tools: &Tools) -> usize {
    let mut watch = Watch::default();
    watch.look(text, tools);
    watch.certain
}

impl Watch {
    /// How much of the text is words for certain.
    pub(super) fn certain(&self) -> usize {
        self.certain
    }

    /// Whether a call may begin after that.
    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }

    /// Looks at all of the text that has come.
    pub(super) fn look(&mut self, text: &str, tools: &Tools) {
        let is_point = |b: &u8| matches!(b, b'<' | b'[' | b'{' | b'`' | b'f' | b'&' | 0xe2);
        while !self.is_held {
            let Some(next) = text.as_bytes()[self.certain..].iter().position(is_point) else {
                self.certain = text.len();
                return;
            };
            self.certain += next;
            match seen(text, self.certain, tools) {
                Seen::Words(end) => self.certain = end,
                Seen::Call => self.is_held = true,
                Seen::Open => return,
            }
        }
    }
}

fn seen(text: &str, at: usize, tools: &Tools) -> Seen {
    let rest = &text[at..];
    let next = text.ceil_char_boundary(at + 1);
    match rest.as_bytes()[0] {
        b'<' => tag(rest, 1, at, tools),
        b'&' => match prefixed(rest, "&lt;") {
            Some(true) => tag(rest, 4, at, tools),
            Some(false) => Seen::Words(next),
            None => Seen::Open,
        },
        b'{' => key(rest, at, tools),
        b'[' => list(rest, at, tools),
        b'`' => fence(text, at, tools),
        b'f' => match prefixed(rest, "functools[") {
            Some(true) => Seen::Call,
            Some(false) => Seen::Words(next),
            None => Seen::Open,
        },
        _ if rest.starts_with('✿') => Seen::Call,
        _ => Seen::Words(next),
    }
}

/// Whether a text begins with a mark; none, if it ends inside it.
fn prefixed(text: &str, mark: &str) -> Option<bool> {
    match text.len() < mark.len() {
        true if mark.starts_with(text) => None,
        _ => Some(text.starts_with(mark)),
    }
}

/// What a tag is, whose name begins `skip` bytes after `at`.
fn tag(rest: &str, skip: usize, at: usize, tools: &Tools) -> Seen {
    let name = &rest[skip..];
    if name.starts_with(['|', '｜']) {
        return Seen::Call;
    }
    let is_end = |c: char| c.is_whitespace() || matches!(c, '>' | '=' | '/' | '<' | '&');
    let Some(end) = name.find(is_end) else {
        let is_long = name.len() > LONGEST;
        return if is_long { Seen::Words(at + skip) } else { Seen::Open };
    };
    let name = name[..end].rsplit([':', '｜']).next().unwrap_or_default();
    let is_call = CALL_TAGS.iter().any(|own| own.eq_ignore_ascii_case(name));
    match is_call || is_wrapper(name) || tools.get_cased(name).is_some() {
        true => Seen::Call,
        false => Seen::Words(at + skip),
    }
}

/// What an object is: a call, if it begins with a key that calls have.
fn key(rest: &str, at: usize, tools: &Tools) -> Seen {
    let inner = rest[1..].trim_start();
    let Some(first) = inner.chars().next() else {
        return if rest.len() > LONGEST { Seen::Words(at + 1) } else { Seen::Open };
    };
    if !matches!(first, '"' | '\'') {
        return Seen::Words(at + 1);
    }
    let Some((key, _)) = inner[1..].split_once(first) else {
        return if inner.len() > LONGEST { Seen::Words(at + 1) } else { Seen::Open };
    };
    let is_own = || tools.only().is_some_and(|only| only.property(key).is_some());
    match KEYS.contains(&key) || tools.get_cased(key).is_some() || is_own() {
        true => Seen::Call,
        false => Seen::Words(at + 1),
    }
}

/// What a list is: calls, if it begins with one, or a mark.
fn list(rest: &str, at: usize, tools: &Tools) -> Seen {
    let inner = rest[1..].trim_start();
    let skipped = at + rest.len() - inner.len();
    match inner.chars().next() {
        None if rest.len() > LONGEST => Seen::Words(at + 1),
        None => Seen::Open,
        Some('{') => match key(inner, skipped, tools) {
            Seen::Words(_) => Seen::Words(at + 1),
            seen => seen,
        },
        Some(_) => {
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
            let Some(end) = inner.find(|c| !is_part(c)) else {
                return if inner.len() > LONGEST { Seen::Words(at + 1) } else { Seen::Open };
            };
            let is_call = inner[end..].starts_with('(') && tools.find(&inner[..end]).is_some();
            match is_call || inner[..end] == *"TOOL_CALLS" {
                true => Seen::Call,
                false => Seen::Words(at + 1),
            }
        }
    }
}

/// What a fence is: held until it is known what it holds.
fn fence(text: &str, at: usize, tools: &Tools) -> Seen {
    let rest = &text[at..];
    let n_marks = rest.bytes().take_while(|&b| b == b'`').count();
    let after = &rest[n_marks..];
    if after.is_empty() {
        return if n_marks > LONGEST { Seen::Words(at + n_marks) } else { Seen::Open };
    }
    let words = Seen::Words(at + n_marks);
    if n_marks != 3 {
        return words;
    }
    let Some((language, inner)) = after.split_once('\n') else {
        return if after.len() > LONGEST { words } else { Seen::Open };
    };
    if !may_hold_calls(language) {
        return words;
    }
    if is_tool_code(language) {
        return Seen::Call;
    }
    let inner_at = text.len() - inner.trim_start().len();
    match text.as_bytes().get(inner_at) {
        None if inner.len() > LONGEST => words,
        None => Seen::Open,
        Some(b'<' | b'[' | b'{' | b'&' | b'f' | 0xe2) => match seen(text, inner_at, tools) {
            Seen::Words(_) => words,
            other => other,
        },
        Some(_) => words,
    }
}
