//! What the steps hand on.

use hashbrown::HashMap;
use std::sync::Arc;

use interleaf_model::{CallId, Entry, Message, MessageId, Provenance, ToolCall};

use crate::allot::Targets;
use crate::carry::Carriers;
use crate::fence;
use crate::running::Prior;
use crate::{Element, LookAlikes, PartReport, Placement, Rebase, Step, Tokens};

/// A call at the end that was left open for its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The message that made it.
    pub message: MessageId,
    /// The call.
    pub call: ToolCall,
}

/// A request in the making.
#[derive(Default)]
pub(crate) struct Draft {
    /// The messages so far, each with its provenance.
    pub(crate) entries: Vec<Entry>,
    /// Where the context block went.
    pub(crate) placement: Option<Placement>,
    /// What the texts of the context are to be carried in.
    pub(crate) carriers: Carriers,
    /// What is said of the context for the first time, and stays.
    pub(crate) news: Vec<Element>,
    /// Why what was shown of the context cannot stay as it was.
    pub(crate) rebase: Option<Rebase>,
    /// What the context and the tools must come down to for the request to fit.
    pub(crate) remake: Option<Targets>,
    /// What each part may take and takes, if that is set.
    pub(crate) parts: Vec<PartReport>,
    /// What the parts cost, once they were counted.
    pub(crate) tokens: Option<Tokens>,
    /// The call ids that repair left, if it had to look at them.
    pub(crate) used: Option<HashMap<CallId, usize>>,
    /// The settled turns that come before, if the draft holds only what came since.
    pub(crate) prior: Option<Box<Prior>>,
}

impl Draft {
    pub(crate) fn of(view: &[Arc<Message>], look_alikes: LookAlikes) -> Self {
        let said = view.iter().map(|message| said(message, look_alikes));
        Self { entries: said.collect(), ..Self::default() }
    }

    /// How many messages there are after a step, the settled ones included.
    pub(crate) fn len_after(&self, step: Step) -> usize {
        self.entries.len() + self.prior.as_ref().map_or(0, |prior| prior.len_after(step))
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = &Arc<Message>> {
        self.entries.iter().map(|entry| &entry.message)
    }
}

/// A message of the view, as a request may say it.
pub(crate) fn said(message: &Arc<Message>, look_alikes: LookAlikes) -> Entry {
    let fenced = match look_alikes {
        LookAlikes::Escape => fence::fenced(message),
        LookAlikes::Keep => None,
    };
    match fenced {
        Some(fenced) => entry(fenced, Provenance::Altered),
        None => entry(message.clone(), Provenance::Original),
    }
}

pub(crate) fn entry(message: impl Into<Arc<Message>>, provenance: Provenance) -> Entry {
    Entry { message: message.into(), provenance }
}
