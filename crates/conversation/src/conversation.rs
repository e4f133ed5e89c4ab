//! The conversation, and the one function that changes it.

use std::sync::Arc;

use imbl::{OrdMap, Vector};
use interleaf_model::{AgentName, Message, MessageId, Origin, Role, Usage};

use crate::batch::End;
use crate::course::Course;
use crate::ids::Ids;
use crate::marks::Marks;
use crate::operate::operated;
use crate::query::answer;
use crate::role_index::RoleIndex;
use crate::view::{View, view_of};
use crate::{
    Batch, Counters, Error, ErrorKind, Event, Fill, Hit, Operated, Operation, Query, Scope,
};

/// The mark that the engine knows: such a message survives truncation and
/// compaction, with its whole tool block.
pub const PINNED: &str = "pinned";

/// A conversation: everything that was said, and what of it is visible.
///
/// A clone is a fork: it shares the past and costs a few words, however long the
/// conversation is.
#[derive(Clone, PartialEq)]
pub struct Conversation {
    pub(crate) log: Vector<Arc<Message>>,
    pub(crate) log_roles: RoleIndex,
    ids: Ids,
    pub(crate) view: View,
    pub(crate) marks: Marks,
    pub(crate) batches: Vector<Batch>,
    pub(crate) usage: Counters,
    /// The counters of sub-agents.
    pub(crate) agents: OrdMap<AgentName, Counters>,
    pub(crate) course: Course,
}

impl Default for Conversation {
    fn default() -> Self {
        Self::new()
    }
}

impl Conversation {
    /// A conversation in which nothing has been said.
    pub fn new() -> Self {
        Self {
            log: Vector::new(),
            log_roles: RoleIndex::default(),
            ids: Ids::default(),
            view: View::default(),
            marks: Marks::default(),
            batches: Vector::unit(Batch::first()),
            usage: Counters::default(),
            agents: OrdMap::new(),
            course: Course::default(),
        }
    }

    /// A conversation that shares its past with this one and goes its own way.
    pub fn fork(&self) -> Self {
        self.clone()
    }

