//! The loop: ask, run the calls of the answer, ask again.
//!
//! ```text
//!   calls that wait ──▶ run ──▶ results ─┐
//!        ▲                               ▼
//!        └── answer ◀── ask ◀── what was said meanwhile ──▶ the last word: the end
//! ```
//!
//! All that it knows stands in the session, so that a run which was stopped goes on by
//! beginning again.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use interleaf::assemble::{Agent as Who, Amount, Recipe, Share};
use interleaf::conversation::Conversation;
use interleaf::model::{self, ContextKind, Finish, Message, Role, Spent, ToolCall};
use interleaf::wire::Delta;
use interleaf::{ErrorKind as SessionErrorKind, Next, Session, Target, store};
use interleaf_transport::{Answer, Asking, CompactionDone, ErrorKind, Transport};
use tokio::sync::{Semaphore, mpsc};
use tracing::Instrument as _;

use crate::again::written;
use crate::offer::{Offer, most_tools};
use crate::run::Said;
use crate::scene::Scene;
use crate::sub_agent::SubAgent;
use crate::{Agent, End, Error, Event, Hook, Limit, Tool, role, spans};

/// What is said of one that nobody can be asked for.
pub(crate) const NO_MODEL: &str = "no model is set: name a vendor and a model";

/// How often in a row an answer that broke off is asked for again.
const MOST_BROKEN: u32 = 2;

/// How often in a row another writer may be first.
const MOST_CONFLICTS: u32 = 16;

/// What the context may take of a request if nobody has said it.
const MOST_CONTEXT: Amount = Amount::Percent(50);

/// A run of an agent, from the inside.
pub(crate) struct Course {
    pub(crate) agent: Agent,
    pub(crate) transport: Transport,
    pub(crate) targets: Vec<Target>,
    pub(crate) scene: Scene,
    /// Its own hooks, and those of the agents above it: what is refused to one, those below it may
    /// not do either.
    pub(crate) guards: Vec<Arc<dyn Hook>>,
    /// Its own tools, and those that send a sub-agent.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// What the model is told of each of them.
    pub(crate) specs: Vec<model::Tool>,
    /// How many of them are its own; the others are of toolboxes.
    n_own: usize,
    /// The toolbox of each of the others.
    boxes: Vec<usize>,
    /// How many tools of each toolbox were told to be left out.
    left_out: BTreeMap<usize, usize>,
    /// Tools that the session's requests had; those that it has not itself are gone.
    had: Option<Arc<[model::Tool]>>,
    said: Option<mpsc::UnboundedReceiver<Said>>,
    waiting: VecDeque<String>,
    n_broken: u32,
    n_conflicts: u32,
}

/// How a run ended, and what it said last.
pub(crate) struct Outcome {
    pub(crate) end: End,
    pub(crate) text: String,
    /// What was said to it and that it did not come to hear.
    pub(crate) unheard: Vec<String>,
    /// What the store refused, if that ended it.
    pub(crate) store_refused: Option<store::ErrorKind>,
}

/// Why a round was not the last one.
type Round = Result<Option<End>, Failed>;

/// What ends a run.
pub(crate) struct Failed {
    pub(crate) why: String,
    store: Option<store::ErrorKind>,
}

impl Failed {
    fn of(session: Option<&interleaf::Error>, why: String) -> Self {
        let store = session.and_then(|error| match error.kind() {
            SessionErrorKind::Overtaken => Some(store::ErrorKind::Conflict),
            _ => error.as_store().map(store::Error::kind),
        });
        Self { why, store }
    }

    /// What a sub-agent could not do because another run works on the session.
    pub(crate) fn overtaken(why: String) -> Self {
        Self { why, store: Some(store::ErrorKind::Conflict) }
    }
}

impl From<interleaf::Error> for Failed {
    fn from(error: interleaf::Error) -> Self {
        Self::of(Some(&error), error.to_string())
    }
}

