//! The one error of this crate.

use std::fmt;

/// Why a change or a question was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Repr>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Repr {
    kind: ErrorKind,
    field: String,
    rule: String,
}

/// What a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The message may not be appended.
    Message,
    /// A setting points outside what is there.
    OutOfRange,
    /// Settings are missing, or contradict each other.
    Settings,
    /// The operation would leave half a tool block visible.
    SplitsBlock,
    /// An event does not fit this conversation: it belongs to another, or is damaged.
    Event,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self(Box::new(Repr { kind, field: field.into(), rule: rule.into() }))
    }

    pub(crate) fn out_of_range(field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self::new(ErrorKind::OutOfRange, field, rule)
    }

    pub(crate) fn settings(field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self::new(ErrorKind::Settings, field, rule)
    }

    pub(crate) fn event(field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self::new(ErrorKind::Event, field, rule)
    }

    /// The kind to branch on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The setting at fault, such as `truncate.keep_last`.
    pub fn field(&self) -> &str {
        &self.0.field
    }

    /// The same error of the message at this place of a list.
    pub fn in_list(mut self, place: usize) -> Self {
        self.0.field = match self.0.field.strip_prefix("message") {
            Some(rest) => format!("messages[{place}]{rest}"),
            None => self.0.field,
        };
        self
    }

    /// The rule that was broken, without the field.
    pub fn message(&self) -> &str {
        &self.0.rule
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.field, self.0.rule)
    }
}

impl std::error::Error for Error {}
