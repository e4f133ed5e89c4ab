//! Messages from elsewhere, with ids that fit a conversation.
//!
//! A reader names messages and calls without an id by their place in the file. That place is
//! not the one in the conversation.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use interleaf_conversation::Conversation;
use interleaf_model::{AssistantPart, Body, CallId, Message, MessageId, Parts, Timestamp};

/// Messages that are to be appended. They are changed where they stand, so that many of them
/// are not held twice, and can be fitted again after a conflict.
pub(super) struct Fitting {
    messages: Vec<Arc<Message>>,
    /// Which of them are named by their place: in the file at first, then in the conversation.
    by_place: Vec<bool>,
    /// The place of the first of them when they were last fitted.
    fitted_at: usize,
    /// Those that had the id of another message, and which it was.
    renamed: BTreeMap<usize, MessageId>,
}

impl Fitting {
    pub(super) fn of(messages: Vec<Arc<Message>>) -> Self {
        let is_by_place = |(i, message): (usize, &Arc<Message>)| {
            message.id.is_unassigned() || message.id == MessageId::of_index(i)
        };
        let by_place = messages.iter().enumerate().map(is_by_place).collect();
        Self { messages, by_place, fitted_at: 0, renamed: BTreeMap::new() }
    }

    /// The messages, each with an id that is free, or with none; the conversation then gives
    /// it one. Those that do not say when they were said were said now.
    pub(super) fn fit(&mut self, conversation: &Conversation, now: Timestamp) -> &[Arc<Message>] {
        let several = self.messages.len() > 1;
        let first = conversation.log_len();
        // Those of messages that are not named by their place.
        let mut claimed: HashSet<MessageId> = HashSet::new();
        let mut calls = Calls { conversation, taken: None, new: HashMap::new() };
        for i in 0..self.messages.len() {
            let (before, rest) = self.messages.split_at_mut(i);
            let Some(message) = rest.first_mut() else { break };
            let place = first + i;
            if message.at.is_none() {
                Arc::make_mut(message).at = Some(now);
            }
            calls.fit(message, [i, self.fitted_at + i], place);
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
        self.fitted_at = first;
        &self.messages
    }

    /// Those that had the id of another message, by their place among these.
    pub(super) fn renamed(&self) -> impl Iterator<Item = (u32, &MessageId)> {
        self.renamed.iter().map(|(i, was)| (*i as u32, was))
    }
}

/// The calls of a conversation, and what those that come are called in it.
struct Calls<'a> {
    conversation: &'a Conversation,
    /// The ids of all calls that were made; looked for when one is needed.
    taken: Option<HashSet<&'a CallId>>,
    new: HashMap<CallId, CallId>,
}

impl Calls<'_> {
    /// Gives a call that is named by one of these places, and a result of such a call, the
    /// name of its place in the conversation, if the other is taken there.
    fn fit(&mut self, message: &mut Arc<Message>, places: [usize; 2], place: usize) {
        if let Some(id) = message.as_result().and_then(|result| self.new.get(&result.call)) {
            let id = id.clone();
            if let Body::Tool(result) = &mut Arc::make_mut(message).body {
                result.call = id;
            }
        }
        let by_place = |at: usize, n: usize| CallId::new(format!("call_{at}_{n}")).ok();
        let mut changed = false;
        for (n, call) in message.calls().enumerate() {
            if places.iter().any(|at| by_place(*at, n).as_ref() == Some(&call.id))
                && self.is_taken(&call.id)
                && let Some(id) = by_place(place, n)
            {
                changed = true;
                self.new.insert(call.id.clone(), id);
            }
        }
        if changed && let Body::Assistant(parts) = &mut Arc::make_mut(message).body {
            let renamed = |mut part: AssistantPart| {
                if let AssistantPart::Call(call) = &mut part
                    && let Some(id) = self.new.get(&call.id)
                {
                    call.id = id.clone();
                }
                part
            };
            let new = parts.iter().cloned().map(renamed).collect();
            // There are as many parts as before.
            if let Ok(new) = Parts::new(new) {
                *parts = new;
            }
        }
    }

    fn is_taken(&mut self, id: &CallId) -> bool {
        let said = self.conversation.log().flat_map(|message| message.calls());
        self.taken.get_or_insert_with(|| said.map(|call| &call.id).collect()).contains(id)
    }
}
