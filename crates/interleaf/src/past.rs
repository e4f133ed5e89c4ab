//! From a conversation to events that lead to it.
//!
//! A transcript says how a conversation stands, and what was visible at the end of each
//! batch. That is enough to tell its past again: within a batch messages were only
//! appended, and an event of an operation carries the view that it led to.

use std::collections::BTreeMap;
use std::sync::Arc;

use interleaf_conversation::{
    Clear, Conversation, Event, Filter, Insert, Operation, Replace, Truncate,
};
use interleaf_model::{AgentName, BatchRecord, Message, Ranges, Transcript, Usage, UsageRecord};

/// A conversation as events.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Retold {
    /// The events, in order.
    pub events: Vec<Event>,
    /// Whether they lead to all of it. If not, its batches and token counters are those
    /// of no possible past, and were left out.
    pub exact: bool,
}

/// Events that lead to a conversation, as if it had been said to a session.
///
/// ```
/// use interleaf::conversation::Conversation;
///
/// let conversation = interleaf::read::conversation(r#"[{"role": "user", "content": "hi"}]"#)?;
/// let retold = interleaf::retell(&conversation.conversation);
/// assert!(retold.exact);
/// assert_eq!(Conversation::replay(&retold.events).unwrap(), conversation.conversation);
/// # Ok::<(), interleaf::Error>(())
/// ```
pub fn retell(conversation: &Conversation) -> Retold {
    let transcript = conversation.to_transcript();
    let leads_there = |events: &Vec<Event>| {
        Conversation::replay(events).is_ok_and(|replayed| replayed == *conversation)
    };
    if let Some(events) = Past::new(&transcript).tell().filter(leads_there) {
        return Retold { events, exact: true };
    }
    // A transcript that does not say when its marks were made has made them at the end.
    let marked_last = Transcript { batches: unmarked(&transcript), ..transcript.clone() };
    let leads_nearly_there = |events: &Vec<Event>| {
        Conversation::replay(events).is_ok_and(|replayed| {
            let replayed = replayed.to_transcript();
            Transcript { batches: unmarked(&replayed), ..replayed } == marked_last
        })
    };
    let mut past = Past::new(&marked_last);
    past.marks_come_last = true;
    match past.tell().filter(leads_nearly_there) {
        Some(events) => Retold { events, exact: true },
        None => Retold { events: plain(&transcript), exact: false },
    }
}

/// The batches, without their marks.
fn unmarked(transcript: &Transcript) -> Vec<BatchRecord> {
    let batches = transcript.batches.iter().cloned();
    batches.map(|batch| BatchRecord { marks: None, ..batch }).collect()
}

/// The messages, what is visible of them, and the marks.
fn plain(transcript: &Transcript) -> Vec<Event> {
    let mut events: Vec<Event> = transcript.messages.iter().map(appended).collect();
    if let Some(view) = &transcript.view {
        let operation = Operation::Truncate(Truncate::default());
        events.push(Event::Operated { operation, view: view.clone() });
    }
    events.extend(marked(&BTreeMap::new(), &transcript.marks));
    events
}

/// The log indices that carry each mark.
type Marks = BTreeMap<String, Vec<u32>>;

static NO_MARKS: Marks = Marks::new();

struct Past<'a> {
    transcript: &'a Transcript,
    events: Vec<Event>,
    /// How much of the log there is.
    len: u32,
    /// What the sub-agents have used.
    agents: BTreeMap<AgentName, Usage>,
    /// What the main agent has used.
    main: Usage,
    marks: &'a Marks,
    marks_come_last: bool,
}

impl<'a> Past<'a> {
    fn new(transcript: &'a Transcript) -> Self {
        let (agents, main) = (BTreeMap::new(), Usage::default());
        let (marks, marks_come_last) = (&NO_MARKS, false);
        Self { transcript, events: vec![], len: 0, agents, main, marks, marks_come_last }
    }

