//! The first verb: a request from the session as it is.

use interleaf_assemble::Recipe;
use interleaf_conversation::{Conversation, PINNED};
use interleaf_model::{AgentName, Json, MessageId};
use interleaf_store::{ErrorKind as StoreErrorKind, LastBody, NewRequest};
use interleaf_wire::Decoder;

use super::counters::Counted;
use super::lane::{Asked, Prepared, Ready, Went};
use super::retry::{RETRIES, retried};
use super::told::Telling;
use super::trail::Stood;
use super::{Session, now};
use crate::{Error, ErrorKind, Next, Request, Target};

impl Session {
    /// Makes the next request, and notes it in the store: its exact bytes can be had
    /// again. What did not change since the last one is neither assembled, written nor
    /// stored again.
    ///
    /// What the recipe leaves out, the session adds: from its records the summary, the TODO
    /// list, useful information and folder notes, and for a budget a ledger of its own that
    /// counts as the model does and learns from its answers.
    /// If others have written meanwhile, it is made again with what they wrote, unless that
    /// was a request of the same agent: two nodes would then run one agent, which is a
    /// conflict.
    ///
    /// # Errors
    /// If there is nothing to say, it does not fit, the API cannot say it, a key is needed
    /// and none is given, or another node made a request for this agent.
    pub async fn request(&mut self, recipe: &Recipe, target: &Target) -> Result<Next, Error> {
        let http = target.vendor.http(&target.options, target.key.as_ref()).map_err(Error::wire)?;
        let mut next = self.record(recipe, target).await?;
        if let Next::Send(request) = &mut next {
            request.http = Some(http);
        }
        Ok(next)
    }

