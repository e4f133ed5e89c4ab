//! The tools that were called.

use std::sync::Arc;

use hashbrown::HashSet;
use interleaf_model::{Message, ToolName};

/// The tools that are called in the first messages of a view.
#[derive(Debug, Default)]
pub(crate) struct Called {
    names: HashSet<ToolName>,
    /// How many messages were looked at.
    n: usize,
}

impl Called {
    pub(crate) fn of(view: &[Arc<Message>]) -> Self {
        let mut called = Self::default();
        called.extend(view);
        called
    }

    /// Takes in what has been appended to the view.
    pub(crate) fn extend(&mut self, view: &[Arc<Message>]) {
        let new = view.get(self.n..).unwrap_or_default();
        for call in new.iter().flat_map(|message| message.calls()) {
            self.names.get_or_insert_with(&call.name, Clone::clone);
        }
        self.n = view.len();
    }

    pub(super) fn has(&self, name: &ToolName) -> bool {
        self.names.contains(name)
    }
}
