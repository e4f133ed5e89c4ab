//! What SQLite says, in our words.

use rusqlite::{ErrorCode, ffi};

use crate::error::Failure;
use crate::{Error, ErrorKind};

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        let is_damaged = matches!(
            error,
            rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::Utf8Error(..)
        );
        let full = (ErrorKind::Full, "there is no room left for the database");
        let (code, said) = match &error {
            rusqlite::Error::SqlInputError { error, msg, .. } => (Some(*error), Some(msg)),
            rusqlite::Error::SqliteFailure(error, said) => (Some(*error), said.as_ref()),
            _ => (None, None),
        };
        let extended = code.map(|code| code.extended_code);
        // Our SQL is right for the tables that a file of its version has.
        if let (Some(ffi::SQLITE_ERROR), Some(said)) = (extended, said) {
            let message = "the tables of the database are not those of its version";
            return Self(Error::corrupt(format!("{message}: {said}")));
        }
        let (kind, message) = match code.map(|code| code.code) {
            _ if is_damaged => (ErrorKind::Corrupt, "a value of the database is damaged"),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                (ErrorKind::Busy, "the database is locked by another program")
            }
            Some(ErrorCode::ReadOnly) => (ErrorKind::Denied, "the database may only be read"),
            Some(ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
                (ErrorKind::Denied, "the database may not be used")
            }
            Some(ErrorCode::DiskFull) => full,
            // The index of the log cannot grow, which is how a full disk shows there.
            Some(ErrorCode::SystemIoFailure) if extended == Some(ffi::SQLITE_IOERR_SHMSIZE) => full,
            Some(ErrorCode::NotADatabase) => {
                (ErrorKind::Corrupt, "the file is not an SQLite database")
            }
            Some(ErrorCode::DatabaseCorrupt) => (ErrorKind::Corrupt, "the database is damaged"),
            Some(ErrorCode::CannotOpen) => (ErrorKind::NotFound, "the file cannot be opened"),
            Some(ErrorCode::SystemIoFailure) => {
                (ErrorKind::Unavailable, "the disk cannot be read or written")
            }
            _ => (ErrorKind::Database, "the database refused"),
        };
        Self(Error::new(kind, message).caused_by(error))
    }
}
