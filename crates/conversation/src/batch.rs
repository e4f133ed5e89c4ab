//! Batches: the stretches between operations that change the view.

use imbl::{OrdMap, Vector};
use interleaf_model::{AgentName, Usage};

use crate::marks::Marks;

/// A stretch of the conversation, begun by an operation (the first: by the start).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// What began it: `start`, the operation's name, `roll_back`, `reset`.
    pub cause: String,
    /// The lowest log index that was visible when it began, if any was.
    pub boundary: Option<u32>,
    /// How it ended; the current batch has not.
    pub(crate) end: Option<End>,
}

/// What a rollback to the end of a batch restores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) view: Vector<u32>,
    pub(crate) marks: Marks,
    pub(crate) cumulative: Usage,
    /// The same of each sub-agent.
    pub(crate) agents: OrdMap<AgentName, Usage>,
}

impl Batch {
    pub(crate) fn first() -> Self {
        Self { cause: "start".to_owned(), boundary: None, end: None }
    }

    /// How many messages were visible at its end; the current batch has none yet.
    pub fn view_len_at_end(&self) -> Option<usize> {
        self.end.as_ref().map(|end| end.view.len())
    }
}
