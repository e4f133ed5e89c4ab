//! The store on a server that any number of nodes share.
//!
//! An append is one statement, and so one round trip and one transaction. Notices to
//! other nodes are sent after the commit, several at once: `NOTIFY` inside it would
//! make all commits of the database wait for each other.

mod commit;
mod connect;
mod error;
mod listen;
mod notify;
mod read;
mod schema;

use deadpool_postgres::{Client, Pool};
use tokio::sync::OnceCell;
use tokio_postgres::Config;

use crate::error::Failure;
use crate::notice::Bell;
use crate::{
    Commit, Committed, Error, Found, Head, ListSessions, Log, NewSession, Notice, Notices,
    OpenOptions, Page, Record, RecordFilter, Search, SentRequest, SessionId, Sessions, StoreFuture,
    StoredEvent,
};

use listen::Listener;
use notify::Notifier;

pub(crate) struct Postgres {
    pool: Pool,
    config: Config,
    notifier: Notifier,
    listener: OnceCell<Listener>,
    bell: Bell,
}

impl Postgres {
    pub(crate) async fn open(url: &str, options: OpenOptions) -> Result<Self, Error> {
        let config = connect::config(url, &options)?;
        let place = connect::place(&config);
        let opening = |failure: Failure| {
            failure.0.while_doing(format_args!("cannot open the database {place}"))
        };
        let pool = connect::pool(&config, &options).map_err(opening)?;
        schema::migrate(&pool).await.map_err(opening)?;
        Ok(Self {
            notifier: Notifier::start(pool.clone()),
            pool,
            config,
            listener: OnceCell::new(),
            bell: Bell::new(),
        })
    }

    async fn client(&self) -> Result<Client, Failure> {
        Ok(self.pool.get().await?)
    }
}

/// Gives out what an async block comes to, as our error.
macro_rules! answer {
    ($body:expr) => {
        Box::pin(async move {
            let result: Result<_, Failure> = async move { $body }.await;
            result.map_err(Error::from)
        })
    };
}

impl Sessions for Postgres {
    fn create(&self, session: NewSession) -> StoreFuture<'_, Head> {
        answer!(commit::create(&mut self.client().await?, session).await)
    }

    fn head(&self, session: SessionId) -> StoreFuture<'_, Head> {
        answer!(read::head(&self.client().await?, session).await)
    }

    fn list(&self, list: ListSessions) -> StoreFuture<'_, Vec<Head>> {
        answer!(read::list(&self.client().await?, list).await)
    }

    fn remove(&self, session: SessionId) -> StoreFuture<'_, ()> {
        answer!({
            commit::remove(&mut self.client().await?, session).await?;
            self.notifier.send(Notice::Removed { session });
            Ok(())
        })
    }

    fn search(&self, search: Search) -> StoreFuture<'_, Vec<Found>> {
        answer!(read::search(&self.client().await?, &search).await)
    }

    fn watch(&self) -> StoreFuture<'_, Notices> {
        answer!({
            let notices = self.bell.listen();
            self.listener.get_or_try_init(|| Listener::start(&self.config, &self.bell)).await?;
            Ok(notices)
        })
    }
}

impl Log for Postgres {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, Committed> {
        answer!({
            commit.check()?;
            let done = commit::commit(&mut self.client().await?, &commit).await?;
            let (session, next_seq) = (commit.session, done.next_seq);
            self.notifier.send(Notice::Changed { session, next_seq });
            Ok(done)
        })
    }

    fn events(&self, session: SessionId, page: Page) -> StoreFuture<'_, Vec<StoredEvent>> {
        answer!(read::events(&self.client().await?, session, page).await)
    }

    fn records(&self, session: SessionId, which: RecordFilter) -> StoreFuture<'_, Vec<Record>> {
        answer!(read::records(&self.client().await?, session, which).await)
    }

    fn requests(&self, session: SessionId, page: Page) -> StoreFuture<'_, Vec<SentRequest>> {
        answer!(read::requests(&self.client().await?, session, page).await)
    }
}
