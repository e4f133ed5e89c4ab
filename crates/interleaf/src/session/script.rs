//! The requests of a session as scripts, to be played again (H3).
//!
//! What was said, what was visible and which summary was sent is in the store. What else a
//! request was made from is told by its body: system text, tools, and the context, whose
//! texts are known by their form. What a rule that amends has shown is stored as data.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use interleaf_assemble::{
    Agent, ContextText, Elements, Outcome, Recipe, ShownContext, Summary, View, Way, assemble,
};
use interleaf_conversation::{Conversation, Event};
use interleaf_model::{AgentName, ContextKind, Message, Requirements, Role, Timestamp};
use interleaf_store::{Head, LastBody, Page, RecordFilter, RecordKind, Replay, SentRequest};
use interleaf_wire::{Family, Vendor};
use smol_str::{SmolStr, format_smolstr};

use super::Session;
use super::terms::Terms;
use super::told::Told;
use crate::hearing::{Following, Heard};
use crate::replay::{Decoded, Form, Script, ScriptHead, Turn};
use crate::{Error, Target, read};

/// How many requests are read at once.
const PAGE: usize = 32;

impl Session {
    /// The requests that were recorded, as scripts to be played: one for the main agent and
    /// one for each sub-agent that made a request. `progress` is told of each request that was
    /// read.
    ///
    /// # Errors
    /// If the store refuses, or something in it is damaged.
    pub async fn scripts(&self, mut progress: impl FnMut()) -> Result<Vec<Script>, Error> {
        let mut lineage = vec![self.head.clone()];
        while let Some(fork) = lineage.last().and_then(|head| head.parent) {
            lineage.push(self.store.head(fork.session).await.map_err(Error::store)?);
        }
        let mut requests = Requests::of(self, &lineage);
        let which = RecordFilter { kind: Some(RecordKind::Summary), as_of: None };
        let has_summaries = !self.records(which).await?.is_empty();
        let mut recording = Recording { session: self, has_summaries, lanes: BTreeMap::new() };
        let mut conversation = Conversation::new();
        let mut events = Replay::new(&*self.store, self.id(), 0..self.seq());
        let mut seq = 0;
        let mut next = requests.next().await?;
        while seq < self.seq() {
            let page = events.next_page().await.map_err(Error::store)?;
            if page.is_empty() {
                return Err(Error::too_short(self.id(), seq, self.seq()));
            }
            for event in page {
                if let Some(request) = next.take_if(|request| request.sent.seq == seq) {
                    let agent = match &event {
                        Event::RequestBegan { agent } => agent.clone(),
                        _ => None,
                    };
                    recording.add(&conversation, agent, request).await?;
                    progress();
                    next = requests.next().await?;
                }
                conversation.apply(&event).map_err(Error::conversation)?;
                seq += 1;
            }
        }
        let mut scripts = Vec::new();
        for (agent, lane) in recording.lanes {
            scripts.extend(lane.script(self, agent));
        }
        Ok(scripts)
    }
}

/// The requests of a session and, before them, those that it shares with its parents.
struct Requests<'a> {
    session: &'a Session,
    /// Whose they are, and before which event, the oldest first.
    owners: VecDeque<(Head, u64)>,
    page: VecDeque<SentRequest>,
    next_no: u64,
    last: Option<LastBody>,
}

/// A request with its body.
struct Recorded {
    sent: SentRequest,
    body: LastBody,
    is_shared: bool,
}

impl<'a> Requests<'a> {
    fn of(session: &'a Session, lineage: &[Head]) -> Self {
        let ends = lineage.iter().filter_map(|head| head.parent).map(|fork| fork.seq);
        let ends = std::iter::once(u64::MAX).chain(ends);
        let owners = lineage.iter().cloned().zip(ends).collect::<Vec<_>>().into_iter().rev();
        Self { session, owners: owners.collect(), page: VecDeque::new(), next_no: 0, last: None }
    }

