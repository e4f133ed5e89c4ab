//! The one error of this crate: a kind to branch on, what was being done, the cause.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::hide_passwords;

/// Why a store could not do what was asked. Nothing of it was written, unless
/// [`may_be_written`](Error::may_be_written) says that nobody knows.
#[derive(Debug, Clone)]
pub struct Error(Box<Repr>);

#[derive(Debug, Clone)]
struct Repr {
    kind: ErrorKind,
    message: String,
    current: Option<u64>,
    may_be_written: bool,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// What a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The address of the store, or something given to it, makes no sense.
    Invalid,
    /// There is no such session, request or database.
    NotFound,
    /// There is one already.
    Exists,
    /// Another writer was first; [`Error::current`] says how far the session is.
    Conflict,
    /// Other sessions are forks of this one.
    HasForks,
    /// Password, rights, or a file that may only be read.
    Denied,
    /// The database is locked by another program.
    Busy,
    /// No room is left on the disk.
    Full,
    /// The server cannot be reached, or the connection broke.
    Unavailable,
    /// The database was written by a newer version of this program.
    Newer,
    /// The database is damaged, or is none of ours. It was left as it is.
    Corrupt,
    /// Anything else that the database said.
    Database,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Repr { kind, message, current: None, may_be_written: false, source: None }))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    pub(crate) fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    pub(crate) fn no_session(id: impl fmt::Display) -> Self {
        Self::new(ErrorKind::NotFound, format!("there is no session {id}"))
    }

    pub(crate) fn conflict(id: impl fmt::Display, expected: u64, current: u64) -> Self {
        let message = format!(
            "session {id} has changed: the write expected event {expected} to be next, \
             but it is {current}"
        );
        let mut error = Self::new(ErrorKind::Conflict, message);
        error.0.current = Some(current);
        error
    }

    pub(crate) fn request_conflict(id: impl fmt::Display, no: u64, next: u64) -> Self {
        let message =
            format!("the write expected request {no} of session {id} to be next, but it is {next}");
        Self::new(ErrorKind::Conflict, message)
    }

    pub(crate) fn record_conflict(id: impl fmt::Display, expected: u64, next: u64) -> Self {
        let message = format!(
            "the records of session {id} have changed: the write expected change {expected} \
             to be next, but it is {next}"
        );
        Self::new(ErrorKind::Conflict, message)
    }

    pub(crate) fn no_request(id: impl fmt::Display, no: u64) -> Self {
        Self::new(ErrorKind::NotFound, format!("session {id} has no request {no}"))
    }

    pub(crate) fn exists(id: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Exists, format!("session {id} already exists"))
    }

    pub(crate) fn has_forks(id: impl fmt::Display, n: u64) -> Self {
        let forks = if n == 1 { "a fork shares".to_owned() } else { format!("{n} forks share") };
        Self::new(
            ErrorKind::HasForks,
            format!("session {id} cannot be removed: {forks} its events"),
        )
    }

    pub(crate) fn stopped() -> Self {
        Self::new(ErrorKind::Unavailable, "the store has been closed")
    }

    pub(crate) fn caused_by(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Puts what was being done in front of the message.
    pub(crate) fn while_doing(mut self, what: impl fmt::Display) -> Self {
        self.0.message = format!("{what}: {}", self.0.message);
        self
    }

    /// The same, after an attempt whose answer never came.
    pub(crate) fn of_unknown_outcome(mut self) -> Self {
        let unknown = "whether it was written is not known: read the session again to find out";
        self.0.message = format!("{}; {unknown}", self.0.message);
        self.0.kind = ErrorKind::Unavailable;
        self.0.may_be_written = true;
        self
    }

    /// Whether it leaves no doubt that nothing was written.
    pub(crate) fn is_final(&self) -> bool {
        use ErrorKind::{Conflict, Exists, HasForks, Invalid, NotFound};
        [Conflict, Exists, HasForks, Invalid, NotFound].contains(&self.kind())
    }

    /// Neither what it says nor its causes name a password of an address.
    pub(crate) fn without_passwords(mut self) -> Self {
        self.0.message = hide_passwords(&self.0.message).into_owned();
        let causes = std::iter::successors(self.source(), |&cause| cause.source());
        let mut told = causes.map(|cause| format!("{cause} {cause:?}"));
        if told.any(|told| hide_passwords(&told) != told) {
            self.0.source = None;
        }
        self
    }

    /// The kind to branch on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether what was asked may have been done all the same: the connection broke, or the
    /// server fell silent, before the answer came. Read the session again to find out.
    pub fn may_be_written(&self) -> bool {
        self.0.may_be_written
    }

    /// With a conflict: the sequence number that the next event gets.
    pub fn current(&self) -> Option<u64> {
        self.0.current
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

/// An error on its way out of a backend. It is a type of its own so that no driver's
/// error is convertible into ours in public.
pub(crate) struct Failure(pub(crate) Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}
