//! What an agent may do unasked.

use interleaf::model::ToolCall;
use serde::Deserialize;

use crate::{Effect, tools};

/// What an agent may do unasked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Permissions {
    /// Tools, and groups of tools, that need not ask.
    pub allow: Vec<String>,
    /// How commands begin that `run` need not ask for.
    pub run: Vec<String>,
    /// Whether everything is allowed.
    pub all: bool,
}

/// What a tool that writes is called with, as far as it matters here.
#[derive(Deserialize)]
struct Written {
    path: String,
}

/// Files and folders that say what an agent may do. What may write otherwise may not write these
/// unasked: an agent would allow itself the rest.
const OWN: [&str; 6] = ["interleaf.toml", ".interleaf", ".claude", ".opencode", ".codex", ".git"];

/// What `run` is called with, as far as it matters here.
#[derive(Deserialize)]
struct Command {
    command: String,
}

impl Permissions {
    /// Whether a person must be asked before a call runs: it changes something beside the
    /// session's own TODO list, information and notes, and nothing here allows it.
    pub fn asks(&self, call: &ToolCall, effect: Effect) -> bool {
        let name = call.name.as_str();
        if self.all || effect != Effect::Changes || tools::names("keeping").contains(&name) {
            return false;
        }
        if self.allow.iter().any(|allowed| tools::is_meant(allowed, name)) {
            let written = call.arguments.parse::<Written>().ok();
            let written = written.filter(|_| tools::names("writing").contains(&name));
            return written.is_some_and(|written| {
                let mut parts = written.path.split(['/', '\\']);
                parts.any(|part| OWN.iter().any(|own| part.eq_ignore_ascii_case(own)))
            });
        }
        let command = call.arguments.parse::<Command>().ok().filter(|_| name == "run");
        let is_allowed =
            |command: Command| self.run.iter().any(|beginning| begins(&command.command, beginning));
        !command.is_some_and(is_allowed)
    }
}

/// Whether a command begins with these words and is one command: what a shell would run beside
/// it, or write to, was not allowed.
fn begins(command: &str, beginning: &str) -> bool {
    let mut words = command.split_whitespace();
    let beginning = beginning.split_whitespace();
    let is_one = !command.contains(['\n', ';', '&', '|', '`', '$', '<', '>', '(', ')', '{', '}']);
    let mut wanted = beginning.peekable();
    is_one && wanted.peek().is_some() && wanted.all(|word| words.next() == Some(word))
}
