//! A session that goes into a store.
//!
//! One that is there already is held against what comes: what is new is added, and a
//! difference is refused. So a copy that was broken off can be done again.

use interleaf::Session;
use interleaf::conversation::Conversation;
use interleaf::model::Timestamp;
use interleaf::store::{
    Commit, ErrorKind, ForkPoint, NewEvent, NewRequest, NewSession, Page, Record, RecordChange,
    RecordFilter, RequestUsage, SentRequest, StoredEvent,
};

use super::{Head, Item, PAGE, RecordItem};
use crate::failure::Failure;
use crate::kept::Kept;

/// Writes a session.
pub(in super::super) struct Writer<'a> {
    kept: &'a Kept,
    head: Head,
    made: bool,
    /// How many events and requests were there before.
    events_there: u64,
    requests_there: u64,
    /// Some of these events, to be compared.
    known: Vec<StoredEvent>,
    /// The conversation up to `next`, which all events must fit.
    conversation: Conversation,
    next: u64,
    /// Where the next event is written.
    write_at: u64,
    /// Written together.
    waiting: Vec<NewEvent>,
    /// When the last of them happened.
    waiting_at: Timestamp,
    request: Option<SentRequest>,
    usages: Vec<RequestUsage>,
}

/// How a copy ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Done {
    /// The session is new.
    Made,
    /// So many events were added to it.
    Extended(u64),
    /// All of it was there.
    Known,
}

impl<'a> Writer<'a> {
    pub(in super::super) fn begin(kept: &'a Kept, head: Head) -> Result<Self, Failure> {
        let found = match kept.wait(kept.store.head(head.id)) {
            Ok(found) => Some(found),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(Failure::store("", &e)),
        };
        let made = found.is_none();
        let there = match found {
            Some(found) => found,
            None => kept.ask(kept.store.create(new_session(&head)?))?,
        };
        let waiting_at = head.created;
        let mut writer = Self {
            kept,
            made,
            events_there: there.next_seq,
            requests_there: there.next_request,
            known: vec![],
            conversation: Conversation::new(),
            next: head.first.unwrap_or(0),
            write_at: there.next_seq,
            waiting: vec![],
            waiting_at,
            request: None,
            usages: vec![],
            head,
        };
        match writer.shared_past() {
            Ok(conversation) => writer.conversation = conversation,
            Err(failure) => return Err(writer.undo(failure)),
        }
        Ok(writer)
    }

    /// The conversation before the first event that comes.
    fn shared_past(&self) -> Result<Conversation, Failure> {
        let Some(first) = self.head.first.filter(|&first| first > 0) else {
            return Ok(Conversation::new());
        };
        let session = Session::open(self.kept.store.clone(), self.head.id);
        let fail = |e| Failure::session(&self.name(), &e);
        let session = self.kept.wait(session).map_err(fail)?;
        self.kept.wait(session.at(first)).map_err(fail)
    }

    /// Takes in the next item. After a failure nothing of a new session is left.
    pub(in super::super) fn item(mut self, item: Item) -> Result<Self, Failure> {
        let taken = match item {
            Item::Event(event) => self.event(event),
            Item::Record(record) => self.record(record),
            Item::Request(request) => self.note(request),
        };
        match taken {
            Ok(()) => Ok(self),
            Err(failure) => Err(self.undo(failure)),
        }
    }

    /// The end of the session.
    pub(in super::super) fn end(mut self) -> Result<Done, Failure> {
        match self.finish() {
            Ok(()) if self.made => Ok(Done::Made),
            Ok(()) => Ok(match self.next.saturating_sub(self.events_there) {
                0 => Done::Known,
                new => Done::Extended(new),
            }),
            Err(failure) => Err(self.undo(failure)),
        }
    }

    /// Takes back a session that cannot be finished.
    pub(in super::super) fn undo(&self, failure: Failure) -> Failure {
        if self.made {
            // The failure that counts is the first one.
            let _ = self.kept.wait(self.kept.store.remove(self.head.id));
        }
        failure
    }

