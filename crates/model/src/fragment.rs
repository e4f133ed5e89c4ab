//! Parsing a JSON text, or a slice of one, with exact places.
//!
//! A place is the character at which the parser saw the fault: the last one of
//! the wrong key or value, or the first one of a value whose inside breaks a rule. The
//! path of a fault in the shape names that key or value.

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
        let start = place_of(&e, text);
        let (line, column) = line_and_column(&text[..start]);
        let error = Error::new(kind, rule_of(&e)).at(line, column);
        if is_json { error.under(&path_to(text, start)) } else { error }
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

/// The path to the key or value that the character at `start` ends, or begins.
fn path_to(text: &str, start: usize) -> String {
    /// A list, and which element of it, or an object, and which field, once that is known.
    enum Open<'a> {
        List(usize),
        Object(Option<&'a str>),
    }
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut chars = text.char_indices().take_while(|&(at, _)| at <= start);
    while let Some((at, c)) = chars.next() {
        match (c, open.last_mut()) {
            ('{' | '[', _) if at == start => {}
            ('{', _) => open.push(Open::Object(None)),
            ('[', _) => open.push(Open::List(0)),
            ('}' | ']', _) => drop(open.pop()),
            (',', Some(Open::List(index))) => *index += 1,
            (',', Some(Open::Object(key))) => *key = None,
            ('"', container) => {
                let mut escaped = false;
                let end = chars.find(|&(_, c)| {
                    let is_end = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    is_end
                });
                if let (Some(Open::Object(key @ None)), Some((end, _))) = (container, end) {
                    *key = Some(&text[at + 1..end]);
                }
            }
            _ => {}
        }
    }
    let mut path = String::new();
    for container in open {
        match container {
            Open::List(index) => path += &format!("[{index}]"),
            Open::Object(None) => {}
            Open::Object(Some(key)) if path.is_empty() => path += key,
            Open::Object(Some(key)) => path += &format!(".{key}"),
        }
    }
    path
}

/// Where in the text the parser's error is.
///
/// The parser counts bytes. Of a value that has the wrong type it has read either
/// everything or nothing; in the second case the place moves on to where it starts.
/// Where the text ends too early, the place is after its end.
fn place_of(error: &serde_json::Error, text: &str) -> usize {
    let lines_before = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let mut n_read = lines_before.map(str::len).sum::<usize>() + error.column();
    let (read, rest) = text.split_at_checked(n_read).unwrap_or((text, ""));
    if error.classify() == Category::Data && !read.ends_with(ends_token) {
        n_read += rest.find(|c: char| !c.is_ascii_whitespace()).map_or(0, |at| at + 1);
    }
    let last = text.char_indices().take_while(|&(start, _)| start < n_read).last();
    if error.is_eof() { text.len() } else { last.map_or(0, |(start, _)| start) }
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
/// to whatever fragment was being read, and without Rust's words for a count.
fn rule_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let rule = text.rfind(" at line ").map_or(text.as_str(), |end| &text[..end]);
    let counts = ["usize", "u64", "u32"];
    let count = counts.iter().find_map(|kind| rule.strip_suffix(kind)?.strip_suffix("expected "));
    match count {
        Some(before) => format!("{before}expected a whole number, 0 or more"),
        None => rule.to_owned(),
    }
}