    /// The events, if there is a past that fits.
    fn tell(mut self) -> Option<Vec<Event>> {
        let transcript = self.transcript;
        let log = transcript.messages.len() as u32;
        let usage = transcript.usage.clone().unwrap_or_default();
        let view: Vec<u32> = match &transcript.view {
            Some(view) => view.iter().collect(),
            None => (0..log).collect(),
        };
        let only = [BatchRecord { cause: "start".to_owned(), ..BatchRecord::default() }];
        let batches = match transcript.batches.as_slice() {
            [] => &only,
            batches => batches,
        };
        let last = batches.len() - 1;
        let main = (None, &usage);
        let agents = usage.agents.iter().map(|(name, counters)| (Some(name), counters));
        let counters: Vec<Counted<'_>> = std::iter::once(main).chain(agents).collect();
        for (i, batch) in batches.iter().enumerate() {
            let end: Vec<u32> = match &batch.end {
                Some(end) => end.iter().collect(),
                None => view.clone(),
            };
            let reaches = end.iter().max().map_or(0, |max| max + 1);
            let upto = if i == last { log } else { self.len.max(reaches) };
            if i > 0 {
                if !self.marks_come_last {
                    self.mark(marks_at_end(&transcript.batches[i - 1..], transcript));
                }
                self.begin(&batches[..i], batch, &end, upto)?;
            }
            let asked_at = |counters: &UsageRecord| counters.request_log_len.filter(|_| i == last);
            let mut asked = counters.clone();
            asked.sort_by_key(|(_, counters)| asked_at(counters).unwrap_or(upto));
            for (agent, counters) in asked {
                let cumulative = spent_at(batches, i, (agent, counters));
                let is_current = last_counted(batches, (agent, counters)) == Some(i);
                let current = is_current.then_some(counters.current);
                self.append(asked_at(counters).unwrap_or(upto))?;
                self.spend(agent, cumulative, current, asked_at(counters).is_some())?;
            }
            self.append(upto)?;
        }
        self.mark(&transcript.marks);
        Some(self.events)
    }

    /// Puts on and takes off marks until there are these.
    fn mark(&mut self, marks: &'a Marks) {
        let unmark = |(index, mark)| Event::Unmarked { index, mark };
        self.events.extend(new_marks(marks, self.marks).map(unmark));
        self.events.extend(marked(self.marks, marks));
        self.marks = marks;
    }

    /// Begins a batch that ends with this view.
    fn begin(
        &mut self,
        before: &[BatchRecord],
        batch: &BatchRecord,
        end: &[u32],
        upto: u32,
    ) -> Option<()> {
        let start: Ranges = end.iter().copied().filter(|&index| index < self.len).collect();
        let mut view = start.clone();
        let operation = match batch.cause.as_str() {
            "truncate" => Operation::Truncate(Truncate::default()),
            "clear" => Operation::Clear(Clear::default()),
            "filter" => Operation::Filter(Filter::default()),
            cause @ ("insert" | "replace") => {
                // What stands in order at the end was appended; the rest was put in.
                let tail = end.iter().rev().zip((0..upto).rev());
                let appended = tail.take_while(|(index, expected)| *index == expected).count();
                let put_in = (upto - appended as u32).max(self.len + u32::from(cause == "replace"));
                view = end.iter().copied().filter(|&index| index < put_in).collect();
                let messages = self.messages(put_in)?.iter().map(|m| (**m).clone());
                let messages: Vec<Message> = messages.collect();
                self.len = put_in;
                match (cause, messages.as_slice()) {
                    ("replace", [message]) => {
                        let message = message.clone();
                        Operation::Replace(Replace { index: 0, message, split_blocks: false })
                    }
                    ("insert", _) => {
                        Operation::Insert(Insert { position: 0, messages, split_blocks: false })
                    }
                    _ => return None,
                }
            }
            "roll_back" => {
                let to = before.iter().position(|batch| batch.end.as_ref() == Some(&start))?;
                self.agents = before[to].agents.clone();
                self.main = before[to].cumulative;
                self.events.push(Event::RolledBack { batch: to as u32 });
                return Some(());
            }
            "reset" => {
                (self.agents, self.main) = Default::default();
                self.events.push(Event::Reset {});
                return Some(());
            }
            _ => return None,
        };
        self.events.push(Event::Operated { operation, view });
        Some(())
    }