    async fn next(&mut self) -> Result<Option<Recorded>, Error> {
        while let Some((owner, end)) = self.owners.front() {
            if self.page.is_empty() {
                let page = Page::from(self.next_no, PAGE);
                let page =
                    self.session.store.requests(owner.id, page).await.map_err(Error::store)?;
                self.page.extend(page);
            }
            if let Some(sent) = self.page.pop_front().filter(|sent| sent.seq < *end) {
                let body = LastBody::following(self.last.as_ref(), &sent).map_err(Error::store)?;
                self.next_no = sent.no + 1;
                self.last = Some(body.clone());
                let is_shared = self.owners.len() > 1;
                return Ok(Some(Recorded { sent, body, is_shared }));
            }
            self.owners.pop_front();
            (self.next_no, self.last) = (0, None);
            self.page.clear();
        }
        Ok(None)
    }
}

/// A session that is read request by request.
struct Recording<'a> {
    session: &'a Session,
    has_summaries: bool,
    lanes: BTreeMap<Option<AgentName>, Lane>,
}

/// What is known of an agent's requests so far.
#[derive(Default)]
struct Lane {
    following: Following,
    batch: u32,
    turns: Vec<Turn>,
    /// The events that the turns began with.
    begun: HashMap<u64, usize>,
    last: Option<u64>,
    first_at: Option<Timestamp>,
    head: Option<Arc<ScriptHead>>,
    target: Option<Arc<Target>>,
    terms: Option<Arc<Terms>>,
    shown: ShownContext,
    systems: Systems,
    notes: Vec<String>,
}

impl Recording<'_> {
    async fn add(
        &mut self,
        conversation: &Conversation,
        agent: Option<AgentName>,
        request: Recorded,
    ) -> Result<(), Error> {
        let Recorded { sent, body, is_shared } = request;
        let event = conversation.last_request(agent.as_ref());
        let summary = match self.has_summaries && agent.is_none() {
            true => self.session.active_summary_at(sent.seq).await?.map(Arc::new),
            false => None,
        };
        let lane = self.lanes.entry(agent.clone()).or_default();
        let mut turn = Turn { number: sent.no, is_shared, usage: sent.usage, ..Turn::default() };
        if lane.last != event {
            // A rollback, or a request whose body was not recorded.
            turn.goes_on_from = Some(event.and_then(|event| lane.begun.get(&event).copied()));
            lane.shown = match event {
                Some(event) => self.session.stood(event).await?.shown,
                None => ShownContext::default(),
            };
        }
        let told = Told::by(&sent);
        let agent = agent.map_or(Agent::Main, Agent::Sub);
        lane.hear(conversation, &agent, &mut turn);
        lane.ask(&sent, &mut turn);
        lane.agree(&told, &mut turn);
        turn.rate = told.tokens.as_ref().map(|tokens| tokens.rate);
        let first = *lane.first_at.get_or_insert(sent.at);
        let since = sent.at.as_microseconds().saturating_sub(first.as_microseconds());
        turn.at = since.max(0) as u64 / 1_000_000;
        lane.read(&mut turn, (&sent, &body), &told, summary);
        match &told.elements {
            Some(elements) => lane.shown.take(elements),
            None => lane.shown = ShownContext::default(),
        }
        if let Some(elements) = &told.elements {
            turn.context = lane.amended(elements, std::mem::take(&mut turn.context));
        }
        lane.begun.insert(sent.seq, lane.turns.len());
        lane.last = Some(sent.seq);
        lane.turns.push(turn);
        Ok(())
    }
}

impl Lane {
    /// Takes in what was said, and what became of it.
    fn hear(&mut self, conversation: &Conversation, agent: &Agent, turn: &mut Turn) {
        let Heard { view, said, pinned } = self.following.follow(conversation, agent);
        let batches = conversation.batches().skip(self.batch as usize + 1);
        turn.events.extend(batches.map(|batch| SmolStr::new(&batch.cause)));
        self.batch = conversation.current_batch();
        if let Some(view) = &view {
            self.systems = Systems::default();
            self.systems.hear(&view.messages, agent);
        }
        self.systems.hear(&said, agent);
        (turn.view, turn.said, turn.pinned) = (view, said, pinned);
    }

