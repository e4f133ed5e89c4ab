//! What a store or a session refuses, in one line.

use std::error::Error as _;

use interleaf::store::{self, ErrorKind};

use crate::failure::{Failure, Fault};

impl Failure {
    /// What a store refused.
    pub(crate) fn store(subject: &str, error: &store::Error) -> Self {
        let mut rule = error.to_string();
        // What the database itself says helps where we have no words of our own.
        let told = matches!(
            error.kind(),
            ErrorKind::Denied | ErrorKind::Unavailable | ErrorKind::Corrupt | ErrorKind::Database
        );
        if let Some(cause) = error.source().filter(|_| told) {
            rule = format!("{rule} ({})", innermost(cause));
        }
        let failure = Self::new(subject, rule).of(fault(error.kind()));
        match (hint(error), advice(error.kind())) {
            (Some(hint), _) => failure.hint(hint),
            (None, Some(advice)) => failure.hint(format!("nothing was written; {advice}")),
            (None, None) => failure,
        }
    }

    /// What keeps an agent from running.
    pub(crate) fn agent(subject: &str, error: &interleaf_agent::Error) -> Self {
        match (error.as_session(), error.as_store()) {
            (Some(error), _) => Self::session(subject, error),
            (None, Some(error)) => Self::store("", error),
            (None, None) => Self::new(subject, error.to_string()),
        }
    }

    /// A run that could not go on, because of its store or of the API. What it did is kept.
    pub(crate) fn run(id: String, why: String, store: Option<ErrorKind>) -> Self {
        let failure = Self::new(id, why).of(store.map_or(Fault::Api, fault));
        match store.and_then(advice) {
            Some(advice) => failure.hint(advice),
            None => failure,
        }
    }

    /// What a session refused after something was written to it.
    pub(crate) fn late(subject: &str, error: &interleaf::Error) -> Self {
        let failure = Self::session(subject, error);
        match error.as_store().and_then(|error| advice(error.kind())) {
            Some(advice) => failure.hint(advice),
            None => failure,
        }
    }

    /// What is wrong with a file of lines, and where.
    pub(crate) fn line(name: &str, (line, error): &(Option<usize>, interleaf::Error)) -> Self {
        match line {
            Some(line) => Self::session(&format!("{name}: line {line}"), error),
            None => Self::session(name, error),
        }
    }

    /// What a session refused.
    pub(crate) fn session(subject: &str, error: &interleaf::Error) -> Self {
        if let Some(fault) = error.input_fault() {
            let failure = Self::new(subject, fault.message()).at(fault.place());
            return match fault.hint() {
                Some(hint) => failure.hint(hint),
                None => failure,
            };
        }
        if let Some(error) = error.as_store() {
            // It names the session itself.
            return Self::store("", error);
        }
        if error.kind() == interleaf::ErrorKind::Overtaken {
            return Self::new(subject, error.to_string()).of(Fault::Conflict);
        }
        match (error.as_conversation(), error.as_assemble(), error.as_wire()) {
            (Some(error), _, _) => Self::conversation(subject, error),
            (_, Some(error), _) => Self::assembly(subject, error),
            (_, _, Some(error)) => Self::wire(subject, error),
            (None, None, None) => Self::new(subject, error.to_string()),
        }
    }
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(cause) = error.source() {
        error = cause;
    }
    error.to_string()
}

fn fault(kind: ErrorKind) -> Fault {
    match kind {
        ErrorKind::Conflict => Fault::Conflict,
        ErrorKind::Busy => Fault::Busy,
        ErrorKind::Full => Fault::Full,
        ErrorKind::Unavailable => Fault::Unavailable,
        _ => Fault::Input,
    }
}

/// What the user could do where a transaction was refused.
fn advice(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::Conflict => Some("look at the session and try again"),
        ErrorKind::Busy => Some("try again"),
        ErrorKind::Full => Some("make room on the disk and try again"),
        _ => None,
    }
}

/// What the user could do otherwise.
fn hint(error: &store::Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::Unavailable if error.may_be_written() => {
            Some("look at the session before you try again")
        }
        ErrorKind::HasForks => Some("remove the forks first"),
        ErrorKind::Newer => {
            Some("nothing was changed; use the version that wrote it, or a later one")
        }
        ErrorKind::Corrupt => Some("the database was left as it is; restore a copy of it"),
        _ => None,
    }
}
