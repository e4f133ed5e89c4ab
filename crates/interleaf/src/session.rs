//! A session that lasts: a conversation, and the store that keeps it.
//!
//! ```text
//!   change ──▶ a copy of the conversation ──▶ events ──▶ store ──▶ the copy is taken
//!                                                          └─ conflict: nothing changed
//! ```
//!
//! The store is the truth. What a session holds in memory is rebuilt from events, and
//! every write names the sequence number that it builds on: if another node has
//! written meanwhile, the write is refused, and [`Session::refresh`] takes in what is
//! new. The same call recovers a session whose last write was interrupted.
//!
//! The same holds for records. Whatever is made from them (a change of one, a request, a
//! change of the view that a summary covers) names the number of the next change of a
//! record. What only appends does not, and a preview is made from what is known here.

mod agent;
mod asker;
mod beside;
mod cache_key;
mod compact;
mod counters;
mod draft;
mod explain;
mod find;
mod information;
mod lane;
mod left_out;
mod load;
mod notes;
mod one_line;
mod records;
mod relevant;
mod request;
mod retry;
mod script;
mod sent;
mod sent_context;
mod summary;
mod switch;
mod take;
mod terms;
mod todo;
mod told;
mod trail;
mod unseen;
mod warmth;
mod write;

pub use agent::SessionAgent;
pub use draft::RecordDraft;
pub use explain::{ExplainedRequest, Parting};
pub use information::{InfoRange, Information};
pub use left_out::LeftOut;
pub use notes::{FolderNote, Notes};
pub use records::DamagedRecord;
pub(crate) use records::check as check_record;
pub(crate) use retry::RETRIES;
pub use sent::Sent;
pub use sent_context::{SentContext, SentSource};
pub use summary::{KeptSummary, SummaryState};
pub(crate) use terms::Terms;
pub use todo::{Todo, TodoItem, TodoStatus};
pub use warmth::SessionWarmth;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use interleaf_conversation::Conversation;
use interleaf_model::{AgentName, Timestamp};
use interleaf_store::{
    Head, LastBody, NewSession, Record, RecordChange, RecordFilter, SessionId, Store,
};

use crate::Error;
use crate::made_calls::MadeCalls;
use counters::ModelCounter;
use lane::Lane;
use records::Records;

/// A conversation that is kept by a store.
///
/// ```
/// use interleaf::model::Message;
/// use interleaf::{ErrorKind, Session, store};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = store::open("memory:").await?;
/// let mut session = Session::create(store.clone(), "a title").await?;
/// session.append(Message::user("hello")).await?;
///
/// let mut elsewhere = Session::open(store, session.id()).await?;
/// elsewhere.append(Message::assistant("hello, from another node")).await?;
///
/// let late = session.append(Message::assistant("hello")).await.unwrap_err();
/// assert_eq!((late.kind(), late.current()), (ErrorKind::Conflict, Some(2)));
/// session.refresh().await?;
/// assert_eq!(session.conversation(), elsewhere.conversation());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct Session {
    store: Arc<dyn Store>,
    head: Head,
    conversation: Conversation,
    /// How many messages of the log are from the past that a fork shares.
    n_shared: usize,
    /// The body of the last noted request, if it is known.
    last_body: Option<LastBody>,
    /// What the main agent's requests are made from.
    main: Lane,
    /// What the requests of sub-agents are made from.
    agents: BTreeMap<AgentName, Lane>,
    /// The records, if they are known.
    kept: Option<Records>,
    /// The changes of records that are not written yet, if this is a draft.
    held: Option<Vec<RecordChange>>,
    /// The ids that were made for calls; unknown after a write that failed.
    made_calls: MadeCalls,
    /// What counts tokens where a recipe does not say, by model.
    counters: BTreeMap<String, ModelCounter>,
    /// The session that it descends from, if that is known.
    root: Option<SessionId>,
}

