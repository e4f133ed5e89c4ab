//! The one error of this crate: which part refused, and why.

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
    Record { kind: interleaf_store::RecordKind, key: String, reason: String },
    Rule(String),
    NoRoom(String),
    Overtaken,
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
    /// Another run of the same agent has answered since the request was made.
    Overtaken,
    /// The store cannot be used; [`Error::as_store`] says why.
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

    pub(crate) fn record(record: &interleaf_store::Record, reason: String) -> Self {
        let (kind, key) = (record.kind, record.key.clone());
        Self(Box::new(Repr::Record { kind, key, reason }))
    }

    pub(crate) fn rule(rule: impl Into<String>) -> Self {
        Self(Box::new(Repr::Rule(rule.into())))
    }

    pub(crate) fn no_room(figures: impl Into<String>) -> Self {
        Self(Box::new(Repr::NoRoom(figures.into())))
    }

    pub(crate) fn overtaken() -> Self {
        Self(Box::new(Repr::Overtaken))
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

    /// If the store refused: its own error.
    pub fn as_store(&self) -> Option<&interleaf_store::Error> {
        match &*self.0 {
            Repr::Store(error) => Some(error),
            _ => None,
        }
    }

    /// What assembly refused, if it did.
    pub fn as_assemble(&self) -> Option<&interleaf_assemble::Error> {
        match &*self.0 {
            Repr::Assemble(error) => Some(error),
            _ => None,
        }
    }

    /// What the API cannot say, if that is so.
    pub fn as_wire(&self) -> Option<&interleaf_wire::Error> {
        match &*self.0 {
            Repr::Wire(error) => Some(error),
            _ => None,
        }
    }

    /// If the conversation refused: its own error.
    pub fn as_conversation(&self) -> Option<&interleaf_conversation::Error> {
        match &*self.0 {
            Repr::Conversation(error) => Some(error),
            _ => None,
        }
    }

    /// The kind to branch on.
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Repr::Assemble(e) if e.kind() == interleaf_assemble::ErrorKind::TooLarge => {
                ErrorKind::TooLarge
            }
            Repr::NoRoom(_) => ErrorKind::TooLarge,
            Repr::Assemble(_) => ErrorKind::Invalid,
            Repr::Overtaken => ErrorKind::Overtaken,
            Repr::Wire(_) => ErrorKind::Wire,
            Repr::Conversation(_) | Repr::Form(_) | Repr::Rule(_) | Repr::Input(_) => {
                ErrorKind::Invalid
            }
            Repr::TooShort { .. } => ErrorKind::NotFound,
            Repr::Damaged(_) | Repr::Record { .. } => ErrorKind::Store,
            Repr::Store(error) => match error.kind() {
                interleaf_store::ErrorKind::Invalid => ErrorKind::Invalid,
                interleaf_store::ErrorKind::NotFound => ErrorKind::NotFound,
                interleaf_store::ErrorKind::Conflict => ErrorKind::Conflict,
                _ => ErrorKind::Store,
            },
        }
    }
}

/// The reason stands in the sentence; [`source`](std::error::Error::source) gives what is
/// after the reason.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Repr::Assemble(e) => write!(f, "cannot assemble the request: {e}"),
            Repr::Wire(e) => write!(f, "cannot write the request: {e}"),
            Repr::Conversation(e) => write!(f, "the conversation cannot be changed like this: {e}"),
            Repr::Store(e) if e.kind() == interleaf_store::ErrorKind::Conflict => {
                f.write_str("another writer was first: refresh the session and try again")
            }
            Repr::Store(e) => write!(f, "the store refused: {e}"),
            Repr::Form(e) => write!(f, "a report or a time cannot be written: {e}"),
            Repr::Damaged(e) => write!(f, "a record of the session is damaged: {e}"),
            Repr::Record { kind, key, reason } => {
                let way_out = "Session::change_records can remove it";
                write!(f, "the {kind} {key:?} of the session is damaged ({way_out}): {reason}")
            }
            Repr::Rule(rule) | Repr::NoRoom(rule) => f.write_str(rule),
            Repr::Overtaken => {
                f.write_str("another run works on this session: go on when it has ended")
            }
            Repr::Input(fault) => fault.fmt(f),
            Repr::TooShort { session, len, asked } => {
                write!(f, "session {session} ends at event {len}, before {asked}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Repr::Assemble(error) => error.source(),
            Repr::Wire(error) => error.source(),
            Repr::Conversation(error) => error.source(),
            Repr::Store(error) => error.source(),
            Repr::Form(error) => error.source(),
            Repr::Damaged(error) => error.source(),
            Repr::Input(_)
            | Repr::Rule(_)
            | Repr::NoRoom(_)
            | Repr::Overtaken
            | Repr::Record { .. }
            | Repr::TooShort { .. } => None,
        }
    }
}

/// So that `?` takes what a [`Decoder`](interleaf_wire::Decoder) refuses.
impl From<interleaf_wire::Error> for Error {
    fn from(error: interleaf_wire::Error) -> Self {
        Self::wire(error)
    }
}

impl From<InputFault> for Error {
    fn from(fault: InputFault) -> Self {
        Self(Box::new(Repr::Input(fault)))
    }
}
