//! What an agent may do unasked.

use std::path::Path;

use interleaf::model::ToolCall;
use serde::Deserialize;
use serde_json::Value;

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

/// What `run` is called with, as far as it matters here.
#[derive(Deserialize)]
struct Command {
    command: String,
}

impl Permissions {
    /// Whether a person must be asked before a call runs: it changes something beside the
    /// session's own TODO list, information and notes, and nothing here allows it. What says what
    /// an agent may do is not changed unasked, by whatever tool, name or link; paths are those of
    /// the agent's folder.
    pub fn asks(&self, call: &ToolCall, effect: Effect, folder: &Path) -> bool {
        let name = call.name.as_str();
        if self.all || effect != Effect::Changes || tools::names("keeping").contains(&name) {
            return false;
        }
        if self.allow.iter().any(|allowed| tools::is_meant(allowed, name)) {
            // What cannot be read here, somebody else may read.
            let Ok(arguments) = call.arguments.parse::<Value>() else { return true };
            return match tools::names("writing").contains(&name) {
                // Beside the path, these have what is written; a command can go anywhere.
                true => arguments.get("path").is_some_and(|path| leads_to_own(path, folder)),
                false => leads_to_own(&arguments, folder),
            };
        }
        let command = call.arguments.parse::<Command>().ok().filter(|_| name == "run");
        let is_allowed =
            |command: Command| self.run.iter().any(|beginning| begins(&command.command, beginning));
        !command.is_some_and(is_allowed)
    }
}

/// Whether a text among these arguments, at any depth, leads to what says what an agent may do.
/// What a tool of somebody else's does with a text, nobody knows: each may be a path.
fn leads_to_own(arguments: &Value, folder: &Path) -> bool {
    match arguments {
        Value::String(text) => tools::leads_to_own(folder, text),
        Value::Array(list) => list.iter().any(|it| leads_to_own(it, folder)),
        Value::Object(fields) => fields
            .iter()
            .any(|(name, it)| tools::leads_to_own(folder, name) || leads_to_own(it, folder)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a command begins with these words and is one command: what a shell would run beside
/// it, or write to, was not allowed.
fn begins(command: &str, beginning: &str) -> bool {
    let is_one = !command.contains(['\n', ';', '&', '|', '`', '$', '<', '>', '(', ')', '{', '}']);
    let mut wanted = words(beginning).peekable();
    let mut words = words(command);
    is_one && wanted.peek().is_some() && wanted.all(|word| words.next() == Some(word))
}

/// The words of a command: a shell takes no other white space for the end of one.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\t']).filter(|word| !word.is_empty())
}
