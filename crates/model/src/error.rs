//! The one error of this crate: a kind to branch on, a place, a sentence.

use std::fmt;

/// Why a message, a transcript or a line of notation was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Repr>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Repr {
    kind: ErrorKind,
    place: Place,
    rule: String,
}

/// What a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not JSON, or not a line of notation.
    Syntax,
    /// The JSON has the wrong shape: a field is missing, unknown or of another type.
    Form,
    /// The shape is right, but no message may look like this.
    Rule,
    /// The transcript was written by a newer version of the format.
    Version,
}

/// Where in the input the fault lies. Every field is optional: a value built in
/// memory has a path but no line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// A path into the value, such as `messages[3].parts[0]`.
    pub path: String,
    /// Line and column, both counted from 1; columns are characters.
    pub line_column: Option<(usize, usize)>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, rule: impl Into<String>) -> Self {
        Self(Box::new(Repr { kind, place: Place::default(), rule: rule.into() }))
    }

    pub(crate) fn rule(rule: impl Into<String>) -> Self {
        Self::new(ErrorKind::Rule, rule)
    }

    /// Puts `outer` in front of the path, as the error travels outward.
    pub fn under(mut self, outer: &str) -> Self {
        let path = &mut self.0.place.path;
        *path = match path.as_str() {
            "" => outer.to_owned(),
            inner if inner.starts_with('[') => format!("{outer}{inner}"),
            inner => format!("{outer}.{inner}"),
        };
        self
    }

    /// Sets line and column, unless an inner place was more exact already.
    pub fn at(mut self, line: usize, column: usize) -> Self {
        self.0.place.line_column.get_or_insert((line, column));
        self
    }

    /// Replaces line and column.
    pub(crate) fn moved_to(mut self, line: usize, column: usize) -> Self {
        self.0.place.line_column = Some((line, column));
        self
    }

    /// The kind to branch on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where the fault lies.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// The rule that was broken, without the place.
    pub fn message(&self) -> &str {
        &self.0.rule
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.place.path.is_empty() {
            write!(f, "{}", self.0.place.path)?;
        }
        if let Some((line, column)) = self.0.place.line_column {
            if !self.0.place.path.is_empty() {
                write!(f, ", ")?;
            }
            write!(f, "line {line} column {column}")?;
        }
        if self.0.place != Place::default() {
            write!(f, ": ")?;
        }
        write!(f, "{}", self.0.rule)
    }
}

impl std::error::Error for Error {}