    /// As [`request`](Self::request), for a caller who sends the body by other means: no key
    /// is needed.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub async fn record(&mut self, recipe: &Recipe, target: &Target) -> Result<Next, Error> {
        let agent = recipe.agent.name();
        let last = self.conversation.newest_request(agent);
        retried!(RETRIES, self.record_once(recipe, target).await, error => {
            self.recover_unless_asked(error, agent, last).await
        })
    }

    /// As [`recover`](Self::recover), unless another node made a request for this agent after
    /// that one.
    async fn recover_unless_asked(
        &mut self,
        error: Error,
        agent: Option<&AgentName>,
        last: Option<u64>,
    ) -> Result<(), Error> {
        if error.kind() == ErrorKind::Conflict {
            self.refresh().await?;
            if self.conversation.newest_request(agent) == last {
                return Ok(());
            }
        }
        Err(error)
    }

    async fn record_once(&mut self, recipe: &Recipe, target: &Target) -> Result<Next, Error> {
        let made = match self.made(recipe, target, &[]).await? {
            Prepared::Ready(made) => made,
            Prepared::Waiting(calls) => return Ok(Next::Wait(calls)),
        };
        let (agent, report) = (recipe.agent.name(), &made.assembly.report);
        let (vendor, model) = (target.vendor.name.as_ref(), target.options.model.as_str());
        let body = made.body.fragments().cloned();
        let stored = self.lane(agent).stored_with(report, made.assembly.tools());
        let told = Telling {
            prefix: made.prefix.as_ref(),
            names: Some(&made.body.names).filter(|names| !names.is_empty()),
            terms: Some(made.terms.clone()),
            impact: Some(&made.traced.impact),
            trace: Some(&made.traced.trace),
            stored: made.stored.as_ref().and_then(|stored| stored.at.as_ref()),
            ..Telling::after(report, stored)
        };
        let number = self.note_fragments(agent, (model, vendor), body, told).await?;
        let is_own = recipe.ledger.is_none();
        let counted = made.ledger.clone().zip(report.tokens.as_ref());
        let counted = counted.map(|(ledger, tokens)| Counted {
            ledger,
            is_own,
            rate: tokens.rate,
            total: tokens.total(),
        });
        let asked = Asked {
            number,
            event: self.conversation.last_request(agent),
            log_len: Some(self.conversation.log_len()),
            vendor: vendor.to_owned(),
            model: model.to_owned(),
            prefix: made.prefix.clone(),
            names: made.body.names.clone(),
            counted,
        };
        let stored = made.stored.as_ref().and_then(|stored| stored.at.clone());
        self.lane(agent).sent(&made.assembly, asked, (&made.traced, stored));
        Ok(next(*made, Some(number), target))
    }

    /// Makes the next request to look at it. Nothing is noted, and the next request is
    /// compared with the last one that was.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub async fn preview(&mut self, recipe: &Recipe, target: &Target) -> Result<Next, Error> {
        self.preview_pinned(recipe, target, &[]).await
    }

    /// As [`preview`](Self::preview), with these messages pinned beside those that are marked so.
    ///
    /// # Errors
    /// As [`request`](Self::request), and if there is no such message.
    pub async fn preview_pinned(
        &mut self,
        recipe: &Recipe,
        target: &Target,
        pins: &[MessageId],
    ) -> Result<Next, Error> {
        Ok(match self.made(recipe, target, pins).await? {
            Prepared::Ready(made) => next(*made, None, target),
            Prepared::Waiting(calls) => Next::Wait(calls),
        })
    }

    async fn made(
        &mut self,
        recipe: &Recipe,
        target: &Target,
        pins: &[MessageId],
    ) -> Result<Prepared, Error> {
        recipe.check_agent().map_err(Error::assemble)?;
        let time = now()?;
        let mut recipe = self.kept().await?.complete(recipe, time).await?;
        if recipe.budget.is_some() && recipe.ledger.is_none() {
            recipe.to_mut().ledger = Some(self.ledger(&target.options.model).await?);
        }
        target.suit(&mut recipe);
        let agent = recipe.agent.name();
        let target = &*self.keyed(target, agent).await?;
        self.catch_up(agent).await?;
        let beside = self.beside(agent).await?;
        let mut conversation = self.conversation.clone();
        pin(&mut conversation, pins)?;
        let at = time.as_microseconds() / 1_000_000;
        let when = (at.max(0) as u64, beside.as_ref());
        loop {
            let made = self.lane(agent).make(&conversation, &recipe, target, when)?;
            let Prepared::Ready(ready) = &made else { return Ok(made) };
            if ready.traced.wanted.is_empty() {
                return Ok(made);
            }
            // The cache may hold requests that this process has not seen: it is made again, to
            // be held against them. Each is asked for once.
            for sent in ready.traced.wanted.clone() {
                let session = sent.session.unwrap_or(self.id());
                let body = match LastBody::read(&*self.store, session, sent.number).await {
                    Err(error) if is_lost(error.kind()) => None,
                    read => Some(read.map_err(Error::store)?.pieces().clone()),
                };
                self.lane(agent).know(sent, body);
            }
        }
    }

    /// Takes in the last request of an agent, if it is not the one that is known here: another
    /// node made it, the session was opened or forked, or a rollback took later ones back. What
    /// was taken back was sent all the same: the next request is held against the newest.
    pub(super) async fn catch_up(&mut self, agent: Option<&AgentName>) -> Result<(), Error> {
        let last = self.conversation.last_request(agent);
        let went = Went { last, newest: self.conversation.newest_request(agent) };
        if self.lane(agent).knows(went) {
            return Ok(());
        }
        let stood = match last {
            Some(event) => self.stood(event).await?,
            None => Stood::default(),
        };
        let goes_on = self.before(last.filter(|_| last != went.newest)).await?;
        let before = self.before(went.newest).await?;
        self.lane(agent).catch_up(went, stood, before, goes_on);
        Ok(())
    }

    /// Notes the body of a request, of which only what is new is stored.
    pub(super) async fn note_fragments(
        &mut self,
        agent: Option<&AgentName>,
        (model, vendor): (&str, &str),
        body: impl IntoIterator<Item = impl Into<bytes::Bytes>>,
        told: Telling<'_>,
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
        let mut conversation = self.conversation.clone();
        let event = conversation.begin_request(agent).map_err(Error::conversation)?;
        let mut commit = self.commit_of(&[event])?.expecting_record(self.head.next_record);
        commit.request = Some(NewRequest {
            no: number,
            model: model.to_owned(),
            vendor: vendor.to_owned(),
            body,
            report: Json::of(&told).map_err(Error::form)?,
        });
        self.send(commit).await?;
        self.conversation = conversation;
        self.last_body = Some(kept);
        Ok(number)
    }
}

/// Marks messages as pinned, in a conversation that is only looked at.
fn pin(conversation: &mut Conversation, pins: &[MessageId]) -> Result<(), Error> {
    for id in pins {
        let Some(index) = conversation.find(id) else {
            return Err(Error::rule(format!("there is no message {:?} to pin", id.as_str())));
        };
        conversation.mark(index, PINNED).map_err(Error::conversation)?;
    }
    Ok(())
}

/// Whether a body is gone for good.
fn is_lost(kind: StoreErrorKind) -> bool {
    matches!(kind, StoreErrorKind::Corrupt | StoreErrorKind::NotFound)
}

fn next(made: Ready, number: Option<u64>, target: &Target) -> Next {
    let Ready { assembly, body, traced, reader, stored, .. } = made;
    let body = stored.and_then(|stored| stored.sent).unwrap_or(body);
    let decoder = Decoder::new(target.vendor.family, body.names.clone());
    let decoder = match reader {
        Some(reader) => decoder.reading(reader),
        None => decoder,
    };
    let decoder = match &target.key {
        Some(key) => decoder.hiding(key),
        None => decoder,
    };
    // Answers whose calls have no ids of their own are told apart by the request.
    let decoder = match number {
        Some(number) => decoder.for_request(number),
        None => decoder,
    };
    let report = assembly.report;
    let impact = traced.impact;
    Next::Send(Box::new(Request { number, http: None, body, decoder, report, impact }))
}
