//! What one agent's requests are made from, carried from one to the next.

use std::borrow::Cow;
use std::sync::Arc;
use std::thread::available_parallelism;

use interleaf_assemble::{
    Assembly, Ledger, OpenCall, Outcome, Recipe, Report, Running, ShownContext,
};
use interleaf_conversation::Conversation;
use interleaf_model::{Tool, Usage};
use interleaf_store::Pieces;
use interleaf_wire::{CallReader, Encoded, NameMap, SessionEncoder};
use smol_str::SmolStr;

use super::counters::Counted;
use super::terms::Terms;
use super::told::Earlier;
use super::trail::{Stood, StoredWith, Trail};
use crate::bound::Bound;
use crate::hearing::Following;
use crate::impact::{self, Before, Bodies, Now, RequestRef, Traced};
use crate::stored::{Making, Stored, StoredAt};
use crate::text_form::TextForm;
use crate::{Error, Target};

/// What one agent's requests are made from. It follows the conversation on its own.
pub(super) struct Lane {
    running: Running,
    encoder: SessionEncoder,
    following: Following,
    bound: Bound,
    /// What is written as text, if the last target's model calls no functions.
    text: Option<TextForm>,
    /// The events with which the requests began that the next one goes on from.
    last: Went,
    /// The requests that showed context which stays shown.
    trail: Trail,
    /// The request that the order of the tools was stored with.
    tools_at: Option<Earlier>,
    /// The last request, which the next one is held against.
    before: Option<Before>,
    /// The request that the next one goes on from, if a rollback took later ones back. The
    /// vendor's cache may hold it as well.
    goes_on: Option<Before>,
    /// The bytes of requests before the last one that the cache may hold as well.
    bodies: Bodies,
    /// The last request, for its answer.
    pub(super) asked: Option<Asked>,
}

/// The events with which an agent's requests began.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Went {
    /// The last one that no rollback took back.
    pub(super) last: Option<u64>,
    /// The last one of all.
    pub(super) newest: Option<u64>,
}

/// What is remembered of a request until it is answered.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) number: u64,
    /// The event with which it began.
    pub(super) event: Option<u64>,
    /// How many messages the log had then, if it was made here.
    pub(super) log_len: Option<usize>,
    pub(super) vendor: String,
    pub(super) model: String,
    pub(super) prefix: Option<SmolStr>,
    /// The tool names that were rewritten in it.
    pub(super) names: NameMap,
    pub(super) counted: Option<Counted>,
}

/// A request, or what it waits for.
pub(super) enum Prepared {
    Ready(Box<Ready>),
    Waiting(Vec<OpenCall>),
}

/// A request that can be sent.
pub(super) struct Ready {
    pub(super) assembly: Assembly,
    pub(super) body: Encoded,
    /// What counted its tokens.
    pub(super) ledger: Option<Arc<Ledger>>,
    /// The hash of what its answer is made after, if the model binds its thinking to it.
    pub(super) prefix: Option<SmolStr>,
    /// How the recipe had it made.
    pub(super) terms: Terms,
    /// What it has in common with the request before.
    pub(super) traced: Traced,
    /// What reads calls out of what the model says, if it makes them in words.
    pub(super) reader: Option<Arc<dyn CallReader>>,
    /// What is sent to a vendor that keeps answers.
    pub(super) stored: Option<Stored>,
}

impl Default for Lane {
    fn default() -> Self {
        let n_threads = available_parallelism().map_or(1, |n| n.get());
        Self {
            running: Running::new(),
            encoder: SessionEncoder::on_threads(n_threads),
            last: Went::default(),
            trail: Trail::default(),
            tools_at: None,
            before: None,
            goes_on: None,
            bodies: Bodies::default(),
            following: Default::default(),
            bound: Default::default(),
            text: None,
            asked: None,
        }
    }
}

impl Lane {
    /// Makes a request from the conversation as it is, at a time in seconds. `beside` is what
    /// else the vendor's cache may hold.
    pub(super) fn make(
        &mut self,
        conversation: &Conversation,
        recipe: &Recipe,
        target: &Target,
        (at, beside): (u64, Option<&Before>),
    ) -> Result<Prepared, Error> {
        self.following.follow(conversation, &recipe.agent).tell(&mut self.running);
        let requires = target.requirements();
        let recipe = &*self.text_recipe(recipe, target);
        let assembly = self.running.preview(recipe, requires).map_err(Error::assemble)?;
        let called = match &assembly.outcome {
            Outcome::Waiting(calls) => return Ok(Prepared::Waiting(calls.clone())),
            Outcome::Ready(prompt) => prompt,
        };
        let mut options = Cow::Borrowed(&target.options);
        let mut said = None;
        if let Some(text) = &mut self.text {
            let (prompt, own) = text.prompt(called, &options)?;
            (said, options) = (Some(prompt), Cow::Owned(own));
        }
        let prompt = said.as_ref().unwrap_or(called);
        let mut prefix = None;
        if target.binds_thinking() {
            let (unbound, made_after) = self.bound.check(prompt);
            options.to_mut().unbound_thinking.extend(unbound);
            prefix = Some(made_after.text());
        }
        let body = self.encoder.encode(prompt, &target.vendor, &options);
        let mut body = body.map_err(Error::wire)?;
        if let Some(text) = &self.text {
            text.report(called, &mut body);
        }
        // Where an API has every call declared, the body was written from the whole prompt.
        let is_whole = prompt.settled().is_some() && !body.outline.has_settled();
        let whole = is_whole.then(|| prompt.whole());
        let now = Now {
            prompt: whole.as_ref().unwrap_or(prompt),
            body: &body,
            report: &assembly.report,
            shown: self.running.shown(),
            ledger: recipe.ledger.as_ref(),
            encoder: &self.encoder,
            conversation,
            target,
            carrier: recipe.carrier,
            text_tools: self.text.as_ref().map(|_| called.tools()),
            bodies: &self.bodies,
            at,
        };
        let beside = self.goes_on.as_ref().or(beside);
        let mut traced = tracing::debug_span!("explain")
            .in_scope(|| impact::trace(&now, self.before.as_ref(), beside));
        let making = Making {
            prompt: now.prompt,
            body: &body,
            pieces: &traced.body,
            impact: &traced.impact,
            before: self.before.as_ref(),
            rolled_back: self.goes_on.is_some(),
            target,
            at,
        };
        let stored = making.stored();
        traced.impact.goes_on = stored.as_ref().map(|stored| stored.goes_on.clone());
        let (ledger, terms) = (recipe.ledger.clone(), Terms::of(recipe));
        let reader = self.text.as_ref().map(TextForm::reader);
        Ok(Prepared::Ready(Box::new(Ready {
            assembly,
            body,
            ledger,
            prefix,
            terms,
            traced,
            reader,
            stored,
        })))
    }

