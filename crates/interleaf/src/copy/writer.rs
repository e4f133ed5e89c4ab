//! A session that goes into a store.
//!
//! One that is there already is held against what comes: what is new is added, and a
//! difference is refused. So a copy that was broken off can be done again.

use std::fmt;
use std::sync::Arc;

use interleaf_conversation::Conversation;
use interleaf_model::Timestamp;
use interleaf_store::{
    Commit, ErrorKind, Expect, ForkPoint, NewEvent, NewRequest, NewSession, Page, Record,
    RecordChange, RecordFilter, RequestUsage, SentRequest, Store, StoredEvent,
};

use super::{Head, Item, PAGE, RecordItem};
use crate::{Error, InputFault, Session};

/// Writes a session.
pub struct Writer {
    store: Arc<dyn Store>,
    head: Head,
    made: bool,
    /// How many events and requests were there before.
    events_there: u64,
    requests_there: u64,
    /// How many records and requests have come.
    records_come: u64,
    requests_come: u64,
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
pub enum Done {
    /// The session is new.
    Made,
    /// This number of events was added to it.
    Extended(u64),
    /// All of it was there.
    Known,
}

impl Writer {
    /// Begins a session, or goes on with one that is there already.
    ///
    /// # Errors
    /// If the store refuses, or a fork's parent is not there.
    pub async fn begin(store: Arc<dyn Store>, head: Head) -> Result<Self, Error> {
        let found = match store.head(head.id).await {
            Ok(found) => Some(found),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(Error::store(e)),
        };
        let made = found.is_none();
        let there = match found {
            Some(found) => found,
            None => store.create(new_session(&head)?).await.map_err(Error::store)?,
        };
        let waiting_at = head.created;
        let mut writer = Self {
            store,
            made,
            events_there: there.next_seq,
            requests_there: there.next_request,
            records_come: 0,
            requests_come: 0,
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
        match writer.shared_past().await {
            Ok(conversation) => writer.conversation = conversation,
            Err(e) => return Err(writer.undo(e).await),
        }
        Ok(writer)
    }

    /// The conversation before the first event that comes.
    async fn shared_past(&self) -> Result<Conversation, Error> {
        match self.head.first {
            None | Some(0) => Ok(Conversation::new()),
            Some(first) => Session::open(self.store.clone(), self.head.id).await?.at(first).await,
        }
    }

    /// Takes in the next item. After a failure nothing of a new session is left.
    ///
    /// # Errors
    /// If it does not fit what came before or what is there, or the store refuses.
    pub async fn item(mut self, item: Item) -> Result<Self, Error> {
        let taken = match item {
            Item::Event(event) => self.event(event).await,
            Item::Record(record) => self.record(record).await,
            Item::Request(request) => self.note(request).await,
        };
        match taken {
            Ok(()) => Ok(self),
            Err(e) => Err(self.undo(e).await),
        }
    }

    /// The end of the session.
    ///
    /// # Errors
    /// If events are missing, or the store refuses.
    pub async fn end(mut self) -> Result<Done, Error> {
        match self.finish().await {
            Ok(()) if self.made => Ok(Done::Made),
            Ok(()) => Ok(match self.next.saturating_sub(self.events_there) {
                0 => Done::Known,
                new => Done::Extended(new),
            }),
            Err(e) => Err(self.undo(e).await),
        }
    }

    /// Takes back a new session that cannot be finished because of this error.
    pub async fn undo(self, error: Error) -> Error {
        if self.made {
            // The error that counts is the first one.
            let _ = self.store.remove(self.head.id).await;
        }
        error
    }

    async fn event(&mut self, stored: StoredEvent) -> Result<(), Error> {
        if stored.seq != self.next {
            let rule = format!("event {} is missing: {} is in its place", self.next, stored.seq);
            return Err(self.fault(rule).into());
        }
        let event = stored.event().map_err(Error::store)?;
        self.conversation.apply(&event).map_err(|e| {
            let place = format!("{}: event {}: {}", self.name(), stored.seq, e.field());
            InputFault::new(e.message()).at(place)
        })?;
        let new = NewEvent::copy_of(&stored).map_err(Error::store)?;
        self.next += 1;
        if stored.seq < self.events_there {
            return self.compare(&stored).await;
        }
        self.waiting_at = stored.at;
        self.waiting.push(new);
        // A request is written with the event that says that it began.
        match self.request.is_some() || self.waiting.len() == PAGE {
            true => self.flush().await,
            false => Ok(()),
        }
    }

    async fn record(&mut self, item: RecordItem) -> Result<(), Error> {
        self.check_place(format_args!("the {} {:?}", item.kind, item.key), item.seq)?;
        self.records_come += 1;
        if item.seq < self.events_there {
            return Ok(());
        }
        self.flush().await?;
        let RecordItem { kind, key, at, body, .. } = item;
        let which = RecordFilter { kind: Some(kind), as_of: None };
        let there = self.store.records(self.head.id, which).await.map_err(Error::store)?;
        let there: Option<Record> = there.into_iter().find(|record| record.key == key);
        let expected = there.as_ref().map_or(Expect::Absent, |record| Expect::No(record.no));
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
        let change = change.expecting(expected);
        let commit = Commit::new(self.head.id, at).append(self.write_at, vec![]).record(change);
        self.commit(commit).await
    }

    async fn note(&mut self, request: SentRequest) -> Result<(), Error> {
        self.check_place(format_args!("request {}", request.no), request.seq)?;
        self.requests_come += 1;
        if request.no < self.requests_there {
            return Ok(());
        }
        self.flush().await?;
        self.request_alone().await?;
        if let Some(usage) = request.usage {
            self.usages.push(RequestUsage { no: request.no, usage });
        }
        self.request = Some(request);
        Ok(())
    }

    /// Whether what is no event stands before the event that it says. It is written where it
    /// stands, and would say something else there.
    fn check_place(&self, what: fmt::Arguments<'_>, seq: u64) -> Result<(), Error> {
        match seq == self.next {
            true => Ok(()),
            false => {
                let rule = format!("{what} belongs before event {seq}: {} is next", self.next);
                Err(self.fault(rule).into())
            }
        }
    }

    /// Writes the events that wait, and the request that began with them.
    async fn flush(&mut self) -> Result<(), Error> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let events = std::mem::take(&mut self.waiting);
        let first = self.write_at;
        self.write_at += events.len() as u64;
        let mut commit = Commit::new(self.head.id, self.waiting_at).append(first, events);
        commit.request = self.request.take().map(new_request);
        self.commit(commit).await
    }