impl Course {
    pub(crate) fn new(
        agent: &Agent,
        transport: &Transport,
        targets: Vec<Target>,
        scene: Scene,
        above: &[Arc<dyn Hook>],
    ) -> Result<Self, Error> {
        if targets.is_empty() {
            return Err(Error::agent(&agent.name, NO_MODEL));
        }
        agent.check()?;
        let guards: Vec<Arc<dyn Hook>> = above.iter().chain(&agent.hooks).cloned().collect();
        let mut tools = agent.tools.clone();
        let limits = scene.0.tally.top().limits();
        if scene.0.above.len() < limits.depth {
            let turns = Arc::new(Semaphore::new(limits.at_once.max(1)));
            let spawns = agent.sent_below(&scene.0.above).map(|sub| {
                let sent = SubAgent::new(sub, transport, &targets, (&turns, &guards));
                Arc::new(sent) as Arc<dyn Tool>
            });
            tools.extend(spawns);
        }
        let n_own = tools.len();
        let mut boxes = Vec::new();
        for (i, toolbox) in agent.toolboxes.iter().enumerate() {
            tools.extend(toolbox.tools());
            boxes.resize(tools.len() - n_own, i);
        }
        let specs: Vec<model::Tool> = tools.iter().map(|tool| tool.spec()).collect();
        let events = scene.0.events.clone();
        let transport = transport.clone().telling(move |setback| {
            let _ = events.send(Event::Setback(Box::new(setback)));
        });
        Ok(Self {
            agent: agent.clone(),
            transport,
            targets,
            scene,
            guards,
            tools,
            specs,
            n_own,
            boxes,
            left_out: BTreeMap::new(),
            had: None,
            said: None,
            waiting: VecDeque::new(),
            n_broken: 0,
            n_conflicts: 0,
        })
    }

    /// Takes up tools that came late. They go to the end.
    fn look_into_toolboxes(&mut self) {
        let n_known = self.specs.len();
        for (i, toolbox) in self.agent.toolboxes.iter().enumerate() {
            for tool in toolbox.tools() {
                let spec = tool.spec();
                if !self.specs.iter().any(|known| known.name == spec.name) {
                    self.specs.push(spec);
                    self.boxes.push(i);
                    self.tools.push(tool);
                }
            }
        }
        if self.specs.len() > n_known {
            let names = self.specs[n_known..].iter().map(|spec| spec.name.to_string()).collect();
            self.scene.tell(Event::Joined(names));
        }
    }

    /// The same run, which hears what is said to it while it runs.
    pub(crate) fn hearing(mut self, said: mpsc::UnboundedReceiver<Said>) -> Self {
        self.said = Some(said);
        self
    }

    /// Tells for which models the limit of money cannot hold.
    fn tell_unpriced(&self) {
        if !self.scene.0.tally.limits_money() {
            return;
        }
        let names = self.targets.iter().map(|it| (it.vendor.name.as_str(), &*it.options.model));
        let unknown = names.filter(|(vendor, model)| !self.transport.knows_price(vendor, model));
        let unknown: Vec<String> =
            unknown.map(|(vendor, model)| format!("{vendor}/{model}")).collect();
        if !unknown.is_empty() {
            self.scene.tell(Event::Unpriced(unknown));
        }
    }

    /// Runs until it ends. A hook or a source that breaks ends it too.
    pub(crate) async fn run(mut self) -> Outcome {
        let session = self.scene.session().await.id().to_string();
        let span = spans::invoke_agent(&self.agent, self.targets.first(), &session);
        let (end, store_refused) = {
            let mut rounds = Box::pin(self.rounds().instrument(span.clone()));
            let caught = std::future::poll_fn(|cx| {
                let polled = catch_unwind(AssertUnwindSafe(|| rounds.as_mut().poll(cx)));
                polled.unwrap_or_else(|broke| Poll::Ready((End::Failed(words_of(&*broke)), None)))
            });
            caught.await
        };
        spans::ended(&span, &end);
        let text = last_words(self.scene.session().await.conversation(), self.scene.who());
        let mut unheard: Vec<String> = self.waiting.drain(..).collect();
        if let Some(said) = &mut self.said {
            // From here on whoever says something is told that nobody hears it.
            said.close();
            while let Ok(Said::Now(text) | Said::WhenIdle(text)) = said.try_recv() {
                unheard.push(text);
            }
        }
        self.scene.tell(Event::Ended(end.clone()));
        Outcome { end, text, unheard, store_refused }
    }

    async fn rounds(&mut self) -> (End, Option<store::ErrorKind>) {
        self.tell_unpriced();
        loop {
            match self.round().await {
                Ok(None) => {}
                Ok(Some(end)) => return (end, None),
                Err(Failed { why, store }) => return (End::Failed(why), store),
            }
        }
    }

