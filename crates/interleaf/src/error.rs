//! The one error of this crate: which part refused, and its own error behind it.

use std::fmt;

/// Why a request could not be made.
#[derive(Debug)]
pub struct Error(Box<Repr>);

#[derive(Debug)]
enum Repr {
    Assemble(interleaf_assemble::Error),
    Wire(interleaf_wire::Error),
}

/// What a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What must be said does not fit the window.
    TooLarge,
    /// There is nothing to say, or a setting makes no sense.
    Invalid,
    /// The API has no way to say it.
    Wire,
}

impl Error {
    pub(crate) fn assemble(error: interleaf_assemble::Error) -> Self {
        Self(Box::new(Repr::Assemble(error)))
    }

    pub(crate) fn wire(error: interleaf_wire::Error) -> Self {
        Self(Box::new(Repr::Wire(error)))
    }

    /// The kind to branch on.
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Repr::Assemble(e) if e.kind() == interleaf_assemble::ErrorKind::TooLarge => {
                ErrorKind::TooLarge
            }
            Repr::Assemble(_) => ErrorKind::Invalid,
            Repr::Wire(_) => ErrorKind::Wire,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &*self.0 {
            Repr::Assemble(_) => "cannot assemble the request",
            Repr::Wire(_) => "cannot write the request",
        })
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Repr::Assemble(error) => Some(error),
            Repr::Wire(error) => Some(error),
        }
    }
}