    /// Rebuilds a conversation from its events.
    ///
    /// # Errors
    /// If an event does not fit the ones before it.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Self, Error> {
        let mut conversation = Self::new();
        for event in events {
            conversation.apply(event)?;
        }
        Ok(conversation)
    }

    /// Adds a message to the log and shows it at the end of the view.
    ///
    /// A message without an id gets one from its place in the log. How it fits the
    /// messages before it is not judged: a broken history is stored as it came.
    ///
    /// # Errors
    /// If it is a blank user message, another message has its id, or the log is full.
    pub fn append(&mut self, message: impl Into<Arc<Message>>) -> Result<Event, Error> {
        let mut message: Arc<Message> = message.into();
        check_message(&message, "message")?;
        match message.id.is_unassigned() {
            true => Arc::make_mut(&mut message).id = self.free_id(self.log.len(), |_| false),
            false => self.check_id(&message.id, "message")?,
        }
        self.record(Event::Appended { message })
    }

    /// Changes the view.
    ///
    /// # Errors
    /// If a setting is missing, contradicts another or lies out of range; the error
    /// names it, and nothing is changed.
    pub fn operate(&mut self, operation: Operation) -> Result<Operated, Error> {
        let operated = operated(self, operation)?;
        if let Some(event) = &operated.event {
            self.apply(event)?;
        }
        Ok(operated)
    }

    /// Puts a mark on the message at this log index.
    ///
    /// # Errors
    /// If there is no such message, or the mark is empty.
    pub fn mark(&mut self, index: u32, mark: &str) -> Result<Event, Error> {
        if mark.trim().is_empty() {
            return Err(Error::settings("mark", "it must not be empty"));
        }
        self.check_index("index", index)?;
        self.record(Event::Marked { index, mark: mark.to_owned() })
    }

    /// Takes a mark off the message at this log index; it may not have carried it.
    ///
    /// # Errors
    /// If there is no such message.
    pub fn unmark(&mut self, index: u32, mark: &str) -> Result<Event, Error> {
        self.check_index("index", index)?;
        self.record(Event::Unmarked { index, mark: mark.to_owned() })
    }

    /// Takes the view and the marks back to the end of a batch, exactly. That opens a
    /// batch of its own, so that a rollback can be rolled back. The current batch has
    /// not ended: going back to it changes nothing and gives no event.
    ///
    /// # Errors
    /// If there is no such batch.
    pub fn roll_back(&mut self, batch: u32) -> Result<Vec<Event>, Error> {
        let count = self.batches.len();
        if batch as usize >= count {
            let rule = format!("there is no batch {batch}; the newest is {}", count - 1);
            return Err(Error::out_of_range("batch", rule));
        }
        let Some(end) = self.batches.get(batch as usize).and_then(|batch| batch.end.as_ref())
        else {
            return Ok(Vec::new());
        };
        // The marks go back by events of their own: what an event means never changes.
        let unmark = |(mark, index): (&str, u32)| Event::Unmarked { index, mark: mark.to_owned() };
        let mark = |(mark, index): (&str, u32)| Event::Marked { index, mark: mark.to_owned() };
        let events: Vec<Event> = std::iter::once(Event::RolledBack { batch })
            .chain(self.marks.minus(&end.marks).map(unmark))
            .chain(end.marks.minus(&self.marks).map(mark))
            .collect();
        events.iter().try_for_each(|event| self.apply(event))?;
        Ok(events)
    }

    /// Hides everything and starts counting tokens anew. The log, the marks and the
    /// lifetime counter stay, and the view can be rolled back.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn reset(&mut self) -> Result<Event, Error> {
        self.record(Event::Reset {})
    }

    /// Notes that a request is made from the view as it is now, by the main agent or by
    /// a sub-agent.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn begin_request(&mut self, agent: Option<&AgentName>) -> Result<Event, Error> {
        self.record(Event::RequestBegan { agent: agent.cloned() })
    }

    /// Notes what the API reports of an agent's current request: all of it so far, not
    /// what was added. A stream may report many times.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn note_usage(&mut self, usage: Usage, agent: Option<&AgentName>) -> Result<Event, Error> {
        self.record(Event::UsageNoted { usage, agent: agent.cloned(), earlier: false })
    }

    /// Notes what the API reports of a request that an agent made before its current one:
    /// all of it, once.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn note_earlier_usage(
        &mut self,
        usage: Usage,
        agent: Option<&AgentName>,
    ) -> Result<Event, Error> {
        self.record(Event::UsageNoted { usage, agent: agent.cloned(), earlier: true })
    }

    fn record(&mut self, event: Event) -> Result<Event, Error> {
        self.apply(&event)?;
        Ok(event)
    }

    /// Takes in an event: the only way in which a conversation changes.
    ///
    /// # Errors
    /// If the event does not fit, for it belongs to another conversation or is
    /// damaged. Nothing is changed then.
    pub fn apply(&mut self, event: &Event) -> Result<(), Error> {
        match event {
            Event::Appended { message } => {
                let index = self.push(message.clone())?;
                self.view.push(index, message.role());
            }
            Event::Operated { operation, view } => {
                let new: Vec<Arc<Message>> = match operation {
                    Operation::Insert(insert) => {
                        insert.messages.iter().cloned().map(Arc::new).collect()
                    }
                    Operation::Replace(replace) => vec![Arc::new(replace.message.clone())],
                    Operation::Truncate(_) | Operation::Clear(_) | Operation::Filter(_) => vec![],
                };
                let n_logged = self.log.len();
                let indices = view_of(view, n_logged + new.len())?;
                self.check_room(new.len())?;
                for message in new {
                    self.push(message)?;
                }
                let indices = self.view.reshaped(&indices, n_logged);
                self.start_batch(operation.name(), indices);
            }
            Event::Marked { index, mark } => {
                self.check_event_index("marked.index", *index)?;
                self.marks.add(mark, *index);
            }
            Event::Unmarked { index, mark } => {
                self.check_event_index("unmarked.index", *index)?;
                self.marks.remove(mark, *index);
            }
            Event::RolledBack { batch } => {
                let end = self.batches.get(*batch as usize).and_then(|batch| batch.end.clone());
                let Some(end) = end else {
                    let rule = format!("there is no batch {batch} that has ended");
                    return Err(Error::event("rolled_back.batch", rule));
                };
                self.start_batch("roll_back", end.view);
                self.usage.cumulative = end.cumulative;
                self.each_agent(|name, counters| {
                    counters.cumulative = end.agents.get(name).copied().unwrap_or_default();
                });
            }
            Event::RequestBegan { agent } => {
                let log_len = self.log.len() as u32;
                self.counters_mut(agent.as_ref()).begin(log_len);
            }
            Event::UsageNoted { usage, agent, earlier } => {
                let counters = self.counters_mut(agent.as_ref());
                match earlier {
                    true => counters.note_earlier(*usage),
                    false => counters.note(*usage),
                }
            }
            Event::Reset {} => {
                self.start_batch("reset", Vector::new());
                self.usage.rewind();
                self.each_agent(|_, counters| counters.rewind());
            }
        }
        self.course.follow(event);
        Ok(())
    }

    /// Adds a message to the log, with an id of its own if it has none, or another's.
    pub(crate) fn push(&mut self, message: Arc<Message>) -> Result<u32, Error> {
        self.push_beside(message, |_| false)
    }

    /// Adds a message to the log. An id that it is given is none of those that are claimed.
    pub(crate) fn push_beside(
        &mut self,
        mut message: Arc<Message>,
        is_claimed: impl Fn(&MessageId) -> bool,
    ) -> Result<u32, Error> {
        self.check_room(1)?;
        if message.id.is_unassigned() || self.find(&message.id).is_some() {
            Arc::make_mut(&mut message).id = self.free_id(self.log.len(), is_claimed);
        }
        let index = self.log.len() as u32;
        self.ids.add(&message.id, index);
        self.log_roles.push(message.role(), index);
        self.log.push_back(message);
        Ok(index)
    }

    /// The id of the message that comes at this index: that of its place, or one like it if
    /// that is taken or claimed.
    pub(crate) fn free_id(
        &self,
        index: usize,
        is_claimed: impl Fn(&MessageId) -> bool,
    ) -> MessageId {
        let mut id = MessageId::of_index(index);
        let mut n = 1_u32;
        while self.find(&id).is_some() || is_claimed(&id) {
            n += 1;
            id = MessageId::new(format!("m{index}_{n}"));
        }
        id
    }

    pub(crate) fn check_id(&self, id: &MessageId, field: &str) -> Result<(), Error> {
        match self.find(id) {
            None => Ok(()),
            Some(index) => {
                let rule = format!("{:?} is the id of message {index}", id.as_str());
                Err(Error::new(ErrorKind::Message, format!("{field}.id"), rule))
            }
        }
    }

    /// Closes the current batch and opens one with another view.
    fn start_batch(&mut self, cause: &str, indices: Vector<u32>) {
        let view = View::new(indices, &self.log);
        let old = std::mem::replace(&mut self.view, view);
        let end = End {
            view: old.indices().clone(),
            marks: self.marks.clone(),
            cumulative: self.usage.cumulative,
            agents: self.agents.iter().map(|(name, c)| (name.clone(), c.cumulative)).collect(),
        };
        if let Some(current) = self.batches.back_mut() {
            current.end = Some(end);
        }
        let boundary = self.view.boundary();
        self.batches.push_back(Batch { cause: cause.to_owned(), boundary, end: None });
        self.usage.request_log_len = None;
        self.each_agent(|_, counters| counters.request_log_len = None);
    }

    /// The counters of the main agent, or of a sub-agent.
    fn counters_mut(&mut self, agent: Option<&AgentName>) -> &mut Counters {
        match agent {
            None => &mut self.usage,
            Some(name) => self.agents.entry(name.clone()).or_default(),
        }
    }

    fn each_agent(&mut self, change: impl Fn(&AgentName, &mut Counters)) {
        // There are few, and most conversations have none.
        let changed = |(name, counters): (&AgentName, &Counters)| {
            let mut counters = *counters;
            change(name, &mut counters);
            (name.clone(), counters)
        };
        self.agents = self.agents.iter().map(changed).collect();
    }

    fn check_room(&self, more: usize) -> Result<(), Error> {
        if self.log.len() + more > u32::MAX as usize {
            return Err(Error::new(ErrorKind::Message, "message", "the log is full"));
        }
        Ok(())
    }

    fn check_event_index(&self, field: &str, index: u32) -> Result<(), Error> {
        self.check_index(field, index).map_err(|e| Error::event(field, e.message()))
    }

    fn check_index(&self, field: &str, index: u32) -> Result<(), Error> {
        let len = self.log.len();
        if index as usize >= len {
            let rule = format!("there is no message {index} in a log of {len}");
            return Err(Error::out_of_range(field, rule));
        }
        Ok(())
    }
}

