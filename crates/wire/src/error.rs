//! The one error of this crate: a kind to branch on, a place, a sentence.

use std::fmt;

use interleaf_model::{Place, shown};
use serde_json::value::RawValue;

use crate::api_error::Mask;
use crate::{ApiError, Family, doubles};

/// Why a text was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Repr>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Repr {
    kind: ErrorKind,
    place: Place,
    rule: String,
    api: Option<ApiError>,
}

/// What a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not JSON.
    Syntax,
    /// The JSON has the wrong shape: a field is missing or of another type.
    Form,
    /// The shape is right, but no message may look like this.
    Rule,
    /// A piece of a stream cannot be read.
    Corrupt,
    /// A stream ended before its message did.
    Cut,
    /// The API answered with an error of its own: see [`Error::api_error`].
    Api,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, rule: impl Into<String>) -> Self {
        Self::at(kind, Place::default(), rule.into())
    }

    fn at(kind: ErrorKind, place: Place, rule: String) -> Self {
        Self(Box::new(Repr { kind, place, rule, api: None }))
    }

    /// What an API of this family says instead of an answer.
    pub(crate) fn api(family: Family, body: &str) -> Self {
        ApiError::inside(family, body).into()
    }

    /// The same error as others may see it.
    pub(crate) fn sealed(mut self, mask: Mask<'_>) -> Self {
        if let Some(api) = self.0.api.take() {
            return api.sealed(mask).into();
        }
        self.0.rule = mask.beginning(&self.0.rule);
        self.0.place.path = mask.beginning(&self.0.place.path);
        self
    }

    /// The error of the API's, if this is one: what to do about it is its kind.
    pub fn api_error(&self) -> Option<&ApiError> {
        self.0.api.as_ref()
    }

    /// The kind to branch on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where the fault lies: a path such as `messages[3].tool_calls[0].id`, and the
    /// line and column at which the value there begins.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// The rule that was broken, without the place.
    pub fn message(&self) -> &str {
        &self.0.rule
    }

    /// The whole text is not JSON.
    pub(crate) fn syntax(error: &serde_json::Error, whole: &str) -> Self {
        // The parser counts the bytes that it has read, the wrong one included.
        let lines_before = whole.split_inclusive('\n').take(error.line().saturating_sub(1));
        let n_read = lines_before.map(str::len).sum::<usize>() + error.column();
        let wrong = whole.char_indices().take_while(|&(start, _)| start < n_read).last();
        let start = if error.is_eof() { whole.len() } else { wrong.map_or(0, |(start, _)| start) };
        let line_column = line_and_column(whole, start);
        let place = Place { path: String::new(), line_column };
        Self::at(ErrorKind::Syntax, place, sentence(error))
    }
}

impl Error {
    /// Refuses a JSON text with two fields of one name in one object.
    pub(crate) fn unless_double(whole: &str) -> Result<(), Self> {
        let Some((start, name)) = doubles::find(whole) else { return Ok(()) };
        let place = Place { path: String::new(), line_column: line_and_column(whole, start) };
        Err(Self::at(ErrorKind::Form, place, format!("duplicate field `{name}`")))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repr { place, rule, .. } = &*self.0;
        let (path, rule) = (shown(&place.path), shown(rule));
        match (place.path.is_empty(), place.line_column) {
            (true, None) => write!(f, "{rule}"),
            (true, Some((line, column))) => write!(f, "line {line} column {column}: {rule}"),
            (false, None) => write!(f, "{path}: {rule}"),
            (false, Some((line, column))) => {
                write!(f, "{path}, line {line} column {column}: {rule}")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<ApiError> for Error {
    fn from(error: ApiError) -> Self {
        let (kind, rule) = (ErrorKind::Api, error.to_string());
        Self(Box::new(Repr { kind, place: Place::default(), rule, api: Some(error) }))
    }
}

/// An error on its way out: it still points into the text, so that lines are
/// counted once, and only when something is wrong.
#[derive(Debug)]
pub(crate) struct Fault<'a> {
    kind: ErrorKind,
    path: String,
    rule: String,
    at: Option<&'a str>,
}

impl<'a> Fault<'a> {
    /// The value has the wrong shape.
    pub(crate) fn form(at: &'a RawValue, rule: impl Into<String>) -> Self {
        Self::new(ErrorKind::Form, at, rule.into())
    }

    /// The value has the right shape, but must not be.
    pub(crate) fn rule(at: &'a RawValue, rule: impl Into<String>) -> Self {
        Self::new(ErrorKind::Rule, at, rule.into())
    }

    /// The value cannot be read although its brackets and quotes match.
    pub(crate) fn unreadable(at: &'a RawValue, error: &serde_json::Error) -> Self {
        Self::new(ErrorKind::Syntax, at, sentence(error))
    }

    fn new(kind: ErrorKind, at: &'a RawValue, rule: String) -> Self {
        Self { kind, path: String::new(), rule, at: Some(at.get()) }
    }

    /// Puts `outer` in front of the path.
    pub(crate) fn under(mut self, outer: &str) -> Self {
        self.path = match self.path.as_str() {
            "" => outer.to_owned(),
            inner if inner.starts_with('[') || outer.is_empty() => format!("{outer}{inner}"),
            inner => format!("{outer}.{inner}"),
        };
        self
    }

    /// Counts the lines of `whole`, the text that all values are slices of.
    pub(crate) fn locate(self, whole: &str) -> Error {
        let line_column = self.at.and_then(|at| {
            let start = (at.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
            line_and_column(whole, start)
        });
        let place = Place { path: self.path, line_column };
        Error::at(self.kind, place, self.rule)
    }
}

impl From<interleaf_model::Error> for Fault<'_> {
    fn from(error: interleaf_model::Error) -> Self {
        let kind = match error.kind() {
            interleaf_model::ErrorKind::Syntax => ErrorKind::Syntax,
            interleaf_model::ErrorKind::Rule => ErrorKind::Rule,
            _ => ErrorKind::Form,
        };
        let path = error.place().path.clone();
        Self { kind, path, rule: error.message().to_owned(), at: None }
    }
}

/// The place of the byte `start`, in lines and characters from 1.
fn line_and_column(whole: &str, start: usize) -> Option<(usize, usize)> {
    let before = whole.get(..start)?;
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = 1 + before.bytes().filter(|&byte| byte == b'\n').count();
    Some((line, 1 + before[line_start..].chars().count()))
}

/// The parser's sentence without its own place, which may be relative to a part
/// of the text.
fn sentence(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    if let Some(end) = text.rfind(" at line ") {
        text.truncate(end);
    }
    text
}
