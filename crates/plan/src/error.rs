//! The one error of this crate: a kind to branch on, a place, a sentence.

use std::fmt;

/// Why a plan, a schema, a template or a step was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Repr>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Repr {
    kind: ErrorKind,
    place: String,
    rule: String,
}

/// What a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not JSON.
    Syntax,
    /// The JSON has the wrong shape.
    Form,
    /// A step names a tool that is not declared.
    UnknownTool,
    /// A step, or a result, names a step that does not exist.
    UnknownStep,
    /// Steps wait for each other.
    Cycle,
    /// A tool's schema is no JSON Schema.
    Schema,
    /// A template cannot be read, or asks for something that it is not given.
    Template,
    /// A step is asked for before what it depends on is done.
    NotReady,
    /// A run of a plan is gone on with, and the plan is another one.
    Changed,
    /// A request does not fit its limit.
    TooLong,
    /// The messages do not make a valid request.
    StepRequest,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, place: impl Into<String>, rule: impl Into<String>) -> Self {
        Self(Box::new(Repr { kind, place: place.into(), rule: rule.into() }))
    }

    /// Puts `outer` in front of the place, as the error travels outward.
    pub fn under(mut self, outer: &str) -> Self {
        let place = &mut self.0.place;
        *place = match place.as_str() {
            "" => outer.to_owned(),
            inner if inner.starts_with('[') => format!("{outer}{inner}"),
            inner => format!("{outer}.{inner}"),
        };
        self
    }

    /// The kind to branch on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where the fault lies: a path such as `steps[2].depends_on[0]`, or a file and a
    /// line; may be empty.
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// The rule that was broken, without the place.
    pub fn message(&self) -> &str {
        &self.0.rule
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.place.is_empty() {
            write!(f, "{}: ", self.0.place)?;
        }
        f.write_str(&self.0.rule)
    }
}

impl std::error::Error for Error {}
