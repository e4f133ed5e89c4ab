//! The one error of this crate: which part refused, and its own error behind it.

use std::fmt;

use crate::InputFault;

/// Why a request could not be made, or a session not be read or written.
#[derive(Debug)]
pub struct Error(Box<Repr>);

#[derive(Debug)]
enum Repr {
    Assemble(interleaf_assemble::Error),
    Wire(interleaf_wire::Error),
    Conversation(interleaf_conversation::Error),
    Store(interleaf_store::Error),
    Form(interleaf_model::Error),
    Damaged(serde_json::Error),
    Input(InputFault),
    TooShort { session: interleaf_store::SessionId, len: u64, asked: u64 },
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
    /// There is no such session or request.
    NotFound,
    /// Another writer was first; [`Error::current`] says how far the session is.
    Conflict,
    /// The store cannot be used; [`Error::store_kind`] says why.
    Store,
}

impl Error {
    pub(crate) fn assemble(error: interleaf_assemble::Error) -> Self {
        Self(Box::new(Repr::Assemble(error)))
    }

    pub(crate) fn wire(error: interleaf_wire::Error) -> Self {
        Self(Box::new(Repr::Wire(error)))
    }

    pub(crate) fn conversation(error: interleaf_conversation::Error) -> Self {
        Self(Box::new(Repr::Conversation(error)))
    }

    pub(crate) fn store(error: interleaf_store::Error) -> Self {
        Self(Box::new(Repr::Store(error)))
    }

    pub(crate) fn form(error: interleaf_model::Error) -> Self {
        Self(Box::new(Repr::Form(error)))
    }

    pub(crate) fn damaged(error: serde_json::Error) -> Self {
        Self(Box::new(Repr::Damaged(error)))
    }

    /// If something that was handed in cannot be read: what is wrong with it.
    pub fn input_fault(&self) -> Option<&InputFault> {
        match &*self.0 {
            Repr::Input(fault) => Some(fault),
            _ => None,
        }
    }

    pub(crate) fn too_short(session: interleaf_store::SessionId, len: u64, asked: u64) -> Self {
        Self(Box::new(Repr::TooShort { session, len, asked }))
    }

    /// With a conflict: the sequence number that the next event of the session gets.
    pub fn current(&self) -> Option<u64> {
        match &*self.0 {
            Repr::Store(error) => error.current(),
            _ => None,
        }
    }

    /// If the store refused: its own kind.
    pub fn store_kind(&self) -> Option<interleaf_store::ErrorKind> {
        match &*self.0 {
            Repr::Store(error) => Some(error.kind()),
            _ => None,
        }
    }

    /// The kind to branch on.
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Repr::Assemble(e) if e.kind() == interleaf_assemble::ErrorKind::TooLarge => {
                ErrorKind::TooLarge
            }
            Repr::Assemble(_) => ErrorKind::Invalid,
            Repr::Wire(_) => ErrorKind::Wire,
            Repr::Conversation(_) | Repr::Form(_) | Repr::Input(_) => ErrorKind::Invalid,
            Repr::TooShort { .. } => ErrorKind::NotFound,
            Repr::Damaged(_) => ErrorKind::Store,
            Repr::Store(error) => match error.kind() {
                interleaf_store::ErrorKind::Invalid => ErrorKind::Invalid,
                interleaf_store::ErrorKind::NotFound => ErrorKind::NotFound,
                interleaf_store::ErrorKind::Conflict => ErrorKind::Conflict,
                _ => ErrorKind::Store,
            },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &*self.0 {
            Repr::Assemble(_) => "cannot assemble the request",
            Repr::Wire(_) => "cannot write the request",
            Repr::Conversation(_) => "the conversation cannot be changed so",
            Repr::Store(error) if error.kind() == interleaf_store::ErrorKind::Conflict => {
                "another writer was first: refresh the session and try again"
            }
            Repr::Store(_) => "the store refused",
            Repr::Form(_) => "a report or a time has no valid form",
            Repr::Damaged(_) => "a record of the session is damaged",
            Repr::Input(fault) => return fault.fmt(f),
            Repr::TooShort { session, len, asked } => {
                return write!(f, "session {session} has {len} events, not {asked}");
            }
        })
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Repr::Assemble(error) => Some(error),
            Repr::Wire(error) => Some(error),
            Repr::Conversation(error) => Some(error),
            Repr::Store(error) => Some(error),
            Repr::Form(error) => Some(error),
            Repr::Damaged(error) => Some(error),
            Repr::Input(_) | Repr::TooShort { .. } => None,
        }
    }
}

impl From<InputFault> for Error {
    fn from(fault: InputFault) -> Self {
        Self(Box::new(Repr::Input(fault)))
    }
}
