//! Which messages of a conversation an agent hears.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use interleaf_assemble::{Agent, Running, View};
use interleaf_conversation::Conversation;
use interleaf_model::{CallId, Message, MessageId, Origin};

use crate::preview::pinned;

/// How far back the call of a result is looked for.
pub(crate) const NEAR: usize = 1000;

/// An agent's ear, message by message. What the main agent leaves out is told in the report
/// of its requests; a sub-agent's view is its own conversation. A result that names no agent
/// is the result of whoever made the call.
#[derive(Debug, Default)]
pub(crate) struct Hearing {
    /// The calls of a sub-agent that have no result yet.
    open: HashSet<CallId>,
}

impl Hearing {
    /// The message as the agent hears it.
    pub(crate) fn hear(&mut self, agent: &Agent, message: &Arc<Message>) -> Option<Arc<Message>> {
        let Agent::Sub(name) = agent else { return Some(message.clone()) };
        let result = message.as_result();
        if agent.hears(message) {
            self.open.extend(message.calls().map(|call| call.id.clone()));
            if let Some(result) = result {
                self.open.remove(&result.call);
            }
            return Some(message.clone());
        }
        // Another's call with the same id is the nearer one.
        message.calls().for_each(|call| drop(self.open.take(&call.id)));
        let is_own = message.origin == Origin::Main
            && result.is_some_and(|result| self.open.remove(&result.call));
        is_own.then(|| of_agent(message, Origin::SubAgent(name.clone())))
    }
}

/// All of a conversation that an agent hears.
pub(crate) fn heard(conversation: &Conversation, agent: &Agent) -> (Vec<Arc<Message>>, Hearing) {
    let mut hearing = Hearing::default();
    let messages = conversation.visible().filter_map(|message| hearing.hear(agent, message));
    (messages.collect(), hearing)
}

/// How far an agent has followed a conversation. A view changes by appends within a batch,
/// and otherwise begins another batch.
#[derive(Debug, Default)]
pub(crate) struct Following {
    hearing: Hearing,
    pinned: BTreeSet<MessageId>,
    /// The batch whose view is known, and how many positions of it.
    seen: Option<(u32, usize)>,
}

/// What is new in a conversation, as an agent hears it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard {
    /// What is visible now, if that is not what was visible and what was said since.
    pub(crate) view: Option<View>,
    /// What was said since.
    pub(crate) said: Vec<Arc<Message>>,
    /// Which messages are pinned now, if these are others.
    pub(crate) pinned: Option<BTreeSet<MessageId>>,
}

impl Following {
    /// Takes in what is new in the conversation.
    pub(crate) fn follow(&mut self, conversation: &Conversation, agent: &Agent) -> Heard {
        let (batch, len) = (conversation.current_batch(), conversation.view_len());
        let pinned = pinned(conversation);
        let mut new = Heard::default();
        match self.seen {
            Some((seen, n)) if seen == batch && n <= len => {
                let positions = (n..len).filter_map(|position| conversation.visible_at(position));
                let heard = positions.filter_map(|message| self.hearing.hear(agent, message));
                new.said = heard.collect();
                new.pinned = (pinned != self.pinned).then(|| pinned.clone());
            }
            _ => {
                let (messages, hearing) = heard(conversation, agent);
                self.hearing = hearing;
                new.view = Some(View { messages, pinned: pinned.clone() });
            }
        }
        (self.seen, self.pinned) = (Some((batch, len)), pinned);
        new
    }
}

impl Heard {
    /// Takes it into what requests are made from.
    pub(crate) fn tell(self, running: &mut Running) {
        if let Some(view) = self.view {
            running.replace_view(view);
        }
        self.said.into_iter().for_each(|message| running.append(message));
        if let Some(pinned) = self.pinned {
            running.set_pinned(pinned);
        }
    }
}

/// A new message, with the agent whose call it answers if it names none.
pub(crate) fn with_caller(message: Arc<Message>, conversation: &Conversation) -> Arc<Message> {
    let (Some(result), Origin::Main) = (message.as_result(), &message.origin) else {
        return message;
    };
    let mut near = conversation.log().rev().take(NEAR);
    let caller = near.find(|said| said.calls().any(|call| call.id == result.call));
    match caller.map(|caller| &caller.origin) {
        Some(origin @ Origin::SubAgent(_)) => of_agent(&message, origin.clone()),
        Some(Origin::Main | Origin::Internal) | None => message,
    }
}

fn of_agent(message: &Message, origin: Origin) -> Arc<Message> {
    Arc::new(message.clone().with_origin(origin))
}
