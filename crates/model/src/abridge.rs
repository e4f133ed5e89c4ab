//! Long arguments, cut down to their form.

use std::borrow::Cow;

use crate::{Arguments, Json};

/// Arguments of fewer bytes are short.
const LONG: usize = 1_000;
/// What stays of a long string, if nothing longer may.
const STRING: usize = 120;
/// How much is written before further members are left out, if no more may be.
const WRITTEN: usize = 700;

/// How much may be written.
#[derive(Clone, Copy)]
struct Room {
    /// A string of more bytes is cut, and this is what stays of it.
    string: usize,
    /// Where this much has been written, further members are left out.
    written: usize,
}

impl Arguments {
    /// The same arguments with what makes them long left out; none, if they are not long.
    ///
    /// What was an object stays one, with its first members and the types of their values:
    /// long strings end in a note of what is missing, and so do long lists.
    ///
    /// ```
    /// use interleaf_model::Arguments;
    ///
    /// let text = format!(r#"{{"path": "a.rs", "lines": 3, "text": "{}"}}"#, "x".repeat(2_000));
    /// let short = Arguments::from_text(&text).abridged().unwrap();
    /// assert!(short.as_str().starts_with(r#"{"path":"a.rs","lines":3,"text":"xxx"#));
    /// assert!(short.as_str().ends_with(r#"xxx[… 1880 characters left out …]"}"#));
    /// assert_eq!(Arguments::from_text("{}").abridged(), None);
    /// ```
    pub fn abridged(&self) -> Option<Self> {
        self.abridged_to(0)
    }

    /// As [`abridged`](Self::abridged), but keeps about this many bytes.
    ///
    /// ```
    /// use interleaf_model::Arguments;
    ///
    /// let long = Arguments::from_text(&format!(r#"{{"text":"{}"}}"#, "x".repeat(5_000)));
    /// let short = long.abridged_to(3_000).unwrap();
    /// assert!((3_000..3_100).contains(&short.as_str().len()));
    /// assert_eq!(long.abridged_to(6_000), None);
    /// ```
    pub fn abridged_to(&self, most: usize) -> Option<Self> {
        let text = self.as_str();
        if text.len() < LONG.max(most) {
            return None;
        }
        let room = Room { string: STRING.max(most), written: WRITTEN.max(most) };
        let short = match self {
            Self::Object(_) => {
                let mut reader = Reader { rest: text, out: String::new(), room };
                reader.value();
                Self::from_json(Json::parse(reader.out).ok()?)
            }
            Self::Invalid(text) => {
                let head = &text[..text.floor_char_boundary(room.string)];
                Self::Invalid(format!("{head}{}", note(text[head.len()..].chars().count())).into())
            }
        };
        (short.as_str().len() < text.len()).then_some(short)
    }
}

fn note(n_characters: usize) -> String {
    format!("[… {n_characters} characters left out …]")
}

/// Reads JSON that is known to be sound, and writes it shorter.
struct Reader<'a> {
    rest: &'a str,
    out: String,
    room: Room,
}

impl<'a> Reader<'a> {
    fn value(&mut self) {
        match self.next() {
            Some('{') => self.members('}'),
            Some('[') => self.members(']'),
            Some('"') => {
                let string = self.string();
                let string = shortened(string, self.room.string);
                self.out.extend(["\"", &*string, "\""]);
            }
            _ => {
                let plain = self.plain();
                self.out.push_str(plain);
            }
        }
    }

    /// The members of a list or an object, up to its end.
    fn members(&mut self, end: char) {
        let open = if end == '}' { '{' } else { '[' };
        self.take();
        self.out.push(open);
        let (mut n_shown, mut n_left_out) = (0_usize, 0_usize);
        while let Some(next) = self.next() {
            match next {
                ',' => self.take(),
                _ if next == end => break,
                _ if self.out.len() > self.room.written || self.has_long_key(end) => {
                    self.skip_member(end);
                    n_left_out += 1;
                }
                _ => {
                    if n_shown > 0 {
                        self.out.push(',');
                    }
                    if end == '}' {
                        let key = self.string();
                        self.out.extend(["\"", key, "\":"]);
                        self.next();
                        self.take();
                    }
                    self.value();
                    n_shown += 1;
                }
            }
        }
        self.take();
        if n_left_out > 0 {
            if n_shown > 0 {
                self.out.push(',');
            }
            let key = if end == '}' { "\"…\":" } else { "" };
            self.out.push_str(&format!("{key}\"[… {n_left_out} more left out …]\""));
        }
        self.out.push(end);
    }

    /// Whether an object's next member has a name as long as a text.
    fn has_long_key(&self, end: char) -> bool {
        end == '}' && self.aside().string().len() > STRING
    }

    /// A reader at the same place that writes nothing here.
    fn aside(&self) -> Self {
        Self { rest: self.rest, out: String::new(), room: self.room }
    }

    fn skip_member(&mut self, end: char) {
        let mut aside = self.aside();
        if end == '}' {
            aside.string();
            aside.next();
            aside.take();
        }
        aside.skip_value();
        self.rest = aside.rest;
    }

    /// Passes over a value without recursion.
    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(next) = self.next() {
            match next {
                '"' => drop(self.string()),
                '{' | '[' => {
                    depth += 1;
                    self.take();
                    continue;
                }
                '}' | ']' => {
                    depth -= 1;
                    self.take();
                }
                ',' | ':' => {
                    self.take();
                    continue;
                }
                _ => drop(self.plain()),
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// The next character that is no white space; it is not taken.
    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Takes a character of one byte.
    fn take(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// What stands between the quotes of the next string, as it is written.
    fn string(&mut self) -> &'a str {
        let inner = self.rest.get(1..).unwrap_or_default();
        let mut is_escaped = false;
        let end = inner.bytes().position(|byte| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        });
        let end = end.unwrap_or(inner.len());
        self.rest = inner.get(end + 1..).unwrap_or_default();
        &inner[..end]
    }

    /// A number or a word.
    fn plain(&mut self) -> &'a str {
        let is_end = |c: char| matches!(c, ',' | '}' | ']') || c.is_whitespace();
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (plain, rest) = self.rest.split_at(end);
        self.rest = rest;
        plain
    }
}

/// The head of a string that is written in JSON, cut where no escape is cut.
fn shortened(string: &str, most: usize) -> Cow<'_, str> {
    if string.len() <= most {
        return Cow::Borrowed(string);
    }
    let mut rest = string;
    while let Some(len) = character_len(rest).filter(|len| string.len() - rest.len() + len <= most)
    {
        rest = &rest[len..];
    }
    let head = &string[..string.len() - rest.len()];
    let mut n_missing = 0;
    while let Some(len) = character_len(rest) {
        n_missing += 1;
        rest = rest.get(len..).unwrap_or_default();
    }
    Cow::Owned(format!("{head}{}", note(n_missing)))
}

/// The length of the first character of a string that is written in JSON, as it is written.
fn character_len(string: &str) -> Option<usize> {
    Some(match string.chars().next()? {
        '\\' if string.starts_with("\\u") => pair_len(string),
        '\\' => 2,
        next => next.len_utf8(),
    })
}

/// The length of `\uXXXX`, with the other half of a pair if it is one.
fn pair_len(escape: &str) -> usize {
    let is_high = escape.get(2..4).is_some_and(|high| {
        let high = high.to_ascii_lowercase();
        matches!(high.as_str(), "d8" | "d9" | "da" | "db")
    });
    if is_high && escape[6..].starts_with("\\u") { 12 } else { 6 }
}
