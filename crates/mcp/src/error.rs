//! What keeps a server, or a call, from being of use.

use std::fmt;

/// What keeps a server, or a call, from being of use. Its words are for whoever called, which
/// may be a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    server: String,
    kind: ErrorKind,
    why: String,
}

/// What went wrong, to act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The settings cannot be used.
    Settings,
    /// The server cannot be reached: it did not start, or not answer, or not speak MCP.
    Unreached,
    /// It has no tool of this name, and never had.
    UnknownTool,
    /// It had a tool of this name, and has it no longer.
    GoneTool,
    /// The arguments are no JSON object.
    Arguments,
    /// The call took too long.
    Timeout,
    /// The connection was lost while the call ran.
    Lost,
    /// The server refused the call, or answered with something that is no result.
    Refused,
}

impl Error {
    pub(crate) fn new(server: &str, kind: ErrorKind, why: impl Into<String>) -> Self {
        Self { server: server.to_owned(), kind, why: why.into() }
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The server's name.
    pub fn server(&self) -> &str {
        &self.server
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the MCP server {}: {}", self.server, self.why)
    }
}

impl std::error::Error for Error {}