    /// Writes a request with which no event came.
    async fn request_alone(&mut self) -> Result<(), Error> {
        let Some(request) = self.request.take() else { return Ok(()) };
        let mut commit = Commit::new(self.head.id, request.at).append(self.write_at, vec![]);
        commit.request = Some(new_request(request));
        self.commit(commit).await
    }

    async fn finish(&mut self) -> Result<(), Error> {
        for (what, come, told) in [
            ("events", self.next, Some(self.head.events)),
            ("records", self.records_come, self.head.records),
            ("requests", self.requests_come, self.head.requests),
        ] {
            if let Some(told) = told.filter(|told| *told != come) {
                return Err(self.fault(format!("it has {come} of {told} {what}")).into());
            }
        }
        self.flush().await?;
        self.request_alone().await?;
        for usage in std::mem::take(&mut self.usages) {
            let mut commit = Commit::new(self.head.id, self.head.changed);
            commit.usage = Some(usage);
            self.commit(commit).await?;
        }
        Ok(())
    }

    async fn commit(&self, commit: Commit) -> Result<(), Error> {
        self.store.commit(commit).await.map(|_| ()).map_err(Error::store)
    }

    /// Holds an event against the one that is there.
    async fn compare(&mut self, stored: &StoredEvent) -> Result<(), Error> {
        let known = |events: &[StoredEvent]| {
            let first = events.first().map_or(0, |event| event.seq);
            let place = usize::try_from(stored.seq.checked_sub(first)?).ok()?;
            events.get(place).cloned()
        };
        if known(&self.known).is_none() {
            let page = Page::from(stored.seq, PAGE);
            self.known = self.store.events(self.head.id, page).await.map_err(Error::store)?;
        }
        match known(&self.known) {
            Some(there) if there.body == stored.body => Ok(()),
            _ => {
                let rule = format!("it already exists, with a different event {}", stored.seq);
                let hint = "nothing was changed; a fork, or another store, can take it";
                Err(self.fault(rule).with_hint(hint).into())
            }
        }
    }

    fn name(&self) -> String {
        format!("session {}", self.head.id)
    }

    fn fault(&self, rule: String) -> InputFault {
        InputFault::new(rule).at(self.name())
    }
}

fn new_session(head: &Head) -> Result<NewSession, Error> {
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
            return Err(InputFault::new(rule).at(format!("session {}", head.id)).into());
        }
    }
    Ok(new)
}

fn new_request(request: SentRequest) -> NewRequest {
    let SentRequest { no, model, vendor, body, report, .. } = request;
    NewRequest { no, model, vendor, body, report }
}
