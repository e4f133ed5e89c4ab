//! What keeps an agent from running at all.

use std::fmt;

/// What keeps an agent from running at all. What happens while it runs is an
/// [`End`](crate::End).
#[derive(Debug)]
pub struct Error(Repr);

#[derive(Debug)]
enum Repr {
    Session(interleaf::Error),
    Store(interleaf::store::Error),
    Folder(std::io::Error),
    Agent(String),
    Plan(interleaf::plan::Error),
}

impl Error {
    pub(crate) fn folder(error: std::io::Error) -> Self {
        Self(Repr::Folder(error))
    }

    pub(crate) fn store(error: interleaf::store::Error) -> Self {
        Self(Repr::Store(error))
    }

    /// An agent is not as it must be.
    pub(crate) fn agent(name: &str, rule: impl fmt::Display) -> Self {
        Self::rule(format!("the agent {name}: {rule}"))
    }

    /// A rule is broken.
    pub(crate) fn rule(rule: impl Into<String>) -> Self {
        Self(Repr::Agent(rule.into()))
    }

    /// A plan, or one of its steps, is not as it must be.
    pub(crate) fn plan(error: interleaf::plan::Error) -> Self {
        Self(Repr::Plan(error))
    }

    /// What is wrong with the plan, if that is what keeps it from running.
    pub fn as_plan(&self) -> Option<&interleaf::plan::Error> {
        match &self.0 {
            Repr::Plan(error) => Some(error),
            Repr::Session(_) | Repr::Store(_) | Repr::Folder(_) | Repr::Agent(_) => None,
        }
    }
}

impl Error {
    /// What the session refused, if that is what keeps it from running.
    pub fn as_session(&self) -> Option<&interleaf::Error> {
        match &self.0 {
            Repr::Session(error) => Some(error),
            Repr::Store(_) | Repr::Folder(_) | Repr::Agent(_) | Repr::Plan(_) => None,
        }
    }

    /// What the store refused, if that is what keeps it from running.
    pub fn as_store(&self) -> Option<&interleaf::store::Error> {
        match &self.0 {
            Repr::Session(error) => error.as_store(),
            Repr::Store(error) => Some(error),
            Repr::Folder(_) | Repr::Agent(_) | Repr::Plan(_) => None,
        }
    }
}

impl From<interleaf::Error> for Error {
    fn from(error: interleaf::Error) -> Self {
        Self(Repr::Session(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Session(error) => error.fmt(f),
            Repr::Store(error) => error.fmt(f),
            Repr::Folder(error) => write!(f, "the folder of the program is not known: {error}"),
            Repr::Agent(rule) => f.write_str(rule),
            Repr::Plan(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Repr::Session(error) => Some(error),
            Repr::Store(error) => Some(error),
            Repr::Folder(error) => Some(error),
            Repr::Plan(error) => Some(error),
            Repr::Agent(_) => None,
        }
    }
}