    /// Takes in who was asked.
    fn ask(&mut self, sent: &SentRequest, turn: &mut Turn) {
        let is_it = |target: &Arc<Target>| {
            target.vendor.name == sent.vendor && target.model() == sent.model
        };
        if !self.target.as_ref().is_some_and(is_it) {
            if self.target.is_some() {
                turn.events.push(format_smolstr!("model {}", sent.model));
            }
            let unknown = || {
                let mut vendor = Vendor::of(Family::OpenaiChat).clone();
                vendor.name = sent.vendor.as_str().into();
                Target::of(vendor, &sent.model)
            };
            let target = Target::new(&sent.vendor, &sent.model).unwrap_or_else(|_| unknown());
            self.target = Some(Arc::new(target));
        }
        turn.target.clone_from(&self.target);
    }

    /// Takes in how it was to be made.
    fn agree(&mut self, told: &Told, turn: &mut Turn) {
        let by_rule = || told.placement.as_ref().map(|placed| Terms::by(placed.rule.clone()));
        let terms = told.terms.clone().or_else(by_rule).unwrap_or_default();
        if self.terms.as_deref() != Some(&terms) {
            self.terms = Some(Arc::new(terms));
        }
        turn.terms.clone_from(&self.terms);
    }

    /// Takes in what the body tells: the head, and the texts of the context.
    fn read(
        &mut self,
        turn: &mut Turn,
        (sent, body): (&SentRequest, &LastBody),
        told: &Told,
        summary: Option<Arc<Summary>>,
    ) {
        let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        let family = turn.target.as_ref().map(|target| target.vendor.family);
        let seen = || read::request_family(&text);
        let decoded = family
            .and_then(|family| Decoded::of(family, &text).ok())
            .or_else(|| seen().and_then(|family| Decoded::of(family, &text).ok()));
        let Some(mut decoded) = decoded else {
            let no = sent.no;
            let note = "its body cannot be read: what the context said then is not known";
            self.notes.push(format!("request {no}: {note}"));
            return;
        };
        if told.terms.as_ref().is_some_and(|terms| terms.no_tools) {
            decoded.tools.clear();
        }
        for tool in &mut decoded.tools {
            tool.name = told.names.original(tool.name.as_str());
        }
        if decoded.has_summary && summary.is_none() {
            let no = sent.no;
            self.notes.push(format!("request {no}: its summary is not one of the session's"));
        }
        let system = self.systems.leave(&decoded.system);
        let head = ScriptHead { system, tools: decoded.tools.as_slice().into(), summary };
        if self.head.as_deref() != Some(&head) {
            if let Some(old) = &self.head {
                let changed = [
                    ("system", old.system != head.system),
                    ("tools", old.tools != head.tools),
                    ("summary", old.summary != head.summary),
                ];
                let changed = changed.into_iter().filter(|(_, is_changed)| *is_changed);
                turn.events.extend(changed.map(|(what, _)| SmolStr::new(what)));
            }
            self.head = Some(Arc::new(head));
            turn.head.clone_from(&self.head);
        }
        turn.is_unmarked = !decoded.is_marked();
        turn.context = match &told.elements {
            Some(elements) => at_tail(&decoded, elements),
            None => decoded.texts(),
        };
    }

