//! The store that is gone when the program ends.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::lineage::{Lineage, Link};
use crate::notice::Bell;
use crate::record::{RecordRow, standing};
use crate::words::Terms;
use crate::{
    Commit, Committed, Error, Expect, Found, Head, ListSessions, Log, NewSession, Notice, Notices,
    Page, Record, RecordFilter, Search, SentRequest, SessionId, Sessions, StoreFuture, StoredEvent,
};

pub(crate) struct Memory {
    sessions: Mutex<Map>,
    bell: Bell,
}

type Map = BTreeMap<SessionId, Row>;

struct Row {
    head: Head,
    /// Where the records of the parent end, for a fork.
    records_from: u64,
    /// Its own events; those before are its parent's.
    events: Vec<StoredEvent>,
    records: Vec<RecordRow>,
    requests: Vec<SentRequest>,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self { sessions: Mutex::default(), bell: Bell::new() }
    }

    fn sessions(&self) -> MutexGuard<'_, Map> {
        // Nothing panics while it holds the lock.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn create_now(&self, new: NewSession) -> Result<Head, Error> {
        new.check()?;
        let mut sessions = self.sessions();
        if sessions.contains_key(&new.id) {
            return Err(Error::exists(new.id));
        }
        let (mut next_seq, mut records_from) = (0, 0);
        if let Some(fork) = new.parent {
            let parent = lineage(&sessions, fork.session)?;
            fork.check(parent.len())?;
            next_seq = fork.seq;
            let rows = records(&sessions, &parent, Some(fork.seq));
            records_from = rows.iter().map(|row| row.no + 1).max().unwrap_or(0);
        }
        let head = new.into_head(next_seq, records_from);
        let row = Row {
            head: head.clone(),
            records_from,
            events: vec![],
            records: vec![],
            requests: vec![],
        };
        sessions.insert(head.id, row);
        Ok(head)
    }

    fn list_now(&self, list: ListSessions) -> Vec<Head> {
        let sessions = self.sessions();
        let mut heads: Vec<Head> = sessions.values().map(|row| row.head.clone()).collect();
        heads.sort_by_key(|head| std::cmp::Reverse((head.changed, head.id)));
        let later = |head: &Head| list.after.is_none_or(|after| (head.changed, head.id) < after);
        heads.into_iter().filter(later).take(list.limit).collect()
    }

    fn remove_now(&self, id: SessionId) -> Result<(), Error> {
        let mut sessions = self.sessions();
        find(&sessions, id)?;
        let is_fork = |row: &&Row| row.head.parent.is_some_and(|fork| fork.session == id);
        let n_forks = sessions.values().filter(is_fork).count();
        if n_forks > 0 {
            return Err(Error::has_forks(id, n_forks as u64));
        }
        sessions.remove(&id);
        self.bell.ring(Notice::Removed { session: id });
        Ok(())
    }

    fn commit_now(&self, commit: Commit) -> Result<Committed, Error> {
        commit.check()?;
        let mut sessions = self.sessions();
        let id = commit.session;
        let head = &find(&sessions, id)?.head;
        let current = head.next_seq;
        commit.check_expected(head)?;
        // Only a condition needs to know them.
        let mut known = match commit.records.iter().all(|change| change.expect == Expect::Any) {
            true => vec![],
            false => records(&sessions, &lineage(&sessions, id)?, None),
        };
        let mut changed = vec![];
        let row = sessions.get_mut(&id).ok_or_else(|| Error::no_session(id))?;
        let next_seq = current + commit.events().len() as u64;
        let mut next_record = row.head.next_record;
        for change in &commit.records {
            let same = known.iter().filter(|r| (r.kind, &r.key) == (change.kind, &change.key));
            let visible = standing(same.cloned());
            change.check_expected(id, visible.first().map(|record| record.no))?;
            let row = RecordRow {
                kind: change.kind,
                key: change.key.clone(),
                no: next_record,
                seq: next_seq,
                at: commit.at,
                body: change.body.clone(),
            };
            known.push(row.clone());
            changed.push(row);
            next_record += 1;
        }
        if let Some(request) = &commit.request
            && request.no != row.head.next_request
        {
            return Err(Error::request_conflict(id, request.no, row.head.next_request));
        }
        if let Some(usage) = commit.usage
            && usage.no >= row.head.next_request + u64::from(commit.request.is_some())
        {
            return Err(Error::no_request(id, usage.no));
        }
        // From here on nothing can fail.
        for (seq, event) in (current..).zip(commit.events()) {
            let at = event.at.unwrap_or(commit.at);
            let (version, body) = (event.version, event.body.clone());
            row.events.push(StoredEvent { seq, at, version, body });
        }
        row.records.extend(changed);
        row.head.next_record = next_record;
        if let Some(request) = commit.request {
            row.requests.push(SentRequest {
                no: request.no,
                seq: current,
                at: commit.at,
                model: request.model,
                vendor: request.vendor,
                body: request.body,
                report: request.report,
                usage: None,
            });
        }
        if let Some(usage) = commit.usage
            && let Some(request) = row.requests.get_mut(usage.no as usize)
        {
            request.usage = Some(usage.usage);
        }
        row.head.next_seq = next_seq;
        row.head.next_request = row.requests.len() as u64;
        row.head.changed = row.head.changed.max(commit.at);
        if let Some(title) = commit.title {
            row.head.title = title;
        }
        self.bell.ring(Notice::Changed { session: id, next_seq });
        Ok(Committed { next_seq, next_request: row.head.next_request, next_record })
    }

    fn events_now(&self, id: SessionId, page: Page) -> Result<Vec<StoredEvent>, Error> {
        let sessions = self.sessions();
        let lineage = lineage(&sessions, id)?;
        let mut events = vec![];
        for (owner, seqs) in lineage.pieces(&page.seqs(lineage.len())) {
            let row = find(&sessions, owner)?;
            let place = |seq| row.events.partition_point(|event| event.seq < seq);
            events.extend_from_slice(&row.events[place(seqs.start)..place(seqs.end)]);
        }
        Ok(events)
    }

    fn search_now(&self, search: &Search) -> Result<Vec<Found>, Error> {
        let terms = Terms::parse(&search.query)?;
        let sessions = self.sessions();
        if let Some(id) = search.session {
            find(&sessions, id)?;
        }
        let mut found = vec![];
        let asked = |row: &&Row| search.session.is_none_or(|id| id == row.head.id);
        for row in sessions.values().rev().filter(asked) {
            for event in row.events.iter().rev() {
                if found.len() < search.limit && terms.match_words(&event.words()?) {
                    let excerpt = terms.excerpt(&event.text()?);
                    found.push(Found { session: row.head.id, seq: event.seq, excerpt });
                }
            }
        }
        Ok(found)
    }
}

