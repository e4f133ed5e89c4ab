//! Messages from elsewhere, with ids that fit a conversation.
//!
//! A reader names messages and calls without an id by their place in the file. That place is
//! not the one in the conversation.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use interleaf_conversation::Conversation;
use interleaf_model::{AssistantPart, Body, CallId, Message, MessageId, Parts};

use crate::read::Renamed;

/// The messages, each with an id that is free or with none; the conversation then gives it
/// one. What was renamed beside those that had no id is told.
pub(super) fn fitting(
    mut messages: Vec<Arc<Message>>,
    conversation: &Conversation,
    renamed: &mut Vec<Renamed>,
) -> Vec<Arc<Message>> {
    let several = messages.len() > 1;
    let mut claimed: HashSet<MessageId> = HashSet::new();
    let mut calls = Calls { conversation, taken: None, new: HashMap::new() };
    for (i, message) in messages.iter_mut().enumerate() {
        if message.id == MessageId::of_index(i) {
            Arc::make_mut(message).id = MessageId::default();
        }
        let place = conversation.log_len() + i;
        calls.fit(message, i, place);
        let is_taken = claimed.contains(&message.id) || conversation.find(&message.id).is_some();
        if several && is_taken {
            let was = std::mem::take(&mut Arc::make_mut(message).id);
            renamed.push(Renamed { index: place as u32, was, now: MessageId::default() });
        }
        claimed.insert(match message.id.is_unassigned() {
            true => MessageId::of_index(place),
            false => message.id.clone(),
        });
    }
    messages
}

/// The calls of a conversation, and what those that come are called in it.
struct Calls<'a> {
    conversation: &'a Conversation,
    /// The ids of all calls that were made; looked for when one is needed.
    taken: Option<HashSet<&'a CallId>>,
    new: HashMap<CallId, CallId>,
}

impl Calls<'_> {
    /// Gives a call that is named by its place in the file, and a result of such a call, the
    /// name of its place in the conversation, if the other is taken there.
    fn fit(&mut self, message: &mut Arc<Message>, in_file: usize, place: usize) {
        if let Some(id) = message.as_result().and_then(|result| self.new.get(&result.call)) {
            let id = id.clone();
            if let Body::Tool(result) = &mut Arc::make_mut(message).body {
                result.call = id;
            }
        }
        let by_place = |at: usize, n: usize| CallId::new(format!("call_{at}_{n}")).ok();
        let mut changed = false;
        for (n, call) in message.calls().enumerate() {
            if by_place(in_file, n).as_ref() == Some(&call.id)
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