    /// What the sources say under a rule that amends: what was shown of them, and what stands
    /// at the tail.
    fn amended(&self, elements: &Elements, tail: Vec<ContextText>) -> Vec<ContextText> {
        type Key = (ContextKind, u32);
        let mut keys: Vec<Key> = elements.ways.iter().map(|w| (w.kind.clone(), w.nth)).collect();
        for element in self.shown.elements() {
            let key = (element.kind.clone(), element.nth);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let is_tail = |key: &Key| {
            let mut ways = elements.ways.iter().filter(|way| way.way == Way::Tail);
            ways.any(|way| (&way.kind, way.nth) == (&key.0, key.1))
        };
        let mut tail = tail.into_iter();
        let mut texts: Vec<(Key, ContextText)> = Vec::new();
        for key in keys {
            let text = match is_tail(&key) {
                true => tail.next(),
                false => self.shown.text(&key.0, key.1),
            };
            let Some(text) = text else { continue };
            // Those of a kind that say nothing keep their numbers.
            let n_before = texts.iter().filter(|(known, _)| known.0 == key.0).count() as u32;
            for nth in n_before..key.1 {
                texts.push(((key.0.clone(), nth), ContextText::new(key.0.clone(), "")));
            }
            texts.push((key, text));
        }
        texts.into_iter().map(|(_, text)| text).collect()
    }

    fn script(self, session: &Session, agent: Option<AgentName>) -> Option<Script> {
        if self.turns.iter().all(|turn| turn.is_shared) {
            return None;
        }
        let mut name = session.id().to_string();
        if let Some(agent) = &agent {
            name = format!("{name} {agent}");
        }
        let agent = agent.map_or(Agent::Main, Agent::Sub);
        let mut script = Script { name, agent, turns: self.turns, ..Script::default() };
        let sources = script.sources();
        script.notes.push(match sources.is_empty() {
            true => "no context was recorded, so that every rule places the same".to_owned(),
            false => format!("the context as it was recorded: {}", sources.join(", ")),
        });
        let n_shared = script.turns.iter().filter(|turn| turn.is_shared).count();
        match n_shared {
            0 => {}
            1 => script.notes.push("one request before the fork is played, and not counted".into()),
            n => script
                .notes
                .push(format!("{n} requests before the fork are played, and not counted")),
        }
        script.notes.extend(self.notes);
        script.note_changes();
        script.note_marks();
        Some(script)
    }
}

/// What the sources at the tail say, in their order.
fn at_tail(decoded: &Decoded, elements: &Elements) -> Vec<ContextText> {
    let ways = elements.ways.iter().filter(|way| way.way == Way::Tail);
    let last = decoded.last();
    let text = |kind: &ContextKind, nth| match last.get(&(kind, nth)) {
        Some(Form::Whole(text)) => ContextText::clone(text),
        Some(Form::Unread) => ContextText::unread(kind.clone()),
        Some(Form::Changes(_) | Form::Withdrawn) | None => ContextText::new(kind.clone(), ""),
    };
    ways.map(|way| text(&way.kind, way.nth)).collect()
}

/// The system messages of a conversation, and what they make of a request's system text.
#[derive(Default)]
pub(super) struct Systems {
    messages: Vec<Arc<Message>>,
    /// Whether something else has been said.
    has_begun: bool,
    /// What all of them say, and what those say that open the conversation: later ones may stay
    /// in their place.
    said: [Option<String>; 2],
}

impl Systems {
    pub(super) fn hear(&mut self, messages: &[Arc<Message>], agent: &Agent) {
        for message in messages {
            let is_system = message.role() == Role::System;
            self.has_begun |= !is_system;
            if is_system {
                self.messages.push(message.clone());
                let said = said_as_system(&self.messages, agent);
                match self.has_begun {
                    true => self.said[0] = said,
                    false => self.said = [said.clone(), said],
                }
            }
        }
    }

    /// What the recipe added to the system text that the conversation has itself.
    pub(super) fn leave(&self, texts: &[Arc<str>]) -> Vec<Arc<str>> {
        let all = joined(texts.iter().map(|text| &**text));
        let known = self.said.iter().flatten();
        let own = known.filter_map(|said| all.strip_suffix(said.as_str())).next().unwrap_or(&all);
        let own = own.strip_suffix('\n').unwrap_or(own);
        if own.is_empty() { Vec::new() } else { vec![own.into()] }
    }
}

fn said_as_system(systems: &[Arc<Message>], agent: &Agent) -> Option<String> {
    let task = Arc::new(Message::user("-"));
    let view = View::of(systems.iter().cloned().chain([task]));
    let recipe = Recipe::new().with_agent(agent.clone());
    let made = assemble(&view, &recipe, Requirements::STRICT, None).ok()?;
    let Outcome::Ready(prompt) = made.outcome else { return None };
    let head = prompt.messages().find(|message| message.role() == Role::System)?;
    Some(joined(head.texts()))
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}
