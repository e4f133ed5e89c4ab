//! Why no request could be made.

use std::fmt;

use interleaf_model::Violation;

use crate::{Part, PartReport, Tokens};

/// Why no request could be made. Nothing is sent then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Repr>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Repr {
    Invalid(Violation),
    TooLarge { limit: u64, tokens: Tokens, parts: Vec<PartReport>, over: Option<Part> },
    Settings(String),
}

/// What a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request would break a law that no step can mend: there is nothing to say.
    Invalid,
    /// What may not be left out does not fit the window.
    TooLarge,
    /// A setting makes no sense.
    Settings,
}

impl Error {
    pub(crate) fn invalid(violation: Violation) -> Self {
        Self(Box::new(Repr::Invalid(violation)))
    }

    pub(crate) fn too_large(limit: u64, tokens: Tokens) -> Self {
        Self(Box::new(Repr::TooLarge { limit, tokens, parts: Vec::new(), over: None }))
    }

    /// The same for parts that share the limit; one of them may be over its maximum.
    pub(crate) fn parts_too_large(
        limit: u64,
        tokens: Tokens,
        parts: Vec<PartReport>,
        over: Option<Part>,
    ) -> Self {
        Self(Box::new(Repr::TooLarge { limit, tokens, parts, over }))
    }

    pub(crate) fn settings(rule: impl Into<String>) -> Self {
        Self(Box::new(Repr::Settings(rule.into())))
    }

    /// The kind to branch on.
    pub fn kind(&self) -> ErrorKind {
        match *self.0 {
            Repr::Invalid(_) => ErrorKind::Invalid,
            Repr::TooLarge { .. } => ErrorKind::TooLarge,
            Repr::Settings(_) => ErrorKind::Settings,
        }
    }

    /// The message and the law, if a law was broken.
    pub fn violation(&self) -> Option<&Violation> {
        match &*self.0 {
            Repr::Invalid(violation) => Some(violation),
            Repr::TooLarge { .. } | Repr::Settings(_) => None,
        }
    }

    /// The limit and what was needed, if it did not fit.
    pub fn figures(&self) -> Option<(u64, &Tokens)> {
        match &*self.0 {
            Repr::TooLarge { limit, tokens, .. } => Some((*limit, tokens)),
            Repr::Invalid(_) | Repr::Settings(_) => None,
        }
    }

    /// What each part may take and would take, if the parts share the limit.
    pub fn parts(&self) -> &[PartReport] {
        match &*self.0 {
            Repr::TooLarge { parts, .. } => parts,
            Repr::Invalid(_) | Repr::Settings(_) => &[],
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Repr::Invalid(violation) => write!(f, "the request would not be valid: {violation}"),
            Repr::TooLarge { limit, parts, over: Some(part), .. } => write!(
                f,
                "the part {part} takes more than it may, and no more of it can be left out: {}; \
                 the window leaves {limit}",
                listed(parts)
            ),
            Repr::TooLarge { limit, tokens, parts, .. } if !parts.is_empty() => {
                let minima = parts.iter().map(PartReport::least).sum::<u64>() + tokens.summary;
                match minima > *limit {
                    true => write!(f, "the minima of the parts come to {minima} tokens")?,
                    false => write!(
                        f,
                        "the request needs {} tokens even without everything that may be left out",
                        tokens.total()
                    )?,
                }
                let parts = listed(parts);
                let summary = tokens.summary;
                write!(f, ", and the window leaves {limit}: {parts}; summary: {summary} tokens")
            }
            Repr::TooLarge { limit, tokens, .. } => write!(
                f,
                "the request needs {} tokens even without everything that may be left out, and \
                 the window leaves {limit}: system {}, summary {}, history {}, context block {}, \
                 tools {}",
                tokens.total(),
                tokens.system,
                tokens.summary,
                tokens.history,
                tokens.context,
                tokens.tools
            ),
            Repr::Settings(rule) => f.write_str(rule),
        }
    }
}

fn listed(parts: &[PartReport]) -> String {
    parts.iter().map(PartReport::to_string).collect::<Vec<_>>().join("; ")
}

impl std::error::Error for Error {}