impl Session {
    /// Makes a session.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn create(store: Arc<dyn Store>, title: &str) -> Result<Self, Error> {
        Self::create_with(store, NewSession::new(title, now()?)).await
    }

    /// Makes a session with more details than a title.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn create_with(store: Arc<dyn Store>, new: NewSession) -> Result<Self, Error> {
        let head = store.create(new).await.map_err(Error::store)?;
        let loaded = load::session(&*store, &head).await?;
        Ok(Self::of(store, head, loaded))
    }

    /// Opens a session, and rebuilds its conversation from its events.
    ///
    /// # Errors
    /// If there is none, or an event is damaged.
    pub async fn open(store: Arc<dyn Store>, id: SessionId) -> Result<Self, Error> {
        let head = store.head(id).await.map_err(Error::store)?;
        let loaded = load::session(&*store, &head).await?;
        Ok(Self::of(store, head, loaded))
    }

    /// A session with its conversation, of which it shares the first `n_shared` messages.
    fn of(
        store: Arc<dyn Store>,
        head: Head,
        (conversation, n_shared): (Conversation, usize),
    ) -> Self {
        let (main, agents, counters) = (Lane::default(), BTreeMap::new(), BTreeMap::new());
        Self {
            store,
            head,
            conversation,
            n_shared,
            last_body: None,
            main,
            agents,
            kept: None,
            held: None,
            made_calls: MadeCalls::default(),
            counters,
            root: None,
        }
    }

    /// A session that shares the past of this one, as it is known here, and goes its own
    /// way. Nothing is copied.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn fork(&self, title: &str) -> Result<Self, Error> {
        let head = self.fork_head(self.seq(), title).await?;
        let shared = (self.conversation.fork(), self.conversation.log_len());
        Ok(Self::of(self.store.clone(), head, shared))
    }

    /// A session that shares this session's first `seq` events.
    ///
    /// # Errors
    /// If it has fewer.
    pub async fn fork_at(&self, seq: u64, title: &str) -> Result<Self, Error> {
        let head = self.fork_head(seq, title).await?;
        let conversation = self.at(seq).await?;
        let n_shared = conversation.log_len();
        Ok(Self::of(self.store.clone(), head, (conversation, n_shared)))
    }

    async fn fork_head(&self, seq: u64, title: &str) -> Result<Head, Error> {
        let new = NewSession::fork_of(&self.head, seq, title, now()?);
        self.store.create(new).await.map_err(Error::store)
    }

    /// Takes in what others have written, and tells how many events that was. A session that
    /// was removed and made again under the same name is another one: all of it is new.
    ///
    /// # Errors
    /// If the session is gone, or an event does not fit.
    pub async fn refresh(&mut self) -> Result<u64, Error> {
        let head = self.store.head(self.id()).await.map_err(Error::store)?;
        let (known, new) = (self.seq(), head.next_seq);
        if new < known || head.created != self.head.created {
            // It was removed, and made again under the same name.
            let loaded = load::session(&*self.store, &head).await?;
            *self = Self::of(self.store.clone(), head, loaded);
            return Ok(new);
        }
        let mut conversation = self.conversation.clone();
        load::extend(&*self.store, self.id(), &mut conversation, known..new).await?;
        self.conversation = conversation;
        if head.next_request != self.head.next_request {
            self.last_body = None;
        }
        if head.next_record != self.head.next_record {
            self.kept = None;
        }
        if new > known {
            self.look_again();
            self.lanes_mut().for_each(Lane::look_again);
        }
        self.head = head;
        Ok(new - known)
    }

    /// The conversation as it was when the session had `seq` events.
    ///
    /// # Errors
    /// If it never had that many.
    pub async fn at(&self, seq: u64) -> Result<Conversation, Error> {
        load::conversation(&*self.store, self.id(), seq).await
    }

    /// What it keeps beside the conversation: summaries, TODO items, notes and so on.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn records(&self, which: RecordFilter) -> Result<Vec<Record>, Error> {
        self.store.records(self.id(), which).await.map_err(Error::store)
    }

    /// What an agent's requests are made from.
    fn lane(&mut self, agent: Option<&AgentName>) -> &mut Lane {
        match agent {
            None => &mut self.main,
            Some(name) => self.agents.entry(name.clone()).or_default(),
        }
    }

    fn lanes_mut(&mut self) -> impl Iterator<Item = &mut Lane> {
        std::iter::once(&mut self.main).chain(self.agents.values_mut())
    }

    /// Its name.
    pub fn id(&self) -> SessionId {
        self.head.id
    }

    /// What was known of it at the last write or refresh.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// How many events the conversation here is made of.
    pub fn seq(&self) -> u64 {
        self.head.next_seq
    }

    /// What was said, and what of it is visible.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Where it is kept.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }
}

/// The time by this machine's clock. It is noted, and decides nothing.
///
/// # Errors
/// If the clock is outside the years -9999 to 9999.
pub fn now() -> Result<Timestamp, Error> {
    instant(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// What the clock says, if it can be right.
fn instant(since: Duration) -> Result<Timestamp, Error> {
    let microseconds = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_microseconds(microseconds)
        .map_err(|e| Error::rule(format!("the clock of this machine is wrong: {}", e.message())))
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { head, conversation, .. } = self;
        f.debug_struct("Session").field("head", head).field("conversation", conversation).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::instant;

    #[test]
    fn a_clock_past_the_last_instant_is_told_as_the_machines() {
        let told = instant(Duration::from_secs(253_402_300_800)).unwrap_err().to_string();
        assert!(told.starts_with("the clock of this machine is wrong: "), "{told}");
        assert!(instant(Duration::MAX).is_err());
    }
}
