//! A session's requests, one after the other.

use std::sync::Arc;

use interleaf_assemble::{OpenCall, Outcome, Recipe, Report, Running, View};
use interleaf_model::{Message, Requirements};
use interleaf_wire::{Encoded, Options, SessionEncoder, Vendor};

use crate::Error;

/// Makes the requests of a session, each from the one before: what did not change is
/// neither assembled nor written again. The bytes are those of a request that is made
/// from scratch.
#[derive(Default)]
pub struct Requests {
    running: Running,
    encoder: SessionEncoder,
}

/// What comes next.
#[derive(Debug)]
pub enum Next {
    /// A request.
    Send {
        /// Its body.
        body: Encoded,
        /// What was done to make it.
        report: Box<Report>,
    },
    /// No request: the caller said that results for these calls are still to come.
    Wait(Vec<OpenCall>),
}

impl Requests {
    /// A session in which nothing has been said.
    pub fn new() -> Self {
        Self::default()
    }

    /// A session with these visible messages.
    pub fn of(view: impl IntoIterator<Item = Arc<Message>>) -> Self {
        Self { running: Running::of(View::of(view)), encoder: SessionEncoder::new() }
    }

    /// Takes in the next message.
    pub fn append(&mut self, message: impl Into<Arc<Message>>) {
        self.running.append(message);
    }

    /// Takes in what an operation has left visible.
    pub fn replace_view(&mut self, view: impl IntoIterator<Item = Arc<Message>>) {
        self.running.replace_view(View::of(view));
    }

    /// Makes the next request.
    ///
    /// # Errors
    /// If there is nothing to say, it does not fit, or the API cannot say it.
    pub fn next(
        &mut self,
        recipe: &Recipe,
        vendor: &Vendor,
        options: &Options,
    ) -> Result<Next, Error> {
        recipe.check_agent().map_err(Error::assemble)?;
        let assembly =
            self.running.assemble(recipe, Requirements::default()).map_err(Error::assemble)?;
        match assembly.outcome {
            Outcome::Waiting(calls) => Ok(Next::Wait(calls)),
            Outcome::Ready(prompt) => {
                let body = self.encoder.encode(&prompt, vendor, options).map_err(Error::wire)?;
                Ok(Next::Send { body, report: Box::new(assembly.report) })
            }
        }
    }
}
