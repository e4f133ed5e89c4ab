//! Copying a session from one store to another, such as from SQLite to PostgreSQL.

use std::ops::Range;

use crate::{
    Commit, Error, Head, NewEvent, NewRequest, NewSession, Page, RecordChange, Records,
    RequestUsage, SessionId, Store,
};

/// So many events or requests are read at once.
const PAGE: usize = 500;

/// Copies a session under its own name: its events byte for byte and with their times,
/// the requests that were sent, and the records as they stand. The shared events of a
/// fork are copied too, and it is no fork there. `progress` is told how many events are
/// copied so far, and of how many.
///
/// # Errors
/// `Exists` if the other store has a session of that name. If anything fails later, the
/// part that was copied is removed again.
pub async fn copy_session(
    from: &dyn Store,
    to: &dyn Store,
    session: SessionId,
    progress: impl FnMut(u64, u64) + Send,
) -> Result<(), Error> {
    let head = from.head(session).await?;
    let new = NewSession {
        id: head.id,
        title: head.title.clone(),
        agent: head.agent.clone(),
        parent: None,
        at: head.created,
    };
    to.create(new).await?;
    let copied = Copy { from, to, head, progress }.run().await;
    if copied.is_err() {
        // The first error is the one to tell.
        let _ = to.remove(session).await;
    }
    copied
}

struct Copy<'a, Progress> {
    from: &'a dyn Store,
    to: &'a dyn Store,
    head: Head,
    progress: Progress,
}

impl<Progress: FnMut(u64, u64) + Send> Copy<'_, Progress> {
    async fn run(mut self) -> Result<(), Error> {
        let (mut next, mut no) = (0, 0);
        while no < self.head.next_request {
            for sent in self.from.requests(self.head.id, Page::from(no, PAGE)).await? {
                // A request stands before the event with its sequence number.
                self.events(next..sent.seq).await?;
                next = next.max(sent.seq);
                no = sent.no + 1;
                let mut commit = Commit::new(self.head.id, sent.at);
                commit.usage = sent.usage.map(|usage| RequestUsage { no: sent.no, usage });
                commit.request = Some(NewRequest {
                    no: sent.no,
                    model: sent.model,
                    vendor: sent.vendor,
                    body: sent.body,
                    report: sent.report,
                });
                self.to.commit(commit).await?;
            }
        }
        self.events(next..self.head.next_seq).await?;
        let mut last = Commit::new(self.head.id, self.head.changed);
        for record in self.from.records(self.head.id, Records::default()).await? {
            last = last.record(RecordChange::put(record.kind, record.key, record.body));
        }
        self.to.commit(last).await?;
        Ok(())
    }

    async fn events(&mut self, seqs: Range<u64>) -> Result<(), Error> {
        let mut next = seqs.start;
        while next < seqs.end {
            let limit = PAGE.min((seqs.end - next) as usize);
            let events = self.from.events(self.head.id, Page::from(next, limit)).await?;
            let events = events.iter().map(NewEvent::copy_of).collect::<Result<_, _>>()?;
            let commit = Commit::new(self.head.id, self.head.created).append(next, events);
            next = self.to.commit(commit).await?.next_seq;
            (self.progress)(next, self.head.next_seq);
        }
        Ok(())
    }
}
