//! Calls that a model wrote as Python: `[f(x=1, y="a"), g()]`.

use interleaf_model::Json;
use serde_json::Value;

use super::tools::Shape;
use crate::exact;

/// A call as it is written.
pub(super) struct PythonCall {
    pub(super) name: String,
    positional: Vec<Json>,
    named: Vec<(String, Json)>,
}

/// Before a call whose outcome is printed, as Gemini writes it.
pub(super) const PRINT: &str = "print(";

/// Values inside values inside values.
const DEEPEST: usize = 64;

impl PythonCall {
    /// The arguments; those without a name are the declared properties in order. None if
    /// one has no name and no property is left for it, or a name comes twice.
    pub(super) fn arguments(&self, shape: &Shape) -> Option<Json> {
        let declared = shape.properties().into_iter().flatten().map(|(name, _)| name.as_str());
        let mut fields: Vec<(&str, &Json)> = declared.zip(&self.positional).collect();
        if fields.len() < self.positional.len() {
            return None;
        }
        for (name, value) in &self.named {
            let name = shape.property(name).unwrap_or(name);
            if fields.iter().any(|(own, _)| *own == name) {
                return None;
            }
            fields.push((name, value));
        }
        Some(exact::object(fields))
    }
}

/// Reads calls at a place: a list of them, or one after the other. Also says where they
/// end.
pub(super) fn calls_at(text: &str, at: usize) -> Option<(Vec<PythonCall>, usize)> {
    let mut cursor = Cursor { text, at };
    cursor.skip_blanks();
    let in_list = cursor.skip('[');
    let mut calls = vec![cursor.call()?];
    loop {
        let before = cursor.at;
        cursor.skip_blanks();
        if in_list && cursor.skip(']') {
            return Some((calls, cursor.at));
        }
        let parted = cursor.skip(',') || cursor.skip(';') || !in_list;
        cursor.skip_blanks();
        if in_list && cursor.skip(']') {
            return Some((calls, cursor.at));
        }
        match cursor.call() {
            Some(call) if parted => calls.push(call),
            _ if in_list => return None,
            _ => return Some((calls, before)),
        }
    }
}

struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn skip(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    fn word(&mut self, is_part: impl Fn(char) -> bool) -> Option<&'t str> {
        let rest = self.rest();
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        (end > 0 && !rest.starts_with(|c: char| c.is_ascii_digit())).then(|| &rest[..end])
    }

    /// A call, or one that is printed: `print(f(x=1))`.
    fn call(&mut self) -> Option<PythonCall> {
        let start = self.at;
        if self.rest().starts_with(PRINT) {
            self.at += PRINT.len();
            self.skip_blanks();
            let printed = self.plain_call();
            self.skip_blanks();
            if printed.is_some() && self.skip(')') {
                return printed;
            }
            self.at = start;
        }
        self.plain_call()
    }

    fn plain_call(&mut self) -> Option<PythonCall> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        let name = self.word(is_part)?;
        let name = name.strip_suffix(".call").unwrap_or(name).to_owned();
        self.skip('(').then_some(())?;
        let (mut positional, mut named) = (Vec::new(), Vec::new());
        loop {
            self.skip_blanks();
            if self.skip(')') {
                return Some(PythonCall { name, positional, named });
            }
            match self.keyword() {
                Some(name) => named.push((name.to_owned(), self.value(0)?)),
                None if named.is_empty() => positional.push(self.value(0)?),
                None => return None,
            }
            self.skip_blanks();
            if !self.skip(',') && !self.rest().starts_with(')') {
                return None;
            }
        }
    }

    /// The name in front of `=`, if one stands here.
    fn keyword(&mut self) -> Option<&'t str> {
        let start = self.at;
        let name = self.word(|c| c.is_alphanumeric() || c == '_');
        self.skip_blanks();
        let found = name.filter(|_| self.skip('='));
        if found.is_none() {
            self.at = start;
        }
        found
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > DEEPEST {
            return None;
        }
        self.skip_blanks();
        match self.rest().chars().next()? {
            '[' => self.list('[', ']', depth),
            '(' => self.list('(', ')', depth),
            '{' => self.dictionary(depth),
            '"' | '\'' => Some(exact::string(&self.strings()?)),
            c if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number(),
            _ => match self.word(|c| c.is_alphanumeric() || c == '_')? {
                "True" | "true" => Some(Json::from(Value::Bool(true))),
                "False" | "false" => Some(Json::from(Value::Bool(false))),
                "None" | "null" => Some(Json::from(Value::Null)),
                "r" | "R" if self.rest().starts_with(['"', '\'']) => {
                    Some(exact::string(&self.string(true)?))
                }
                _ => None,
            },
        }
    }

    fn list(&mut self, open: char, close: char, depth: usize) -> Option<Json> {
        self.skip(open);
        let mut items = Vec::new();
        loop {
            self.skip_blanks();
            if self.skip(close) {
                return Some(exact::array(&items));
            }
            items.push(self.value(depth + 1)?);
            self.skip_blanks();
            if !self.skip(',') && !self.rest().starts_with(close) {
                return None;
            }
        }
    }

    fn dictionary(&mut self, depth: usize) -> Option<Json> {
        self.skip('{');
        let mut fields: Vec<(String, Json)> = Vec::new();
        loop {
            self.skip_blanks();
            if self.skip('}') {
                return Some(exact::object(fields.iter().map(|(name, own)| (name.as_str(), own))));
            }
            let name = match self.rest().starts_with(['"', '\'']) {
                true => self.strings()?,
                // A number or a constant as a key is written as JSON writes it.
                false => self.value(depth + 1)?.as_str().to_owned(),
            };
            self.skip_blanks();
            self.skip(':').then_some(())?;
            fields.push((name, self.value(depth + 1)?));
            self.skip_blanks();
            if !self.skip(',') && !self.rest().starts_with('}') {
                return None;
            }
        }
    }

    fn number(&mut self) -> Option<Json> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.' | '_');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        let text = rest[..end].replace('_', "");
        let text = text.strip_prefix('+').unwrap_or(&text);
        let text = match (text.strip_prefix('.'), text.strip_suffix('.')) {
            (Some(fraction), _) => format!("0.{fraction}"),
            (None, Some(whole)) => format!("{whole}.0"),
            (None, None) => text.to_owned(),
        };
        exact::read(&text)
    }

    /// A string, and those that follow it at once: together they are one.
    fn strings(&mut self) -> Option<String> {
        let mut whole = self.string(false)?;
        loop {
            let before = self.at;
            self.skip_blanks();
            if !self.rest().starts_with(['"', '\'']) {
                self.at = before;
                return Some(whole);
            }
            whole += &self.string(false)?;
        }
    }

    fn string(&mut self, is_raw: bool) -> Option<String> {
        let quote = self.rest().chars().next()?;
        let triple: String = [quote; 3].iter().collect();
        let single = quote.to_string();
        let close = if self.rest().starts_with(&triple) { triple } else { single };
        self.at += close.len();
        let mut out = String::new();
        loop {
            if self.rest().starts_with(&close) {
                self.at += close.len();
                return Some(out);
            }
            let c = self.rest().chars().next()?;
            self.at += c.len_utf8();
            match c {
                '\n' if close.len() == 1 => return None,
                '\\' if !is_raw => self.escape(&mut out)?,
                '\\' => {
                    out.push(c);
                    let next = self.rest().chars().next()?;
                    self.at += next.len_utf8();
                    out.push(next);
                }
                _ => out.push(c),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Option<()> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            '0' => out.push('\0'),
            '\n' => {}
            '\\' | '\'' | '"' | '/' => out.push(c),
            'x' => out.push(self.code(2)?),
            'u' => out.push(self.code(4)?),
            'U' => out.push(self.code(8)?),
            other => out.extend(['\\', other]),
        }
        Some(())
    }

    /// The character whose code these digits are; of two halves, if they are a pair.
    fn code(&mut self, n_digits: usize) -> Option<char> {
        let code = self.hex(n_digits)?;
        let code = match code {
            0xd800..0xdc00 if self.rest().starts_with("\\u") => {
                self.at += 2;
                let low = self.hex(4)?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                0x10000 + ((code - 0xd800) << 10) + low
            }
            _ => code,
        };
        char::from_u32(code)
    }

    fn hex(&mut self, n_digits: usize) -> Option<u32> {
        let digits = self.rest().get(..n_digits)?;
        self.at += n_digits;
        u32::from_str_radix(digits, 16).ok()
    }
}