    /// Appends the messages before this one.
    fn append(&mut self, upto: u32) -> Option<()> {
        let events: Vec<Event> = self.messages(upto)?.iter().map(appended).collect();
        self.events.extend(events);
        self.len = upto;
        Some(())
    }

    fn messages(&self, upto: u32) -> Option<&'a [Arc<Message>]> {
        self.transcript.messages.get(self.len as usize..upto as usize)
    }

    /// Requests that cost what is missing, the last of them as much as is `current`.
    fn spend(
        &mut self,
        agent: Option<&AgentName>,
        upto: Usage,
        current: Option<Usage>,
        begun: bool,
    ) -> Option<()> {
        let known = match agent {
            None => &mut self.main,
            Some(name) => self.agents.entry(name.clone()).or_default(),
        };
        let spent = minus(upto, std::mem::replace(known, upto))?;
        let current = current.unwrap_or_default();
        let before = minus(spent, current)?;
        self.request(agent, before, before != Usage::default());
        self.request(agent, current, begun || current != Usage::default());
        Some(())
    }

    fn request(&mut self, agent: Option<&AgentName>, usage: Usage, was_made: bool) {
        if was_made {
            self.events.push(Event::RequestBegan { agent: agent.cloned() });
        }
        if usage != Usage::default() {
            self.events.push(Event::UsageNoted { usage, agent: agent.cloned(), earlier: false });
        }
    }
}

/// The counters of the main agent, or of a sub-agent.
type Counted<'a> = (Option<&'a AgentName>, &'a UsageRecord);

/// What an agent had used at the end of a batch.
fn spent_at(batches: &[BatchRecord], i: usize, (agent, counters): Counted<'_>) -> Usage {
    match agent {
        _ if i + 1 == batches.len() => counters.cumulative,
        None => batches[i].cumulative,
        Some(name) => batches[i].agents.get(name).copied().unwrap_or_default(),
    }
}

/// The batch in which the last request was made.
fn last_counted(batches: &[BatchRecord], counted: Counted<'_>) -> Option<usize> {
    let (_, counters) = counted;
    let last = batches.len() - 1;
    if counters.request_log_len.is_some() {
        return Some(last);
    }
    if counters.current == Usage::default() {
        return None;
    }
    let before = |i: usize| match i.checked_sub(1) {
        None => Usage::default(),
        Some(before) => spent_at(batches, before, counted),
    };
    let spent = |i: usize| minus(spent_at(batches, i, counted), before(i));
    (0..=last).rev().find(|&i| spent(i).is_some_and(|spent| spent != Usage::default()))
}

fn minus(a: Usage, b: Usage) -> Option<Usage> {
    Some(Usage {
        prompt: a.prompt.checked_sub(b.prompt)?,
        cache_read: a.cache_read.checked_sub(b.cache_read)?,
        cache_write: a.cache_write.checked_sub(b.cache_write)?,
        cache_write_hour: a.cache_write_hour.checked_sub(b.cache_write_hour)?,
        completion: a.completion.checked_sub(b.completion)?,
        reasoning: a.reasoning.checked_sub(b.reasoning)?,
    })
}

fn appended(message: &Arc<Message>) -> Event {
    Event::Appended { message: message.clone() }
}

/// The marks at the end of the first of these batches.
fn marks_at_end<'a>(batches: &'a [BatchRecord], transcript: &'a Transcript) -> &'a Marks {
    batches.iter().find_map(|batch| batch.marks.as_ref()).unwrap_or(&transcript.marks)
}

/// The events that put on what `after` has and `before` has not.
fn marked<'a>(before: &'a Marks, after: &'a Marks) -> impl Iterator<Item = Event> + 'a {
    new_marks(before, after).map(|(index, mark)| Event::Marked { index, mark })
}

fn new_marks<'a>(before: &'a Marks, after: &'a Marks) -> impl Iterator<Item = (u32, String)> + 'a {
    let is_new =
        |mark: &String, index: &u32| !before.get(mark).is_some_and(|on| on.contains(index));
    after.iter().flat_map(move |(mark, indices)| {
        let new = indices.iter().filter(move |index| is_new(mark, index));
        new.map(move |&index| (index, mark.clone()))
    })
}