impl Sessions for Memory {
    fn create(&self, session: NewSession) -> StoreFuture<'_, Head> {
        Box::pin(ready(self.create_now(session)))
    }

    fn head(&self, session: SessionId) -> StoreFuture<'_, Head> {
        Box::pin(ready(find(&self.sessions(), session).map(|row| row.head.clone())))
    }

    fn list(&self, list: ListSessions) -> StoreFuture<'_, Vec<Head>> {
        Box::pin(ready(Ok(self.list_now(list))))
    }

    fn remove(&self, session: SessionId) -> StoreFuture<'_, ()> {
        Box::pin(ready(self.remove_now(session)))
    }

    fn search(&self, search: Search) -> StoreFuture<'_, Vec<Found>> {
        Box::pin(ready(self.search_now(&search)))
    }

    fn watch(&self) -> StoreFuture<'_, Notices> {
        Box::pin(ready(Ok(self.bell.listen())))
    }
}

impl Log for Memory {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, Committed> {
        Box::pin(ready(self.commit_now(commit)))
    }

    fn events(&self, session: SessionId, page: Page) -> StoreFuture<'_, Vec<StoredEvent>> {
        Box::pin(ready(self.events_now(session, page)))
    }

    fn records(&self, session: SessionId, which: RecordFilter) -> StoreFuture<'_, Vec<Record>> {
        let sessions = self.sessions();
        let rows = lineage(&sessions, session).map(|l| records(&sessions, &l, which.as_of));
        let wanted = |row: &RecordRow| which.kind.is_none_or(|kind| kind == row.kind);
        Box::pin(ready(rows.map(|rows| standing(rows.into_iter().filter(wanted)))))
    }

    fn requests(&self, session: SessionId, page: Page) -> StoreFuture<'_, Vec<SentRequest>> {
        let sessions = self.sessions();
        let requests = find(&sessions, session).map(|row| {
            let nos = page.seqs(row.head.next_request);
            row.requests[nos.start as usize..nos.end as usize].to_vec()
        });
        Box::pin(ready(requests))
    }
}

fn find(sessions: &Map, id: SessionId) -> Result<&Row, Error> {
    sessions.get(&id).ok_or_else(|| Error::no_session(id))
}

fn lineage(sessions: &Map, id: SessionId) -> Result<Lineage<SessionId>, Error> {
    let mut links = vec![];
    let mut next = Some(id);
    while let Some(id) = next {
        let row = find(sessions, id)?;
        let fork = row.head.parent.map(|fork| (fork.seq, row.records_from));
        let (next_seq, next_record) = (row.head.next_seq, row.head.next_record);
        let parent = row.head.parent.map(|fork| fork.session);
        links.push(Link { owner: id, parent, next_seq, next_record, fork });
        next = parent;
    }
    Lineage::of(id, Some(id), links)
}

/// All rows of records that a session sees, the oldest first.
fn records(sessions: &Map, lineage: &Lineage<SessionId>, as_of: Option<u64>) -> Vec<RecordRow> {
    let mut rows = vec![];
    for segment in lineage.segments().iter().rev() {
        let own = sessions.get(&segment.owner).map_or(&[][..], |row| &row.records);
        let seen = |row: &&RecordRow| {
            row.no < segment.records_upto && as_of.is_none_or(|seq| row.seq <= seq)
        };
        rows.extend(own.iter().filter(seen).cloned());
    }
    rows
}