/// Asking.
impl Conversation {
    /// How many messages were ever said.
    pub fn log_len(&self) -> usize {
        self.log.len()
    }

    /// How many messages are visible.
    pub fn view_len(&self) -> usize {
        self.view.len()
    }

    /// The message at this log index.
    pub fn message(&self, index: u32) -> Option<&Arc<Message>> {
        self.log.get(index as usize)
    }

    /// The log index of the message with this id.
    pub fn find(&self, id: &MessageId) -> Option<u32> {
        self.ids.find(id, &self.log)
    }

    /// Everything that was ever said, in order.
    pub fn log(&self) -> impl DoubleEndedIterator<Item = &Arc<Message>> {
        self.log.iter()
    }

    /// The visible messages, in order.
    pub fn visible(&self) -> impl DoubleEndedIterator<Item = &Arc<Message>> {
        /// To go over this many costs less than to look one up.
        const NEAR: usize = 16;
        // A view holds only indices of the log, and they nearly always follow one another.
        let (mut ahead, mut next) = (self.log.iter(), 0);
        self.view.indices().iter().filter_map(move |&index| {
            let index = index as usize;
            if index < next || index >= self.log.len() {
                return self.log.get(index);
            }
            if index - next >= NEAR {
                (ahead, next) = (self.log.focus().narrow(index..).into_iter(), index);
            }
            let passed = index - next;
            next = index + 1;
            ahead.nth(passed)
        })
    }

