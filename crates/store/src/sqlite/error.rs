//! What SQLite says, in our words.

use rusqlite::ErrorCode;

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
        let (kind, message) = match error.sqlite_error_code() {
            _ if is_damaged => (ErrorKind::Corrupt, "a value of the database is damaged"),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                (ErrorKind::Busy, "the database is locked by another program")
            }
            Some(ErrorCode::ReadOnly) => (ErrorKind::Denied, "the database may only be read"),
            Some(ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
                (ErrorKind::Denied, "the database may not be used")
            }
            Some(ErrorCode::DiskFull) => {
                (ErrorKind::Full, "there is no room left for the database")
            }
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
