//! Which messages of a conversation an agent hears.

use std::collections::HashSet;
use std::sync::Arc;

use interleaf_assemble::Agent;
use interleaf_conversation::Conversation;
use interleaf_model::{CallId, Message, Origin};

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
