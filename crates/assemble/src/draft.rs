//! What the steps hand on.

use std::sync::Arc;

use interleaf_model::{Entry, Message, MessageId, Provenance, ToolCall};

use crate::{Placement, Tokens};

/// A call at the end that was left open for its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The message that made it.
    pub message: MessageId,
    /// The call.
    pub call: ToolCall,
}

/// A request in the making.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    /// The messages so far, each with its provenance.
    pub(crate) entries: Vec<Entry>,
    /// Calls at the end that were left open for their results.
    pub(crate) open: Vec<OpenCall>,
    /// Where the context block went.
    pub(crate) placement: Option<Placement>,
    /// What the parts cost, once they were counted.
    pub(crate) tokens: Option<Tokens>,
}

impl Draft {
    pub(crate) fn of(view: &[Arc<Message>]) -> Self {
        let original = |message: &Arc<Message>| entry(message.clone(), Provenance::Original);
        Self { entries: view.iter().map(original).collect(), ..Self::default() }
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = &Arc<Message>> {
        self.entries.iter().map(|entry| &entry.message)
    }
}

pub(crate) fn entry(message: impl Into<Arc<Message>>, provenance: Provenance) -> Entry {
    Entry { message: message.into(), provenance }
}
