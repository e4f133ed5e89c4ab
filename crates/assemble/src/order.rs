//! What the steps of one request go by.

use std::collections::BTreeSet;

use interleaf_model::{Message, MessageId, Origin, Requirements};

use crate::tokens::Counting;
use crate::{Agent, Placement, Recipe};

/// What the steps of one request go by, beside the draft itself.
#[derive(Clone, Copy)]
pub(crate) struct Order<'a> {
    pub(crate) recipe: &'a Recipe,
    /// What the target asks for.
    pub(crate) requires: Requirements,
    pub(crate) pinned: &'a BTreeSet<MessageId>,
    /// Whether the view tells a sub-agent's messages from the main agent's. Where it
    /// does not, the whole view is the sub-agent's own conversation.
    pub(crate) has_own: bool,
    /// Where the previous request had its context block.
    pub(crate) placement: Option<&'a Placement>,
    /// What counts tokens, at one rate for the whole request.
    pub(crate) counting: Option<Counting<'a>>,
}

impl Order<'_> {
    /// The origin given to messages that the steps make: the agent's whose request it is.
    pub(crate) fn own_origin(&self) -> Origin {
        match &self.recipe.agent {
            Agent::Sub(name) if self.has_own => Origin::SubAgent(name.clone()),
            Agent::Main | Agent::Sub(_) => Origin::Main,
        }
    }
}

/// Whether a message is known to be this sub-agent's own.
pub(crate) fn is_own(agent: &Agent, message: &Message) -> bool {
    match (agent, &message.origin) {
        (Agent::Sub(own), Origin::SubAgent(name)) => name == own,
        (Agent::Main, _) | (Agent::Sub(_), Origin::Main | Origin::Internal) => false,
    }
}