    async fn round(&mut self) -> Round {
        let open = self.open_calls().await;
        if !open.is_empty() {
            return Box::pin(self.answer_calls(open)).await.map(|()| None);
        }
        if self.scene.is_stopped() {
            return Ok(Some(End::Interrupted));
        }
        self.hear().await?;
        if let Some(end) = self.said_all().await {
            return match self.waiting.pop_front() {
                Some(text) if end == End::Completed => self.hears(text).await.map(|()| None),
                _ => Ok(Some(end)),
            };
        }
        if let Some(limit) = self.scene.0.tally.reached() {
            return Ok(Some(End::OutOfBudget(limit)));
        }
        self.tell_left_behind().await?;
        // On the heap: what makes a request and sends it is large.
        Box::pin(self.ask()).await
    }

    /// The calls that wait for their results.
    async fn open_calls(&self) -> Vec<ToolCall> {
        let mut session = self.scene.session().await;
        match self.scene.who() {
            Who::Main => session.open_calls(),
            Who::Sub(name) => session.sub_agent(name.clone()).open_calls(),
        }
    }

    /// How it ended, if the model has said its last word and nobody has said anything since.
    async fn said_all(&self) -> Option<End> {
        let mut session = self.scene.session().await;
        let agent = match self.scene.who() {
            Who::Main => session.main_agent(),
            Who::Sub(name) => session.sub_agent(name.clone()),
        };
        let answer = agent.answer()?;
        let finish = answer.answered().and_then(|answered| answered.finish);
        Some(match finish {
            Some(Finish::ContentFilter) => End::Refused,
            Some(Finish::Length) => End::OutOfBudget(Limit::Length),
            _ => End::Completed,
        })
    }

    /// Takes in what was said to it meanwhile.
    async fn hear(&mut self) -> Result<(), Failed> {
        let mut now = Vec::new();
        if let Some(said) = &mut self.said {
            while let Ok(said) = said.try_recv() {
                match said {
                    Said::Now(text) => now.push(text),
                    Said::WhenIdle(text) => self.waiting.push_back(text),
                }
            }
        }
        for text in now {
            self.hears(text).await?;
        }
        Ok(())
    }

    async fn hears(&mut self, text: String) -> Result<(), Failed> {
        let mut session = self.scene.session().await;
        written!(*session, session.append(Message::user(&text)));
        drop(session);
        self.scene.tell(Event::Heard(text));
        Ok(())
    }

    /// Makes a request and takes in its answer.
    async fn ask(&mut self) -> Round {
        let scene = self.scene.clone();
        let recipe = tokio::select! {
            biased;
            end = cut_short(&scene) => return Ok(Some(end)),
            recipe = Box::pin(self.recipe()) => recipe?,
        };
        let mut session = scene.session().await;
        scene.0.tally.begin_round();
        let span = spans::chat(self.targets.first(), &session.id().to_string());
        let begun = tokio::select! {
            biased;
            end = cut_short(&scene) => {
                // It may be on its way already.
                scene.0.tally.sent(false);
                return Ok(Some(end));
            }
            begun = Box::pin(self.begin_to_ask(&mut session, &recipe).instrument(span.clone())) => begun,
        };
        let answer = match begun {
            Ok(asking) => Box::pin(self.hand_on(asking).instrument(span.clone())).await,
            Err(error) => Err(error),
        };
        drop(session);
        match &answer {
            Ok(Some(answer)) => {
                scene.0.tally.sent(answer.spent.is_some());
                spans::answered(&span, answer, self.agent.traces_content);
            }
            Ok(None) => {}
            Err(error) => {
                if was_sent(error) {
                    scene.0.tally.sent(error.is_unseen());
                }
                spans::unanswered(&span, error);
            }
        }
        drop(span);
        match answer {
            Ok(Some(answer)) => {
                (self.n_broken, self.n_conflicts) = (0, 0);
                scene.0.tally.note(&answer);
                self.tell_compacted(&answer.compactions);
                scene.tell(Event::Answered(Box::new(answer)));
                Ok(None)
            }
            // It was stopped, or its time is over: the next round tells which.
            Ok(None) if scene.is_stopped() => Ok(None),
            Ok(None) => Ok(Some(End::OutOfBudget(Limit::Time))),
            Err(error) if self.n_conflicts < MOST_CONFLICTS && is_overtaken(&error) => {
                self.n_conflicts += 1;
                scene.session().await.refresh().await?;
                Ok(None)
            }
            Err(error) => {
                if let Some(partial) = error.partial() {
                    let money = self.transport.price(error.vendor(), error.model(), partial);
                    let spent = partial.usage.map(Spent::from);
                    scene.0.tally.add(spent.map_or(0, |s| s.total()), money);
                }
                self.tell_compacted(error.compactions());
                scene.0.tally.note_texts(error.lost_summaries());
                let refused = error.session().filter(|it| it.kind() == SessionErrorKind::Overtaken);
                if let Some(refused) = refused {
                    // What the other run said may be the last word: then there is nothing to do.
                    let end = self.said_all().await;
                    return end
                        .map(Some)
                        .ok_or_else(|| Failed::of(Some(refused), refused.to_string()));
                }
                let broke_off = matches!(error.kind(), ErrorKind::Cut | ErrorKind::Timeout(_));
                if broke_off && error.kept().is_some() && self.n_broken < MOST_BROKEN {
                    self.n_broken += 1;
                    scene.tell(Event::BrokeOff(error.to_string()));
                    return Ok(None);
                }
                let advice = error.advice().map(|advice| format!(" ({advice})"));
                let why = format!("{error}{}", advice.unwrap_or_default());
                Err(Failed::of(error.session(), why))
            }
        }
    }

