//! What of a conversation a request shows, and what the request before it showed.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_model::{Message, MessageId, Prompt};

use crate::Placement;

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
}

impl Previous {
    /// A request of which only the messages are known.
    pub fn of(messages: impl IntoIterator<Item = Arc<Message>>) -> Self {
        Self { messages: messages.into_iter().collect(), placement: None }
    }

    /// A request of which only the place of its context block is known.
    pub fn placed(placement: Placement) -> Self {
        Self { messages: Vec::new(), placement: Some(placement) }
    }

    /// Whether more is known than where its block stood.
    pub fn knows_messages(&self) -> bool {
        !self.messages.is_empty() || self.placement.is_none()
    }

    /// A request that was made, and where its context block went.
    pub fn made(prompt: &Prompt, placement: Option<&Placement>) -> Self {
        let messages = prompt.whole().messages().cloned().collect();
        Self { messages, placement: placement.cloned() }
    }
}
