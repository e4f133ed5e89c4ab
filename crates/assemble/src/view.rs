//! What of a conversation a request shows, and what the request before it showed.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_model::{Message, MessageId, Prompt};

use crate::{Placement, Report, ShownContext, ToolOrder};

/// The visible messages of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// The messages, in order.
    pub messages: Vec<Arc<Message>>,
    /// Those of them that are pinned: they are never summarised or left out.
    pub pinned: BTreeSet<MessageId>,
}

impl View {
    /// These messages, none of them pinned.
    pub fn of(messages: impl IntoIterator<Item = Arc<Message>>) -> Self {
        Self { messages: messages.into_iter().collect(), pinned: BTreeSet::new() }
    }
}

/// The session's previous request, for the stable prefix and for rules that remember.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Previous {
    /// Its messages, in order; none, if only the placement is known.
    pub messages: Vec<Arc<Message>>,
    /// Where it had its context block.
    pub placement: Option<Placement>,
    /// What it showed of its context that stays shown.
    pub shown: ShownContext,
    /// The order of its tools, which stays.
    pub tools: ToolOrder,
}

impl Previous {
    /// A request of which only the messages are known.
    pub fn of(messages: impl IntoIterator<Item = Arc<Message>>) -> Self {
        Self { messages: messages.into_iter().collect(), ..Self::default() }
    }

    /// A request of which only is known where its context and its tools stood.
    pub fn placed(placement: Option<Placement>, shown: ShownContext, tools: ToolOrder) -> Self {
        Self { messages: Vec::new(), placement, shown, tools }
    }

    /// Whether more is known than where its context and its tools stood.
    pub fn knows_messages(&self) -> bool {
        !self.messages.is_empty() || !self.knows_places()
    }

    /// Whether it is known where its context or its tools stood.
    pub fn knows_places(&self) -> bool {
        let knows_context = self.placement.is_some() || !self.shown.elements().is_empty();
        knows_context || !self.tools.names().is_empty()
    }

    /// A request that was made after `before`, and its report.
    pub fn made(prompt: &Prompt, report: &Report, before: Option<&Self>) -> Self {
        let messages = prompt.whole().messages().cloned().collect();
        let mut shown = ShownContext::default();
        if let Some(elements) = &report.elements {
            shown = before.map(|before| before.shown.clone()).unwrap_or_default();
            shown.take(elements);
        }
        let mut tools = before.map(|before| before.tools.clone()).unwrap_or_default();
        tools.take(prompt.tools());
        Self { messages, placement: report.placement.clone(), shown, tools }
    }
}