    /// Sends the next request, after a compaction if a tool asked for one.
    async fn begin_to_ask<'s>(
        &self,
        session: &'s mut Session,
        recipe: &Recipe,
    ) -> Result<Asking<'s>, interleaf_transport::Error> {
        if self.scene.wants_compaction() {
            self.compact(session, recipe).await;
        }
        if let (Who::Sub(_), 1) = (self.scene.who(), self.scene.0.tally.used().rounds) {
            self.tell_size(session, recipe).await;
        }
        self.transport.ask_streaming(session, recipe, &self.targets).await
    }

    /// Tells how large the next request is. What cannot be made fails when it is sent, and says
    /// why then.
    async fn tell_size(&self, session: &mut Session, recipe: &Recipe) {
        let Some(target) = self.targets.first() else { return };
        let Ok(ledger) = session.ledger(&target.options.model).await else { return };
        let counted = recipe.clone().with_ledger(ledger);
        if let Ok(Next::Send(request)) = session.preview(&counted, target).await
            && let Some(tokens) = request.report.tokens
        {
            self.scene.tell(Event::Begins(Box::new(tokens)));
        }
    }

    async fn compact(&self, session: &mut Session, recipe: &Recipe) {
        let Some(target) = self.targets.first() else { return };
        let own = (recipe, target);
        let writer = self.transport.writer().unwrap_or(target);
        match self.transport.compact(session, &self.agent.policy, own, writer).await {
            Ok(done) => self.tell_compacted(&[done]),
            Err(error) => {
                self.scene.0.tally.note_texts(error.lost_summaries());
                self.scene.tell(Event::NotCompacted(error.to_string()));
            }
        }
    }

    /// Tells and counts compactions that were done.
    fn tell_compacted(&self, done: &[CompactionDone]) {
        for done in done {
            self.scene.0.tally.note_texts(&done.texts);
            self.scene.tell(Event::Compacted(Box::new(done.clone())));
        }
    }

    /// Tells the pieces of an answer as they come, and takes it in. `None`, if it was stopped.
    async fn hand_on(
        &self,
        mut asking: Asking<'_>,
    ) -> Result<Option<Answer>, interleaf_transport::Error> {
        let scene = &self.scene;
        loop {
            let piece = tokio::select! {
                biased;
                _ = cut_short(scene) => {
                    self.tell_compacted(asking.compactions());
                    let answer = asking.cancel().await?;
                    // What it took after the last count is never told.
                    scene.0.tally.sent(false);
                    if let Some(answer) = answer {
                        scene.0.tally.note(&answer);
                    }
                    return Ok(None);
                }
                piece = asking.next() => piece,
            };
            match piece {
                Some(Ok(Delta::Text { text, .. })) => scene.tell(Event::Text(text)),
                Some(Ok(Delta::Thinking { text, .. })) => scene.tell(Event::Thinking(text)),
                Some(Ok(_)) => {}
                // What failed is told by `finish` too, which keeps what came.
                Some(Err(_)) | None => return asking.finish().await.map(Some),
            }
        }
    }

    /// What the next request is made from. The session adds the TODO list, useful information
    /// and folder notes.
    pub(crate) async fn recipe(&mut self) -> Result<Recipe, Failed> {
        let mut recipe = Recipe::new()
            .with_agent(self.scene.who().clone())
            .with_rule(self.agent.rule.clone())
            .with_carrier(self.agent.carrier)
            .with_shares(self.agent.shares.clone());
        recipe.system.clone_from(&self.agent.system);
        if let Some(role) = role::assembled(&self.agent, &self.scene).await {
            recipe = recipe.with_context(ContextKind::Role, role);
        }
        for source in &self.agent.sources {
            match source.context(&self.scene).await {
                Ok(text) => recipe.context.extend(text),
                Err(unread) => {
                    tracing::warn!(source = unread.kind.as_str(), why = %unread.why, "unread");
                    let text = interleaf::assemble::ContextText::unread(unread.kind);
                    recipe.context.push(text);
                }
            }
        }
        let target = self.targets.first();
        recipe.budget = self.agent.budget.or_else(|| target.map(Target::budget));
        self.look_into_toolboxes();
        let had = self.had().await?;
        recipe.tools = self.offered(&had).into();
        for hook in self.agent.hooks.clone() {
            hook.before_request(&mut recipe, &self.scene).await;
        }
        if recipe.budget.is_some() && recipe.shares.context == Share::default() {
            // A file in view or a TODO list may grow until no request can be made any more.
            recipe.shares.context.max = Some(MOST_CONTEXT);
        }
        Ok(recipe)
    }

    /// The tools that are offered now. What is left out is told once.
    fn offered(&mut self, had: &[model::Tool]) -> Vec<model::Tool> {
        let most = most_tools(&self.targets);
        let (own, boxed) = self.specs.split_at(self.n_own);
        let (offered, left_out) = Offer { own, boxed, boxes: &self.boxes, had }.within(most);
        for (&i, &n_tools) in &left_out {
            if self.left_out.get(&i) != Some(&n_tools)
                && let (Some(toolbox), Some(most)) = (self.agent.toolboxes.get(i), most)
            {
                self.scene.tell(Event::LeftOut { toolbox: toolbox.name(), n_tools, most });
            }
        }
        self.left_out = left_out;
        offered
    }

    /// Tools that the session's requests had: those that this agent has not stay in its requests,
    /// so that the prompt begins the same, and a call of one is told that it is gone.
    async fn had(&mut self) -> Result<Arc<[model::Tool]>, Failed> {
        if let Some(had) = &self.had {
            return Ok(had.clone());
        }
        let session = self.scene.session().await;
        let bare = Recipe::new().with_agent(self.scene.who().clone());
        let had = session.left_out(&bare).await?.map(|left_out| left_out.tools);
        let had: Arc<[model::Tool]> = had.iter().flat_map(|tools| tools.iter()).cloned().collect();
        drop(session);
        self.had = Some(had.clone());
        Ok(had)
    }
}