    fn event(&mut self, stored: StoredEvent) -> Result<(), Failure> {
        if stored.seq != self.next {
            let rule = format!("event {} is missing: {} stands there", self.next, stored.seq);
            return Err(Failure::new(self.name(), rule));
        }
        let event = stored.event().map_err(|e| Failure::store(&self.name(), &e))?;
        let fits = self.conversation.apply(&event);
        fits.map_err(|e| {
            let failure = Failure::conversation(&self.name(), &e);
            failure.at(format!("event {}: {}", stored.seq, e.field()))
        })?;
        let new = NewEvent::copy_of(&stored).map_err(|e| Failure::store(&self.name(), &e))?;
        self.next += 1;
        if stored.seq < self.events_there {
            return self.compare(&stored);
        }
        self.waiting_at = stored.at;
        self.waiting.push(new);
        // A request is written with the event that says that it began.
        match self.request.is_some() || self.waiting.len() == PAGE {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn record(&mut self, item: RecordItem) -> Result<(), Failure> {
        if item.seq < self.events_there {
            return Ok(());
        }
        self.flush()?;
        let RecordItem { kind, key, at, body, .. } = item;
        let which = RecordFilter { kind: Some(kind), as_of: None };
        let there = self.kept.ask(self.kept.store.records(self.head.id, which))?;
        let there: Option<Record> = there.into_iter().find(|record| record.key == key);
        let same = there.as_ref().map(|record| &record.body) == body.as_ref();
        // One that was changed here since is not taken back.
        let newer = there.is_some_and(|record| !self.made && record.at >= at);
        if same || newer {
            return Ok(());
        }
        let change = match body {
            Some(body) => RecordChange::put(kind, key, body),
            None => RecordChange::remove(kind, key),
        };
        self.commit(Commit::new(self.head.id, at).append(self.write_at, vec![]).record(change))
    }

    fn note(&mut self, request: SentRequest) -> Result<(), Failure> {
        if request.no < self.requests_there {
            return Ok(());
        }
        self.flush()?;
        self.request_alone()?;
        if let Some(usage) = request.usage {
            self.usages.push(RequestUsage { no: request.no, usage });
        }
        self.request = Some(request);
        Ok(())
    }

    /// Writes the events that wait, and the request that began with them.
    fn flush(&mut self) -> Result<(), Failure> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let events = std::mem::take(&mut self.waiting);
        let first = self.write_at;
        self.write_at += events.len() as u64;
        let mut commit = Commit::new(self.head.id, self.waiting_at).append(first, events);
        commit.request = self.request.take().map(new_request);
        self.commit(commit)
    }

    /// Writes a request with which no event came.
    fn request_alone(&mut self) -> Result<(), Failure> {
        let Some(request) = self.request.take() else { return Ok(()) };
        let mut commit = Commit::new(self.head.id, request.at).append(self.write_at, vec![]);
        commit.request = Some(new_request(request));
        self.commit(commit)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        if self.next != self.head.events {
            let (next, events) = (self.next, self.head.events);
            let rule = format!("it should have {events} events, but ends before event {next}");
            return Err(Failure::new(self.name(), rule));
        }
        self.flush()?;
        self.request_alone()?;
        for usage in std::mem::take(&mut self.usages) {
            let mut commit = Commit::new(self.head.id, self.head.changed);
            commit.usage = Some(usage);
            self.commit(commit)?;
        }
        Ok(())
    }

    fn commit(&self, commit: Commit) -> Result<(), Failure> {
        self.kept.ask(self.kept.store.commit(commit)).map(|_| ())
    }

    /// Holds an event against the one that is there.
    fn compare(&mut self, stored: &StoredEvent) -> Result<(), Failure> {
        let known = |events: &[StoredEvent]| {
            let first = events.first().map_or(0, |event| event.seq);
            let place = usize::try_from(stored.seq.checked_sub(first)?).ok()?;
            events.get(place).cloned()
        };
        if known(&self.known).is_none() {
            let page = Page::from(stored.seq, PAGE);
            self.known = self.kept.ask(self.kept.store.events(self.head.id, page))?;
        }
        match known(&self.known) {
            Some(there) if there.body == stored.body => Ok(()),
            _ => {
                let rule = format!("it is there already, with another event {}", stored.seq);
                let hint = "nothing was changed; a fork, or another store, can take it";
                Err(Failure::new(self.name(), rule).hint(hint))
            }
        }
    }

    fn name(&self) -> String {
        format!("session {}", self.head.id)
    }
}

fn new_session(head: &Head) -> Result<NewSession, Failure> {
    let mut new = NewSession::new(head.title.clone(), head.created);
    new.id = head.id;
    new.agent.clone_from(&head.agent);
    match (head.first, head.parent) {
        (None, _) => {}
        (Some(first), Some(parent)) if first == parent.seq => {
            new.parent = Some(ForkPoint { session: parent.session, seq: first });
        }
        (Some(first), _) => {
            let rule = format!("it begins at event {first}, which is not where it was forked");
            return Err(Failure::new(format!("session {}", head.id), rule));
        }
    }
    Ok(new)
}

fn new_request(request: SentRequest) -> NewRequest {
    let SentRequest { no, model, vendor, body, report, .. } = request;
    NewRequest { no, model, vendor, body, report }
}
