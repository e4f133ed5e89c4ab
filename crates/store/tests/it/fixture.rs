//! Stores to test with, and short ways to fill them.

pub(crate) mod child;
pub(crate) mod proxy;
pub(crate) mod server;
pub(crate) mod small_disk;

use std::sync::Arc;

use interleaf_conversation::Event;
use interleaf_model::{Message, Timestamp};
use interleaf_store::{
    Commit, Head, NewEvent, NewSession, OpenOptions, Page, SessionId, Store, open, open_with,
};
use tempfile::TempDir;

use server::node::PATIENCE;

/// A store, and what must live as long as it does.
pub(crate) struct Backend {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) url: String,
    _folder: Option<TempDir>,
}

/// Options of somebody with all the time in the world: no test depends on a quiet machine.
pub(crate) fn patient() -> OpenOptions {
    OpenOptions::default().patience(PATIENCE).deadline(PATIENCE)
}

pub(crate) async fn memory() -> Option<Backend> {
    let url = "memory:".to_owned();
    Some(Backend { store: open(&url).await.unwrap(), url, _folder: None })
}

pub(crate) async fn sqlite() -> Option<Backend> {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("sessions.db").display());
    let store = open_with(&url, patient()).await.unwrap();
    Some(Backend { store, url, _folder: Some(folder) })
}

/// None if PostgreSQL is not installed, which is said.
pub(crate) async fn postgres() -> Option<Backend> {
    let url = server::new_database().await?;
    let store = open_with(&url, patient()).await.unwrap();
    Some(Backend { store, url, _folder: None })
}

/// An instant, this many seconds into a day.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_microseconds(1_795_000_000_000_000 + seconds * 1_000_000).unwrap()
}

pub(crate) fn said(text: &str) -> NewEvent {
    NewEvent::of(&Event::Appended { message: Message::user(text).into() }).unwrap()
}

pub(crate) async fn new_session(store: &dyn Store) -> Head {
    store.create(NewSession::new("a title", at(0))).await.unwrap()
}

/// Appends texts, one event each, in one commit.
pub(crate) async fn say(store: &dyn Store, session: SessionId, expected: u64, texts: &[&str]) {
    let events = texts.iter().map(|text| said(text)).collect();
    store.commit(Commit::new(session, at(1)).append(expected, events)).await.unwrap();
}

/// The text of every event of a session.
pub(crate) async fn texts(store: &dyn Store, session: SessionId) -> Vec<String> {
    let events = store.events(session, Page::from(0, usize::MAX)).await.unwrap();
    let text = |event: &interleaf_store::StoredEvent| match event.event().unwrap() {
        Event::Appended { message } => message.text().into_owned(),
        other => format!("{other:?}"),
    };
    events.iter().map(text).collect()
}