/// Whether another writer was first, such as a run that was dropped while it wrote: what is next
/// may be another thing now.
fn is_overtaken(error: &interleaf_transport::Error) -> bool {
    let refused = error.session().map(interleaf::Error::kind);
    error.kind() == ErrorKind::Waiting || refused == Some(SessionErrorKind::Conflict)
}

/// Whether a request went out, though there is no answer.
fn was_sent(error: &interleaf_transport::Error) -> bool {
    let mut failures = error.attempts().iter().map(|attempt| &attempt.failure);
    failures.any(|it| !matches!(it, Some((ErrorKind::Key | ErrorKind::Request, _))))
}

/// What somebody said who broke.
fn words_of(broke: &(dyn std::any::Any + Send)) -> String {
    let words = broke.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| broke.downcast_ref::<&str>().copied());
    format!("a hook or a source broke: {}", words.unwrap_or("it did not say why"))
}

/// Waits until a run is to stop, or its time is over.
pub(crate) async fn cut_short(scene: &Scene) -> End {
    let deadline = scene.0.tally.deadline();
    let late = async {
        match deadline {
            // A timer may take a moment to notice.
            Some(deadline) if deadline <= tokio::time::Instant::now() => {}
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = scene.stopped() => End::Interrupted,
        () = late => End::OutOfBudget(Limit::Time),
    }
}

/// What an agent said last, if it said anything since it was last spoken to.
pub(crate) fn last_words(conversation: &Conversation, who: &Who) -> String {
    let heard = conversation.visible().rev().filter(|message| who.hears(message));
    let mut since = heard.take_while(|message| message.role() != Role::User);
    let spoken = since
        .find(|message| message.role() == Role::Assistant && !message.text().trim().is_empty());
    spoken.map(|message| message.text().into_owned()).unwrap_or_default()
}
