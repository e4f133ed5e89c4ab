//! The first verb: a request from the session as it is.

use interleaf_assemble::{Agent, Outcome, Recipe, Report};
use interleaf_model::{AgentName, Json};
use interleaf_store::{LastBody, NewRequest};
use interleaf_wire::{Decoder, Encoded, Http};

use super::Session;
use super::lane::{Asked, Made};
use crate::{Error, Next, Request, Target};

impl Session {
    /// Makes the next request, and notes it in the store: its exact bytes can be had
    /// again. What did not change since the last one is neither assembled, written nor
    /// stored again.
    ///
    /// What the recipe leaves out, the session adds from its records: the summary, the
    /// TODO list, useful information and folder notes. A request whose records another
    /// node has changed meanwhile is not noted: that is a conflict.
    ///
    /// # Errors
    /// If there is nothing to say, it does not fit, the API cannot say it, a key is needed
    /// and none is given, or another writer was first.
    pub async fn request(&mut self, recipe: &Recipe, target: &Target) -> Result<Next, Error> {
        let http = target.vendor.http(&target.options, target.key.as_ref()).map_err(Error::wire)?;
        let made = self.made(recipe, target).await?;
        let number = match &made.body {
            Some(body) => {
                let agent = agent_of(recipe);
                let asked = (target.options.model.as_str(), target.vendor.name.as_ref());
                Some(self.note(agent, asked, body, &made.assembly.report).await?)
            }
            None => None,
        };
        if let (Some(number), Some(_)) = (number, &made.body) {
            let tokens = made.assembly.report.tokens.as_ref();
            let asked = Asked {
                number,
                vendor: target.vendor.name.to_string(),
                model: target.options.model.to_string(),
                counted: recipe.ledger.clone().zip(tokens.map(|tokens| tokens.total())),
            };
            self.lane(agent_of(recipe)).sent(&made.assembly, asked);
        }
        Ok(next(made, number.map(|number| (number, http)), target))
    }

    /// Makes the next request to look at it. Nothing is noted, and the next request is
    /// compared with the last one that was.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub async fn preview(&mut self, recipe: &Recipe, target: &Target) -> Result<Next, Error> {
        let made = self.made(recipe, target).await?;
        Ok(next(made, None, target))
    }

    async fn made(&mut self, recipe: &Recipe, target: &Target) -> Result<Made, Error> {
        recipe.check_agent().map_err(Error::assemble)?;
        self.load_records().await?;
        let recipe = self.completed(recipe);
        let conversation = self.conversation.clone();
        let agent = agent_of(&recipe);
        self.lane(agent).make(&conversation, agent, &recipe, target)
    }

    async fn note(
        &mut self,
        agent: Option<&AgentName>,
        (model, vendor): (&str, &str),
        body: &Encoded,
        report: &Report,
    ) -> Result<u64, Error> {
        self.note_fragments(agent, (model, vendor), body.fragments().cloned(), report).await
    }

    /// Notes the body of a request, of which only what is new is stored.
    pub(super) async fn note_fragments(
        &mut self,
        agent: Option<&AgentName>,
        (model, vendor): (&str, &str),
        body: impl IntoIterator<Item = impl Into<bytes::Bytes>>,
        report: &Report,
    ) -> Result<u64, Error> {
        let number = self.head.next_request;
        let last = match self.last_body.take() {
            None if number > 0 => {
                let last = LastBody::read(&*self.store, self.id(), number - 1).await;
                Some(last.map_err(Error::store)?)
            }
            last => last,
        };
        let (body, kept) = LastBody::after(last.as_ref(), body);
        let report = serde_json::to_string(report).map_err(Error::damaged)?;
        let mut conversation = self.conversation.clone();
        let event = conversation.begin_request(agent).map_err(Error::conversation)?;
        let mut commit = self.commit_of(&[event])?.expecting_record(self.head.next_record);
        commit.request = Some(NewRequest {
            no: number,
            model: model.to_owned(),
            vendor: vendor.to_owned(),
            body,
            report: Json::parse(report).map_err(Error::form)?,
        });
        self.send(commit).await?;
        self.conversation = conversation;
        self.last_body = Some(kept);
        Ok(number)
    }
}

/// The sub-agent that a recipe is for.
pub(super) fn agent_of(recipe: &Recipe) -> Option<&AgentName> {
    match &recipe.agent {
        Agent::Main => None,
        Agent::Sub(name) => Some(name),
    }
}

fn next(made: Made, sent: Option<(u64, Http)>, target: &Target) -> Next {
    let Made { assembly, body } = made;
    let (number, http) = sent.unzip();
    match (assembly.outcome, body) {
        (Outcome::Waiting(calls), _) => Next::Wait(calls),
        // A prompt is always written.
        (Outcome::Ready(_), None) => Next::Wait(Vec::new()),
        (Outcome::Ready(_), Some(body)) => {
            let decoder = Decoder::new(target.vendor.family, body.names.clone());
            // Answers whose calls have no ids of their own are told apart by the request.
            let decoder = match number {
                Some(number) => decoder.for_request(number),
                None => decoder,
            };
            let report = assembly.report;
            Next::Send(Box::new(Request { number, http, body, decoder, report }))
        }
    }
}
