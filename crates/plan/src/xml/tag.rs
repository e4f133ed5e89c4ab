//! A tag, read with patience.

use std::borrow::Cow;
use std::ops::Range;

use super::text::{CDATA, CDATA_END, decode};

/// A tag in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag<'t> {
    /// Its name as it is written, without a prefix such as `x:` or `｜x｜`.
    pub(crate) name: &'t str,
    pub(crate) kind: TagKind,
    /// What stands after the name in `<function=NAME>`.
    pub(crate) value: Option<&'t str>,
    pub(crate) attributes: Vec<(&'t str, Cow<'t, str>)>,
    pub(crate) span: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TagKind {
    Open,
    Close,
    Empty,
}

impl Tag<'_> {
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    pub(crate) fn is_one_of(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.is(name))
    }

    pub(crate) fn attribute(&self, names: &[&str]) -> Option<&str> {
        let wanted = |own: &str| names.iter().any(|name| own.eq_ignore_ascii_case(name));
        self.attributes.iter().find(|(own, _)| wanted(own)).map(|(_, value)| &**value)
    }

    /// The name of the parameter that it begins, if it begins one.
    pub(crate) fn parameter(&self) -> Option<&str> {
        let named = self.subject().or_else(|| self.attribute(&["key"]));
        let is_one = self.kind != TagKind::Close && self.is_one_of(&PARAMETER_TAGS);
        named.filter(|name| is_one && !name.trim().is_empty())
    }

    /// What the tag is about: `name="…"`, or what stands after its name.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.value.or_else(|| self.attribute(&["name", "tool", "tool_name", "function"]))
    }
}

const PARAMETER_TAGS: [&str; 4] = ["parameter", "param", "argument", "arg"];

/// What a comment begins with.
pub(crate) const COMMENT: &str = "<!--";
const COMMENT_END: &str = "-->";

/// The longest tag that is taken for one, in bytes.
const LONGEST: usize = 8 * 1024;

/// The tags of a text, found once. Looking for the next of something takes a step or two,
/// however often it is done.
pub(crate) struct Tags<'t> {
    pub(crate) text: &'t str,
    starts: Vec<usize>,
    sections: Vec<usize>,
    section_ends: Vec<usize>,
    comment_ends: Vec<usize>,
}

impl<'t> Tags<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let places = |pattern: &str| text.match_indices(pattern).map(|(at, _)| at).collect();
        let mut starts: Vec<usize> = places("<");
        starts.retain(|&at| tag_at(text, at).is_some());
        Self {
            text,
            starts,
            sections: places(CDATA),
            section_ends: places(CDATA_END),
            comment_ends: places(COMMENT_END),
        }
    }

    /// The next tag at or after `from`, whatever its name.
    pub(crate) fn next(&self, from: usize) -> Option<Tag<'t>> {
        tag_at(self.text, at_or_after(&self.starts, from)?)
    }

    /// The next tag that is in no CDATA section which has an end.
    pub(crate) fn next_outside_cdata(&self, from: usize) -> Option<Tag<'t>> {
        let mut at = from;
        loop {
            let start = at_or_after(&self.starts, at)?;
            let section = at_or_after(&self.sections, at).filter(|&section| section < start);
            match section.and_then(|section| at_or_after(&self.section_ends, section)) {
                Some(end) => at = end + CDATA_END.len(),
                None => return tag_at(self.text, start),
            }
        }
    }

    /// What follows a comment that comes before the next tag.
    pub(crate) fn comment_before_tag(&self, from: usize) -> Option<usize> {
        let start = from + self.text[from..].find('<')?;
        self.text[start..].starts_with(COMMENT).then_some(())?;
        self.end_of_comment(start)
    }

    /// Where the comment that begins at `at` ends: at the end of the text, if nothing ends it.
    pub(crate) fn comment_end(&self, at: usize) -> usize {
        self.end_of_comment(at).unwrap_or(self.text.len())
    }

    fn end_of_comment(&self, at: usize) -> Option<usize> {
        Some(at_or_after(&self.comment_ends, at + COMMENT.len())? + COMMENT_END.len())
    }
}

fn at_or_after(places: &[usize], from: usize) -> Option<usize> {
    places.get(places.partition_point(|&place| place < from)).copied()
}

/// The tag that begins at `at`, if one does. What looks like code does not: a name must
/// follow at once, and an end must come before the next `<`.
pub(crate) fn tag_at(text: &str, at: usize) -> Option<Tag<'_>> {
    // What is longer is no tag; without a bound, a text of quotes would be read over and
    // over.
    let text = &text[..text.floor_char_boundary(at.saturating_add(LONGEST))];
    let mut cursor = Cursor { text, at: at + 1 };
    let closes = cursor.skip('/');
    if closes {
        cursor.skip_blanks();
    }
    let full = cursor.take_while(is_name);
    let name = full.rsplit([':', '｜']).next().unwrap_or(full);
    if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return None;
    }
    let mut kind = if closes { TagKind::Close } else { TagKind::Open };
    let mut value = None;
    if !closes && cursor.skip('=') {
        let given = cursor.take_while(|c| !matches!(c, '>' | '<' | '\n'));
        let given = given.strip_suffix('/').unwrap_or(given);
        value = Some(given.trim_matches(is_quote_or_blank)).filter(|given| !given.is_empty());
    }
    let mut attributes = Vec::new();
    loop {
        cursor.skip_blanks();
        match cursor.peek()? {
            '>' => break,
            '/' => {
                cursor.skip('/');
                cursor.skip_blanks();
                if cursor.peek() == Some('>') {
                    kind = if closes { TagKind::Close } else { TagKind::Empty };
                }
            }
            '<' => return None,
            _ => attributes.push(cursor.attribute()?),
        }
    }
    Some(Tag { name, kind, value, attributes, span: at..cursor.at + 1 })
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '｜')
}

fn is_quote_or_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | '“' | '”' | '‘' | '’' | '`')
}

struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn skip_blanks(&mut self) {
        self.take_while(char::is_whitespace);
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// `key`, `key=value`, `key="value"`, also with `\"` or typographic quotes.
    fn attribute(&mut self) -> Option<(&'t str, Cow<'t, str>)> {
        let start = self.at;
        let key = self.take_while(|c| !c.is_whitespace() && !matches!(c, '=' | '>' | '/' | '<'));
        self.skip_blanks();
        if !self.skip('=') {
            // Something must be taken, lest we stand still.
            return (self.at > start).then_some((key, Cow::Borrowed("")));
        }
        self.skip_blanks();
        let escaped = self.skip('\\');
        let close = match self.peek()? {
            '"' => '"',
            '\'' => '\'',
            '“' | '”' => '”',
            '‘' | '’' => '’',
            _ => {
                let bare = self.take_while(|c| !c.is_whitespace() && !matches!(c, '>' | '<'));
                let bare = match bare.strip_suffix('/') {
                    Some(bare) if self.peek() == Some('>') => {
                        self.at -= 1;
                        bare
                    }
                    _ => bare,
                };
                return Some((key, decode(bare)));
            }
        };
        let open = self.peek()?;
        self.skip(open);
        let rest = self.rest();
        let value = &rest[..rest.find(close)?];
        self.at += value.len() + close.len_utf8();
        let value = if escaped { value.strip_suffix('\\').unwrap_or(value) } else { value };
        Some((key, decode(value)))
    }
}
