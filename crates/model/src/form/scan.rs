//! JSON tokens, read where they stand. On anything unusual a reader gives up without a
//! reason.

use std::borrow::Cow;

use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::write::first_special;

/// A JSON text, and how far it is read.
pub(super) struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// Reads an object: `member` is told each key, and reads the value.
    pub(super) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &str) -> Option<()>,
    ) -> Option<()> {
        self.expect(b'{')?;
        if self.eat(b'}') {
            return Some(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            member(self, &key)?;
            if !self.eat(b',') {
                return self.expect(b'}');
            }
        }
    }

    /// Reads a list: `element` reads each of its values.
    pub(super) fn list(&mut self, mut element: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(b'[')?;
        if self.eat(b']') {
            return Some(());
        }
        loop {
            element(self)?;
            if !self.eat(b',') {
                return self.expect(b']');
            }
        }
    }

    /// Reads a string. It is copied only if it has escapes.
    pub(super) fn string(&mut self) -> Option<Cow<'t, str>> {
        self.expect(b'"')?;
        let run = self.plain_run()?;
        if self.next_is(b'"') {
            self.at += 1;
            return Some(Cow::Borrowed(run));
        }
        // What is left of the text is enough room.
        let mut string = String::with_capacity(run.len() + self.text.len() - self.at);
        string.push_str(run);
        while !self.next_is(b'"') {
            string.push(self.escape()?);
            string.push_str(self.plain_run()?);
        }
        self.at += 1;
        Some(Cow::Owned(string))
    }

    pub(super) fn boolean(&mut self) -> Option<bool> {
        self.skip_space();
        let rest = self.text.get(self.at..)?;
        let (value, len) = match rest {
            _ if rest.starts_with("true") => (true, 4),
            _ if rest.starts_with("false") => (false, 5),
            _ => return None,
        };
        self.at += len;
        Some(value)
    }

    /// Reads any value, as the text that it is.
    pub(super) fn raw(&mut self) -> Option<&'t RawValue> {
        let rest = self.text.get(self.at..)?;
        let mut values = Deserializer::from_str(rest).into_iter::<&RawValue>();
        let value = values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(value)
    }

    /// Whether all is read.
    pub(super) fn is_done(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.eat(byte).then_some(())
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.next_is(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.next() {
            self.at += 1;
        }
    }

    fn next_is(&self, byte: u8) -> bool {
        self.next() == Some(byte)
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Steps over characters that stand for themselves in a string.
    fn plain_run(&mut self) -> Option<&'t str> {
        let start = self.at;
        let rest = self.text.as_bytes().get(start..)?;
        self.at += first_special(rest).unwrap_or(rest.len());
        self.text.get(start..self.at)
    }

    fn escape(&mut self) -> Option<char> {
        if !self.next_is(b'\\') {
            return None;
        }
        let kind = self.text.as_bytes().get(self.at + 1)?;
        self.at += 2;
        Some(match kind {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let digits = self.text.get(self.at..self.at + 4)?;
                // A sign is taken for part of a number elsewhere.
                let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                self.at += 4;
                // Half of a surrogate pair is no character.
                char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?)?
            }
            _ => return None,
        })
    }
}
