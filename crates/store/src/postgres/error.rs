//! What PostgreSQL and its drivers say, in our words.

use std::io;

use deadpool_postgres::{BuildError, HookError, PoolError, TimeoutType};
use tokio_postgres::error::SqlState;

use crate::error::Failure;
use crate::{Error, ErrorKind};

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let (kind, message) = match error.code() {
            Some(code) => of_state(code),
            None if is_of_tls(&error) => (ErrorKind::Denied, "the server does not prove who it is"),
            None => (ErrorKind::Unavailable, "the server cannot be reached"),
        };
        Self(Error::new(kind, message).caused_by(error))
    }
}

/// Whether the certificate of the server was refused.
fn is_of_tls(error: &tokio_postgres::Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|e| e.downcast_ref::<io::Error>());
    let refusal = cause.and_then(|e| e.get_ref()).and_then(|e| e.downcast_ref::<rustls::Error>());
    matches!(refusal, Some(rustls::Error::InvalidCertificate(_)))
}

/// Whether the server was asked to write, and may only be read.
pub(crate) fn is_read_only(error: &Error) -> bool {
    let cause = std::error::Error::source(error);
    let cause = cause.and_then(|cause| cause.downcast_ref::<tokio_postgres::Error>());
    cause.and_then(|cause| cause.code()) == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
}

fn of_state(code: &SqlState) -> (ErrorKind, &'static str) {
    match code.code() {
        "28P01" => (ErrorKind::Denied, "the password is wrong"),
        "28000" => (ErrorKind::Denied, "the server does not admit this user"),
        "42501" => (ErrorKind::Denied, "this user lacks the rights"),
        "25006" => (ErrorKind::Denied, "the database may only be read"),
        "3D000" => (ErrorKind::NotFound, "the server has no such database"),
        "53100" => (ErrorKind::Full, "there is no room left for the database"),
        "53300" => (ErrorKind::Busy, "the server has no connection left"),
        "55P03" | "40001" | "40P01" => {
            (ErrorKind::Busy, "the session is locked by another program")
        }
        "57014" => (ErrorKind::Busy, "the server did not finish in time"),
        "XX001" | "XX002" => (ErrorKind::Corrupt, "the database is damaged"),
        "57P01" | "57P02" | "57P03" | "25P03" => {
            (ErrorKind::Unavailable, "the server has ended the connection")
        }
        code if code.starts_with("08") => (ErrorKind::Unavailable, "the connection broke"),
        _ => (ErrorKind::Database, "the database refused"),
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                error.into()
            }
            error @ PoolError::Timeout(TimeoutType::Wait) => {
                let message = "no connection became free in time";
                Self(Error::new(ErrorKind::Busy, message).caused_by(error))
            }
            error @ PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle) => {
                let message = "the server does not answer";
                Self(Error::new(ErrorKind::Unavailable, message).caused_by(error))
            }
            error => {
                let message = "cannot get a connection";
                Self(Error::new(ErrorKind::Unavailable, message).caused_by(error))
            }
        }
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self(Error::invalid("cannot make the pool of connections").caused_by(error))
    }
}