    /// The log indices of the visible messages, in order.
    pub fn view(&self) -> impl Iterator<Item = u32> {
        self.view.indices().iter().copied()
    }

    /// The visible message at this position.
    pub fn visible_at(&self, position: usize) -> Option<&Arc<Message>> {
        self.message(self.view.index_at(position)?)
    }

    /// How many messages of a role there are, without counting them.
    pub fn count(&self, scope: Scope, role: Role) -> usize {
        match scope {
            Scope::View => self.view.roles().count(role),
            Scope::Log => self.log_roles.count(role),
        }
    }

    /// The messages that answer a query, in conversation order.
    ///
    /// # Errors
    /// If its range lies outside of what matches.
    pub fn query(&self, query: &Query) -> Result<Vec<Hit<'_>>, Error> {
        answer(self, query)
    }

    /// Whether the message at this log index carries a mark.
    pub fn has_mark(&self, index: u32, mark: &str) -> bool {
        self.marks.has(mark, index)
    }

    /// Every mark with the log indices that carry it, by name of the mark.
    pub fn marks(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = u32>)> {
        self.marks.iter().map(|(mark, set)| (mark, set.iter().copied()))
    }

    /// The batches, oldest first; the last is the current one.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.batches.iter()
    }

    /// The batch that has not ended.
    pub fn current_batch(&self) -> u32 {
        // There is always one.
        self.batches.len().saturating_sub(1) as u32
    }

    /// Whether all that was visible at the end of a batch stands at the beginning of the view: what
    /// was done since took nothing of it, or was rolled back.
    pub fn goes_on_from(&self, batch: u32) -> bool {
        let end = self.batches.get(batch as usize).and_then(|batch| batch.end.as_ref());
        let view = self.view.indices();
        end.is_none_or(|end| view.iter().take(end.view.len()).eq(end.view.iter()))
    }

    /// The token counters of the main agent.
    pub fn usage(&self) -> &Counters {
        &self.usage
    }

    /// The token counters of a sub-agent; `None` if it never made a request.
    pub fn usage_of(&self, agent: &AgentName) -> Option<&Counters> {
        self.agents.get(agent)
    }

    /// The event with which an agent's last request began, counted from 0. A request that was
    /// made after the point of a rollback is none.
    pub fn last_request(&self, agent: Option<&AgentName>) -> Option<u64> {
        self.course.last_request(agent)
    }

    /// The event with which the request began that an agent made last, whatever was rolled
    /// back since: the one that [`Counters::current`] counts.
    pub fn newest_request(&self, agent: Option<&AgentName>) -> Option<u64> {
        self.course.newest_request(agent)
    }

    /// The messages that were appended since an agent's last request was made; `None` if there
    /// was none, or an operation has changed the view since.
    pub fn since_request(
        &self,
        agent: Option<&AgentName>,
    ) -> Option<impl Iterator<Item = &Arc<Message>>> {
        let counters = match agent {
            None => &self.usage,
            Some(name) => self.agents.get(name)?,
        };
        let since = counters.request_log_len? as usize;
        Some((since..self.log.len()).filter_map(|index| self.log.get(index)))
    }

    /// The sub-agents that made requests, and their token counters.
    pub fn agents(&self) -> impl Iterator<Item = (&AgentName, &Counters)> {
        self.agents.iter()
    }

    /// How full the main agent's window is, judged from its last request; `None` if no
    /// request was counted, or an operation has changed the view since.
    pub fn fill(&self) -> Option<Fill<'_>> {
        self.filled(&self.usage, &Origin::Main)
    }

    /// How full a sub-agent's window is, judged in the same way.
    pub fn fill_of(&self, agent: &AgentName) -> Option<Fill<'_>> {
        self.filled(self.agents.get(agent)?, &Origin::SubAgent(agent.clone()))
    }

    fn filled(&self, counters: &Counters, origin: &Origin) -> Option<Fill<'_>> {
        let since = counters.request_log_len?;
        if counters.current.prompt == 0 {
            return None;
        }
        // Since the request nothing but appends has touched the view.
        let added = self.view.indices().iter().rev().take_while(|&&index| index >= since);
        let added = added.filter_map(|&index| self.message(index));
        let mut added: Vec<_> = added.filter(|message| message.origin == *origin).collect();
        added.reverse();
        Some(Fill { prompt: counters.current.prompt, added })
    }

    pub(crate) fn hit(&self, scope: Scope, place: u32) -> Option<Hit<'_>> {
        let (index, position) = match scope {
            Scope::View => (self.view.index_at(place as usize)?, Some(place as usize)),
            Scope::Log => (place, None),
        };
        Some(Hit { index, position, message: self.message(index)? })
    }

    /// The visible positions with this mark.
    pub(crate) fn positions_marked(&self, mark: &str) -> Vec<usize> {
        let indices = self.marks.with(mark).into_iter().flatten();
        let mut positions: Vec<usize> =
            indices.filter_map(|&index| self.view.position_of(index)).collect();
        positions.sort_unstable();
        positions
    }
}

impl std::fmt::Debug for Conversation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let marks: Vec<_> = self.marks().map(|(mark, on)| (mark, on.collect::<Vec<_>>())).collect();
        f.debug_struct("Conversation")
            .field("log", &self.log)
            .field("view", self.view.indices())
            .field("marks", &marks)
            .field("batches", &self.batches)
            .field("usage", &self.usage)
            .finish()
    }
}

/// What append and every operation that brings in messages ask of them (A2).
pub(crate) fn check_message(message: &Message, field: &str) -> Result<(), Error> {
    if message.role() == Role::User && message.is_blank() {
        let rule = "a user message must say something: its text is blank";
        return Err(Error::new(ErrorKind::Message, field, rule));
    }
    Ok(())
}
