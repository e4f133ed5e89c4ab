//! The store on a server that any number of nodes share.
//!
//! An append is one statement, and so one round trip and one transaction. Notices to
//! other nodes are sent after the commit, several at once: `NOTIFY` inside it would
//! make all commits of the database wait for each other.
//!
//! Each call has a deadline, and is made again if its connection breaks: see `call.rs`.

mod address;
mod connect;
mod tls;

mod call;
mod commit;
mod error;
mod outcome;
mod read;
mod schema;

mod listen;
mod notify;

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::error::Failure;
use crate::notice::Bell;
use crate::{
    Commit, Committed, Error, Found, Head, ListSessions, Log, NewSession, Notice, Notices,
    OpenOptions, Page, Record, RecordFilter, Search, SentRequest, SessionId, Sessions, StoreFuture,
    StoredEvent,
};

use address::Address;
use call::{Again, Calls, attempts};
use connect::Hosts;
use listen::Listener;
use notify::Notifier;

pub(crate) struct Postgres {
    hosts: Hosts,
    calls: Arc<Calls>,
    notifier: Notifier,
    listener: OnceCell<Listener>,
    bell: Bell,
}

impl Postgres {
    pub(crate) async fn open(url: &str, options: OpenOptions) -> Result<Self, Error> {
        let address = Address::parse(url, &options)?;
        let (place, chooses) = (address.place.clone(), address.chooses());
        let opening = |failure: Failure| {
            failure.0.while_doing(format_args!("cannot open the database {place}"))
        };
        let hosts = Hosts::new(address, &options).map_err(opening)?;
        let pool = connect::pool(&hosts, &options).map_err(opening)?;
        schema::migrate(&pool, options.deadline).await.map_err(opening)?;
        let calls = Arc::new(Calls::new(pool, hosts.tls.clone(), &options, chooses));
        Ok(Self {
            notifier: Notifier::start(calls.clone()),
            hosts,
            calls,
            listener: OnceCell::new(),
            bell: Bell::new(),
        })
    }
}

impl Sessions for Postgres {
    fn create(&self, session: NewSession) -> StoreFuture<'_, Head> {
        Box::pin(async move {
            attempts!(self.calls, Again::Finds, |client, second| commit::create_once(
                client, &session, second
            ))
        })
    }

    fn head(&self, session: SessionId) -> StoreFuture<'_, Head> {
        Box::pin(async move {
            attempts!(self.calls, Again::Reads, |client, _second| read::head(client, session))
        })
    }

    fn list(&self, list: ListSessions) -> StoreFuture<'_, Vec<Head>> {
        Box::pin(async move {
            attempts!(self.calls, Again::Reads, |client, _second| read::list(client, list))
        })
    }

    fn remove(&self, session: SessionId) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            attempts!(self.calls, Again::Finds, |client, second| commit::remove_once(
                client, session, second
            ))?;
            self.notifier.send(Notice::Removed { session });
            Ok(())
        })
    }

    fn search(&self, search: Search) -> StoreFuture<'_, Vec<Found>> {
        Box::pin(async move {
            attempts!(self.calls, Again::Reads, |client, _second| read::search(client, &search))
        })
    }

    fn watch(&self) -> StoreFuture<'_, Notices> {
        Box::pin(async move {
            let notices = self.bell.listen();
            self.listener.get_or_try_init(|| Listener::start(&self.hosts, &self.bell)).await?;
            Ok(notices)
        })
    }
}

impl Log for Postgres {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, Committed> {
        Box::pin(async move {
            commit.check()?;
            let done = attempts!(self.calls, outcome::again(&commit), |client, second| {
                commit::commit_once(client, &commit, second)
            })?;
            let (session, next_seq) = (commit.session, done.next_seq);
            self.notifier.send(Notice::Changed { session, next_seq });
            Ok(done)
        })
    }

    fn events(&self, session: SessionId, page: Page) -> StoreFuture<'_, Vec<StoredEvent>> {
        Box::pin(async move {
            attempts!(self.calls, Again::Reads, |client, _second| read::events(
                client, session, page
            ))
        })
    }

    fn records(&self, session: SessionId, which: RecordFilter) -> StoreFuture<'_, Vec<Record>> {
        Box::pin(async move {
            attempts!(self.calls, Again::Reads, |client, _second| read::records(
                client, session, which
            ))
        })
    }

    fn requests(&self, session: SessionId, page: Page) -> StoreFuture<'_, Vec<SentRequest>> {
        Box::pin(async move {
            attempts!(self.calls, Again::Reads, |client, _second| read::requests(
                client, session, page
            ))
        })
    }
}
