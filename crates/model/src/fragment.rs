//! Parsing a JSON text, or a slice of one, with exact places.
//!
//! A place is the character at which the parser saw the fault: the last one of
//! the wrong key or value, or the first one of a value whose inside breaks a rule.

use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::{Error, ErrorKind};

/// Parses a JSON text, with the place of a fault relative to that text.
pub(crate) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|e| {
        let is_json = match e.classify() {
            Category::Data => true,
            // A number where a tag is expected, or one element too many, is a fault of
            // the shape that the parser reports as one of the syntax.
            Category::Syntax => serde_json::from_str::<serde_json::Value>(text).is_ok(),
            Category::Eof | Category::Io => false,
        };
        let kind = if is_json { ErrorKind::Form } else { ErrorKind::Syntax };
        let (line, column) = place_of(&e, text);
        Error::new(kind, strip_place(&e)).at(line, column)
    })
}

/// Parses an object. A list of its values in order, which serde takes as well, is
/// no part of any of our formats.
pub(crate) fn parse_object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
    let json = text.trim_start_matches([' ', '\t', '\n', '\r']);
    if json.starts_with('{') {
        return parse(text);
    }
    parse::<&RawValue>(text)?;
    Err(rebase(Error::new(ErrorKind::Form, "here must stand an object"), text, json))
}

/// Turns a place inside `fragment` into one inside `whole`, of which it is a slice.
/// An error without a place gets that of the fragment's first character.
pub(crate) fn rebase(error: Error, whole: &str, fragment: &str) -> Error {
    let start = (fragment.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
    let Some(before) = whole.get(..start) else {
        return error;
    };
    let (line, column) = error.place().line_column.unwrap_or((1, 1));
    let (first_line, first_column) = line_and_column(before);
    let column = if line == 1 { first_column + column - 1 } else { column };
    error.moved_to(first_line + line - 1, column)
}

/// The line and the column, in characters, of the parser's error.
///
/// The parser counts bytes. Of a value that has the wrong type it has read either
/// everything or nothing; in the second case the place moves on to where it starts.
/// Where the text ends too early, the place is after its end.
fn place_of(error: &serde_json::Error, text: &str) -> (usize, usize) {
    let lines_before = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let mut n_read = lines_before.map(str::len).sum::<usize>() + error.column();
    let (read, rest) = text.split_at_checked(n_read).unwrap_or((text, ""));
    if error.classify() == Category::Data && !read.ends_with(ends_token) {
        n_read += rest.find(|c: char| !c.is_ascii_whitespace()).map_or(0, |at| at + 1);
    }
    let last = text.char_indices().take_while(|&(start, _)| start < n_read).last();
    let start = last.map_or(0, |(start, _)| start);
    line_and_column(if error.is_eof() { text } else { &text[..start] })
}

/// The place of the character that follows `before`.
fn line_and_column(before: &str) -> (usize, usize) {
    let last_line = before.rfind('\n').map_or(before, |at| &before[at + 1..]);
    (before.matches('\n').count() + 1, last_line.chars().count() + 1)
}

fn ends_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '"' | '}' | ']')
}

/// The parser's sentence without its own "at line 1 column 2", which is relative
/// to whatever fragment was being read.
fn strip_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
