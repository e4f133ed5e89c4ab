//! The store in a file.
//!
//! One thread writes; it takes the commits that wait and makes one transaction of
//! them, so that they share one sync to the disk, and answers when that is done. A few
//! connections read, off the async threads. Other processes may use the same file.
//! Whoever drops the store waits until all that was written is in the file itself: then
//! the file alone is the whole store, unless another process still writes to it. A file that may
//! only be read is read, and refuses what would be written.

mod commit;
mod error;
mod file;
mod left_log;
mod read;
mod readers;
mod schema;
mod shut;
mod words;
mod writer;

use std::path::PathBuf;

use interleaf_conversation::Event;
use rusqlite::Connection;

use crate::error::Failure;
use crate::notice::Bell;
use crate::{
    Commit, Committed, Error, Found, Head, ListSessions, Log, NewSession, Notice, Notices,
    OpenOptions, Page, Record, RecordFilter, Search, SentRequest, SessionId, Sessions, StoreFuture,
    StoredEvent,
};

use readers::Readers;
use schema::Opened;
use writer::Writer;

pub(crate) struct Sqlite {
    /// What writes, or why nothing can be written.
    writer: Result<Writer, Error>,
    readers: Readers,
    bell: Bell,
}

impl Sqlite {
    pub(crate) async fn open(path: PathBuf, options: OpenOptions) -> Result<Self, Error> {
        let open = {
            let (path, patience) = (path.clone(), options.patience);
            tokio::task::spawn_blocking(move || schema::open(&path, patience))
        };
        let writer = match open.await.map_err(|_| Error::stopped())?? {
            Opened::ToWrite(connection) => Ok(Writer::start(connection)?),
            Opened::ToRead(why) => Err(why),
        };
        let readers = Readers::new(path, options, writer.is_err());
        Ok(Self { writer, readers, bell: Bell::new() })
    }

    /// Does work in a transaction.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Error> {
        match &self.writer {
            Ok(writer) => writer.write(work).await,
            Err(why) => Err(why.clone()),
        }
    }
}

impl Sessions for Sqlite {
    fn create(&self, session: NewSession) -> StoreFuture<'_, Head> {
        Box::pin(self.write(move |connection| commit::create(connection, session)))
    }

    fn head(&self, session: SessionId) -> StoreFuture<'_, Head> {
        Box::pin(self.readers.read(move |connection| read::head(connection, session)))
    }

    fn list(&self, list: ListSessions) -> StoreFuture<'_, Vec<Head>> {
        Box::pin(self.readers.read(move |connection| read::list(connection, list)))
    }

    fn remove(&self, session: SessionId) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.write(move |connection| commit::remove(connection, session)).await?;
            self.bell.ring(Notice::Removed { session });
            Ok(())
        })
    }

    fn search(&self, search: Search) -> StoreFuture<'_, Vec<Found>> {
        Box::pin(async move {
            let session = search.session;
            // Where nothing is to be indexed, a search waits for no writer; and it does not
            // wait for what is said while it runs.
            let lacking = move |connection: &Connection| words::unindexed(connection, session);
            for part in words::in_parts(self.readers.read(lacking).await?) {
                self.write(move |connection| words::index(connection, part)).await?;
            }
            self.readers.read(move |connection| read::search(connection, &search)).await
        })
    }

    fn watch(&self) -> StoreFuture<'_, Notices> {
        Box::pin(std::future::ready(Ok(self.bell.listen())))
    }
}

impl Log for Sqlite {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, Committed> {
        Box::pin(async move {
            commit.check()?;
            let session = commit.session;
            let done = self.write(move |connection| commit::commit(connection, &commit));
            let done = done.await?;
            self.bell.ring(Notice::Changed { session, next_seq: done.next_seq });
            Ok(done)
        })
    }

    fn events(&self, session: SessionId, page: Page) -> StoreFuture<'_, Vec<StoredEvent>> {
        let read = move |db: &Connection| read::events(db, session, page, |row| row.stored());
        Box::pin(self.readers.read(read))
    }

    fn replay(&self, session: SessionId, page: Page) -> StoreFuture<'_, Vec<Event>> {
        let read = move |db: &Connection| read::events(db, session, page, |row| row.event());
        Box::pin(self.readers.read(read))
    }

    fn records(&self, session: SessionId, which: RecordFilter) -> StoreFuture<'_, Vec<Record>> {
        Box::pin(self.readers.read(move |connection| read::records(connection, session, which)))
    }

    fn requests(&self, session: SessionId, page: Page) -> StoreFuture<'_, Vec<SentRequest>> {
        Box::pin(self.readers.read(move |connection| read::requests(connection, session, page)))
    }
}
