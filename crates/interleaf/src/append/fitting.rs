//! Messages from elsewhere, with ids that fit a conversation.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use interleaf_conversation::Conversation;
use interleaf_model::{Message, MessageId, Timestamp};

/// Messages that are to be appended. They are changed where they stand, so that many of them
/// are not held twice, and can be fitted again after a conflict.
pub(super) struct Fitting {
    messages: Vec<Arc<Message>>,
    /// Which of them have no id of their own, and are named by their place in the
    /// conversation.
    by_place: Vec<bool>,
    /// Those that had the id of another message, and which it was.
    renamed: BTreeMap<usize, MessageId>,
}

impl Fitting {
    pub(super) fn of(messages: Vec<Arc<Message>>) -> Self {
        let by_place = messages.iter().map(|message| message.id.is_unassigned()).collect();
        Self { messages, by_place, renamed: BTreeMap::new() }
    }

    /// The messages, each with an id that is free, or with none; the conversation then gives
    /// it one. Those that do not say when they were said were said now.
    pub(super) fn fit(&mut self, conversation: &Conversation, now: Timestamp) -> &[Arc<Message>] {
        let several = self.messages.len() > 1;
        let first = conversation.log_len();
        // Those of messages that are not named by their place.
        let mut claimed: HashSet<MessageId> = HashSet::new();
        for i in 0..self.messages.len() {
            let (before, rest) = self.messages.split_at_mut(i);
            let Some(message) = rest.first_mut() else { break };
            let place = first + i;
            if message.at.is_none() {
                Arc::make_mut(message).at = Some(now);
            }
            let is_taken = |id: &MessageId| {
                let index = || id.as_str().strip_prefix('m')?.parse::<usize>().ok();
                let by_place = || before.get(index()?.checked_sub(first)?);
                let is_placed = by_place().is_some_and(|placed| placed.id == *id);
                is_placed || claimed.contains(id) || conversation.find(id).is_some()
            };
            let mut by_place = self.by_place[i] || self.renamed.contains_key(&i);
            if !by_place && several && is_taken(&message.id) {
                by_place = true;
                self.renamed.insert(i, message.id.clone());
            }
            if by_place {
                let id = Some(MessageId::of_index(place)).filter(|id| !is_taken(id));
                Arc::make_mut(message).id = id.unwrap_or_default();
            } else {
                claimed.insert(message.id.clone());
            }
        }
        &self.messages
    }

    /// Those that had the id of another message, by their place among these.
    pub(super) fn renamed(&self) -> impl Iterator<Item = (u32, &MessageId)> {
        self.renamed.iter().map(|(i, was)| (*i as u32, was))
    }
}
