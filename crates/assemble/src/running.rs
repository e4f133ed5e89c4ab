//! A session's requests, each made from the one before.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_model::{Message, MessageId, Requirements};

use crate::{Assembly, Error, Outcome, Previous, Recipe, View, assemble};

/// A conversation that grows, and the requests made from it.
///
/// The outcome and the report are the same as those of [`assemble`] on the whole view
/// with the session's previous request.
#[derive(Default)]
pub struct Running {
    view: View,
    previous: Option<Previous>,
}

impl Running {
    /// A conversation in which nothing has been said.
    pub fn new() -> Self {
        Self::default()
    }

    /// The conversation with this view: the start of a session.
    pub fn of(view: View) -> Self {
        Self { view, previous: None }
    }

    /// Takes in the next message.
    pub fn append(&mut self, message: impl Into<Arc<Message>>) {
        self.view.messages.push(message.into());
    }

    /// Takes in what an operation has left visible. What the next request has in common
    /// with the one before is still known.
    pub fn replace_view(&mut self, view: View) {
        self.view = view;
    }

    /// Takes in which messages are pinned now.
    pub fn set_pinned(&mut self, pinned: BTreeSet<MessageId>) {
        self.view.pinned = pinned;
    }

    /// Makes a request.
    ///
    /// # Errors
    /// As [`assemble`].
    pub fn assemble(&mut self, recipe: &Recipe, requires: Requirements) -> Result<Assembly, Error> {
        let assembly = assemble(&self.view, recipe, requires, self.previous.as_ref())?;
        if let Outcome::Ready(prompt) = &assembly.outcome {
            self.previous = Some(Previous::made(prompt, assembly.report.placement.as_ref()));
        }
        Ok(assembly)
    }
}
