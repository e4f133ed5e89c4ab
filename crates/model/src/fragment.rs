//! Parsing a JSON text, or a slice of one, with exact places.
//!
//! A place is the character at which the parser saw the fault: the last one of
//! the wrong key or value, or the first one of a value whose inside breaks a rule.

use serde::Deserialize;
use serde_json::error::Category;

use crate::objects::Objects;
use crate::{Error, ErrorKind};

/// Reads a value of ours from JSON. A struct is an object at every depth: a list of its
/// fields' values, which serde alone would take, is refused.
///
/// ```
/// #[derive(serde::Deserialize, Debug)]
/// struct Span {
///     start: u32,
///     end: u32,
/// }
///
/// let span: Span = interleaf_model::read_json(r#"{"start": 1, "end": 2}"#)?;
/// assert_eq!((span.start, span.end), (1, 2));
/// let list = interleaf_model::read_json::<Span>("[1, 2]").unwrap_err();
/// assert_eq!(list.to_string(), "line 1 column 1: invalid type: sequence, expected an object");
/// # Ok::<(), interleaf_model::Error>(())
/// ```
///
/// # Errors
/// If the text is no JSON, or JSON of another shape, with the place in that text.
pub fn read_json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = T::deserialize(Objects(&mut json));
    read.and_then(|value| json.end().map(|()| value)).map_err(|e| {
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
