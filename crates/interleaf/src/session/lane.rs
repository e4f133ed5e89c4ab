//! What one agent's requests are made from, carried from one to the next.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_assemble::{Agent, Assembly, Ledger, Outcome, Recipe, Running, View};
use interleaf_conversation::Conversation;
use interleaf_model::{Message, MessageId};
use interleaf_wire::{Encoded, SessionEncoder};

use crate::preview::{is_in_view, pinned};
use crate::{Error, Target};

/// What one agent's requests are made from. It follows the conversation on its own: a
/// view changes by appends within a batch, and otherwise begins another batch.
#[derive(Default)]
pub(super) struct Lane {
    running: Running,
    encoder: SessionEncoder,
    pinned: BTreeSet<MessageId>,
    /// The batch whose view is known, and how many positions of it.
    seen: Option<(u32, usize)>,
    /// The last request, for its answer.
    pub(super) asked: Option<Asked>,
}

/// What is remembered of a request until it is answered.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) number: u64,
    pub(super) vendor: String,
    pub(super) model: String,
    /// What counted its tokens, and how many.
    pub(super) counted: Option<(Arc<Ledger>, u64)>,
}

/// A request, or what it waits for.
pub(super) struct Made {
    pub(super) assembly: Assembly,
    /// Its body, if it is ready.
    pub(super) body: Option<Encoded>,
    /// What counted its tokens.
    pub(super) ledger: Option<Arc<Ledger>>,
}

impl Lane {
    /// Makes a request from the conversation as it is.
    pub(super) fn make(
        &mut self,
        conversation: &Conversation,
        recipe: &Recipe,
        target: &Target,
    ) -> Result<Made, Error> {
        self.follow(conversation, &recipe.agent);
        let requires = target.requirements();
        let assembly = self.running.preview(recipe, requires).map_err(Error::assemble)?;
        let body = match &assembly.outcome {
            Outcome::Waiting(_) => None,
            Outcome::Ready(prompt) => {
                let body = self.encoder.encode(prompt, &target.vendor, &target.options);
                Some(body.map_err(Error::wire)?)
            }
        };
        Ok(Made { assembly, body, ledger: recipe.ledger.clone() })
    }

    /// Takes a request for the one before the next.
    pub(super) fn sent(&mut self, assembly: &Assembly, asked: Asked) {
        self.running.remember(assembly);
        self.asked = Some(asked);
    }

    /// Takes in what is new in the conversation.
    fn follow(&mut self, conversation: &Conversation, agent: &Agent) {
        let own = |message: &&Arc<Message>| is_in_view(agent, message);
        let (batch, len) = (conversation.current_batch(), conversation.view_len());
        let pinned = pinned(conversation);
        match self.seen {
            Some((seen, n)) if seen == batch && n <= len => {
                let new = (n..len).filter_map(|position| conversation.visible_at(position));
                new.filter(own).cloned().for_each(|message| self.running.append(message));
                if pinned != self.pinned {
                    self.running.set_pinned(pinned.clone());
                }
            }
            _ => {
                let messages = conversation.visible().filter(own).cloned().collect();
                self.running.replace_view(View { messages, pinned: pinned.clone() });
            }
        }
        (self.seen, self.pinned) = (Some((batch, len)), pinned);
    }
}
