//! What the steps hand on.

use std::sync::Arc;

use interleaf_model::{CallId, Entry, Message, Provenance, Settled};

use crate::{Placement, Tokens};

/// A request in the making.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    /// The messages so far, each with its provenance.
    pub(crate) entries: Vec<Entry>,
    /// Calls at the end that were left open for their results.
    pub(crate) open: Vec<CallId>,
    /// Where the context block went.
    pub(crate) placement: Option<Placement>,
    /// What the parts cost, once they were counted.
    pub(crate) tokens: Option<Tokens>,
    /// What came before, if the draft holds only what came since.
    pub(crate) prior: Option<Arc<Prior>>,
}

/// The beginning of a conversation that has been through the steps.
#[derive(Debug, Clone)]
pub(crate) struct Prior {
    /// Its turns.
    pub(crate) settled: Arc<Settled>,
    /// The system messages that stood among them.
    pub(crate) system: Vec<Entry>,
    /// What its turns cost, if that was counted.
    pub(crate) tokens: u64,
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