    /// The recipe, counted as what is sent, if that is text.
    fn text_recipe<'r>(&mut self, recipe: &'r Recipe, target: &Target) -> Cow<'r, Recipe> {
        if !target.has_text_tools() {
            self.text = None;
            return Cow::Borrowed(recipe);
        }
        TextForm::suited(&mut self.text, &recipe.tools);
        match (&mut self.text, &recipe.ledger) {
            (Some(text), Some(ledger)) => {
                Cow::Owned(recipe.clone().with_ledger(text.ledger(ledger)))
            }
            _ => Cow::Borrowed(recipe),
        }
    }

    /// What is stored with a request of what it shows, and of the order of its tools.
    pub(super) fn stored_with(&self, report: &Report, sent: &[Tool]) -> StoredWith {
        let order = self.running.tool_order();
        let after = order.after(sent);
        let (tools, tools_at) = match after {
            Some(after) => (Some(after), None),
            None => (None, self.tools_at),
        };
        let stored_with = self.trail.stored_with(self.running.shown(), report.elements.as_ref());
        StoredWith { tools, tools_at, ..stored_with }
    }

    /// Remembers a request as the previous request.
    pub(super) fn sent(
        &mut self,
        assembly: &Assembly,
        asked: Asked,
        (traced, stored): (&Traced, Option<StoredAt>),
    ) {
        let elements = assembly.report.elements.as_ref();
        if let Some(event) = asked.event {
            let stored_with = self.stored_with(&assembly.report, assembly.tools());
            let request = Earlier { event, no: asked.number };
            if stored_with.tools.is_some() {
                self.tools_at = Some(request);
            }
            self.trail.follow(self.running.shown(), elements, (&stored_with, request));
        }
        self.running.remember(assembly);
        if let Some(Before { session, number, body, .. }) = self.before.take() {
            self.bodies.insert(RequestRef { session, number }, Some(body));
        }
        self.bodies.retain(|sent, _| traced.trace.requests().any(|kept| kept == *sent));
        self.before = Some(Before {
            number: asked.number,
            session: None,
            vendor: asked.vendor.clone(),
            model: asked.model.clone(),
            body: traced.body.clone(),
            trace: traced.trace.clone(),
            usage: None,
            stored,
        });
        self.goes_on = None;
        self.last = Went { last: asked.event, newest: asked.event };
        self.asked = Some(asked);
    }

    /// What was shown of the context and stays where it was.
    pub(super) fn shown(&self) -> &ShownContext {
        self.running.shown()
    }

    /// Takes in the bytes of an earlier request; nothing, if they are lost.
    pub(super) fn know(&mut self, sent: RequestRef, body: Option<Pieces>) {
        self.bodies.insert(sent, body);
    }

    /// Whether these are the requests that are known here.
    pub(super) fn knows(&self, went: Went) -> bool {
        self.last == went
    }

    /// Remembers these requests: the context of the last one where it stood, and what the next
    /// one is held against.
    pub(super) fn catch_up(
        &mut self,
        went: Went,
        stood: Stood,
        before: Option<Before>,
        goes_on: Option<Before>,
    ) {
        self.running.resume(stood.placement, stood.shown, stood.tools);
        (self.trail, self.tools_at) = (stood.trail, stood.tools_at);
        (self.before, self.goes_on) = (before, goes_on);
        self.last = went;
    }

    /// Notes what the API says that a request took.
    pub(super) fn answered(&mut self, number: u64, usage: Usage) {
        let is_it = |before: &&mut Before| before.number == number && before.session.is_none();
        if let Some(before) = self.before.as_mut().filter(is_it) {
            before.usage = Some(usage);
            if usage == Usage::default() {
                // If no model saw it, the next one is held against another.
                self.last = Went::default();
            }
        }
    }

    /// Has the last request read again, if what became of it is not known here: another node
    /// may have noted it.
    pub(super) fn look_again(&mut self) {
        if self.before.as_ref().is_some_and(|before| before.usage.is_none()) {
            self.last = Went::default();
        }
    }
}
