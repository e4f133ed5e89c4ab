//! Calls that came without an id: no two of a conversation get the same.
//!
//! An id that is made for a call comes from the call's place in its file or from its answer.
//! Another file or answer may give the same. The later call then gets a number, `_2` or more,
//! and the results that come for it are given that name.

use std::collections::HashSet;
use std::sync::Arc;

use interleaf_conversation::Conversation;
use interleaf_model::{AssistantPart, Body, CallId, Message, Parts, ToolCall};
use interleaf_wire::is_made_call_id;

use crate::hearing::NEAR;

/// The made ids of a conversation's calls. A log only grows: each message is looked at once.
#[derive(Debug, Default)]
pub(crate) struct MadeCalls {
    /// How much of the log was looked at.
    seen: usize,
    ids: HashSet<CallId>,
}

impl MadeCalls {
    /// A message that is to come next, with made ids that no call of the conversation has.
    pub(crate) fn fit(
        &mut self,
        message: Arc<Message>,
        conversation: &Conversation,
    ) -> Arc<Message> {
        let n_new = conversation.log_len().saturating_sub(self.seen);
        for message in conversation.log().rev().take(n_new) {
            let made = message.calls().map(|call| &call.id).filter(|id| is_made_call_id(id));
            self.ids.extend(made.cloned());
        }
        self.seen = conversation.log_len();
        match &message.body {
            Body::Assistant(parts) => self.with_free_ids(&message, parts),
            Body::Tool(result) => {
                let named = &result.call;
                let is_doubled = self.ids.contains(&numbered(named, 2));
                let is_unknown = is_made_call_id(named) && !self.ids.contains(named);
                let open = match (&result.name, is_doubled, is_unknown) {
                    (_, true, _) => {
                        open_call(conversation, |call| is_or_has_number(&call.id, named))
                    }
                    // It came without an id: it answers a call of its tool that has none either.
                    (Some(tool), _, true) => open_call(conversation, |call| {
                        call.name == *tool && is_made_call_id(&call.id)
                    }),
                    (None, _, true) | (_, false, false) => None,
                };
                open.and_then(|open| answering(&message, open))
            }
            Body::System(_) | Body::User(_) => None,
        }
        .unwrap_or(message)
    }

    fn with_free_ids(
        &self,
        message: &Message,
        parts: &Parts<AssistantPart>,
    ) -> Option<Arc<Message>> {
        if message.calls().all(|call| !self.ids.contains(&call.id)) {
            return None;
        }
        let free = |mut part: AssistantPart| {
            if let AssistantPart::Call(call) = &mut part
                && self.ids.contains(&call.id)
            {
                let mut numbers = 2..;
                let ids = std::iter::from_fn(|| Some(numbered(&call.id, numbers.next()?)));
                if let Some(id) = ids.into_iter().find(|id| !self.ids.contains(id)) {
                    call.id = id;
                }
            }
            part
        };
        let parts = Parts::new(parts.iter().cloned().map(free).collect()).ok()?;
        Some(Arc::new(Message { body: Body::Assistant(parts), ..message.clone() }))
    }
}

/// Whether a kept message is what came, but for the numbers that made ids got.
pub(crate) fn is_same(kept: &Body, came: &Body) -> bool {
    let (Body::Assistant(kept), Body::Assistant(came)) = (kept, came) else {
        return kept == came;
    };
    let is_same = |(kept, came): (&AssistantPart, &AssistantPart)| match (kept, came) {
        (AssistantPart::Call(kept), AssistantPart::Call(came)) => {
            let is_named = is_or_has_number(&kept.id, &came.id);
            is_named && *kept == ToolCall { id: kept.id.clone(), ..came.clone() }
        }
        (kept, came) => kept == came,
    };
    kept.len() == came.len() && kept.iter().zip(came.iter()).all(is_same)
}

/// Whether an id is a made one, or that one with a number.
fn is_or_has_number(id: &CallId, made: &CallId) -> bool {
    let number = id.as_str().strip_prefix(made.as_str());
    id == made || (is_made_call_id(id) && number.is_some_and(|rest| rest.starts_with('_')))
}

fn numbered(id: &CallId, number: usize) -> CallId {
    // An id with a suffix is not empty.
    CallId::new(format!("{id}_{number}")).unwrap_or_else(|_| id.clone())
}

/// The nearest call that is meant and waits for its result, as repair pairs the calls of one
/// id.
fn open_call(conversation: &Conversation, is_meant: impl Fn(&ToolCall) -> bool) -> Option<&CallId> {
    let mut answered = HashSet::new();
    let mut near = conversation.log().rev().take(NEAR);
    near.find_map(|said| {
        answered.extend(said.as_result().map(|result| &result.call));
        let mut calls = said.calls().filter(|call| is_meant(call)).map(|call| &call.id);
        calls.find(|id| !answered.contains(id))
    })
}

/// The result as that of another call; nothing, if it is that call's already.
fn answering(message: &Message, call: &CallId) -> Option<Arc<Message>> {
    let mut message = message.clone();
    match &mut message.body {
        Body::Tool(result) if result.call != *call => result.call = call.clone(),
        _ => return None,
    }
    Some(Arc::new(message))
}
