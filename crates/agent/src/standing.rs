//! Where a session stands before it is resumed.

use std::fmt;

use interleaf::Session;
use interleaf::model::{Role, shown};

/// How the main agent's conversation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// Nothing was said yet.
    New,
    /// Calls wait for their results; these tools were called.
    Calls(Vec<String>),
    /// What was said last, or the results of calls, wait for an answer.
    Unanswered(Role),
    /// The last answer broke off.
    BrokenOff,
    /// The agent has said its last word, and nobody has said anything since.
    Said(String),
}

impl Standing {
    /// How a session stands.
    pub fn of(session: &mut Session) -> Self {
        let calls = session.open_calls();
        if !calls.is_empty() {
            return Self::Calls(calls.iter().map(|call| call.name.to_string()).collect());
        }
        if let Some(answer) = session.main_agent().answer() {
            return Self::Said(answer.text().into_owned());
        }
        let main = interleaf::assemble::Agent::Main;
        let mut heard = session.conversation().visible().rev().filter(|said| main.hears(said));
        match heard.find(|said| said.role() != Role::System).map(|said| said.role()) {
            None => Self::New,
            Some(Role::Assistant) => Self::BrokenOff,
            Some(role) => Self::Unanswered(role),
        }
    }

    /// Whether an agent that is started now has something to do.
    pub fn goes_on(&self) -> bool {
        !matches!(self, Self::New | Self::Said(_))
    }
}

/// In a line, for a person.
impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New => f.write_str("nothing was said yet"),
            Self::Calls(tools) => {
                let tools: Vec<_> = tools.iter().map(|name| shown(name)).collect();
                write!(f, "interrupted: calls wait for their results: {}", tools.join(", "))
            }
            Self::Unanswered(Role::Tool) => {
                f.write_str("interrupted: the results of calls wait for an answer")
            }
            Self::Unanswered(_) => f.write_str("what was said last has no answer yet"),
            Self::BrokenOff => f.write_str("interrupted: the last answer broke off"),
            Self::Said(text) => {
                let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let cut: String = words.chars().take(200).collect();
                let more = if cut.len() < words.len() { "…" } else { "" };
                write!(f, "the agent has said its last word: {}{more}", shown(&cut))
            }
        }
    }
}
