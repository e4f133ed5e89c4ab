//! Events that are read ahead come as they were written.

use interleaf_conversation::Event;
use interleaf_store::{Commit, ErrorKind, ForkPoint, NewSession, Replay, SessionId, Store};
use rusqlite::Connection;

use crate::fixture::{at, memory, new_session, postgres, said, sqlite};

async fn fill(store: &dyn Store, session: SessionId, from: u64, n: u64) {
    let events = (from..from + n).map(|seq| said(&format!("text {seq}"))).collect();
    store.commit(Commit::new(session, at(1)).append(from, events)).await.unwrap();
}

async fn replayed(store: &dyn Store, session: SessionId, from: u64, upto: u64) -> Vec<String> {
    let mut replay = Replay::new(store, session, from..upto);
    let mut texts = vec![];
    loop {
        let page = replay.next_page().await.unwrap();
        if page.is_empty() {
            return texts;
        }
        texts.extend(page.into_iter().map(|event| match event {
            Event::Appended { message } => message.text().into_owned(),
            other => format!("{other:?}"),
        }));
    }
}

#[tokio::test]
async fn events_of_many_pages_come_in_order_and_those_of_a_parent_first() {
    for backend in [memory().await, sqlite().await, postgres().await].into_iter().flatten() {
        let store = &*backend.store;
        let root = new_session(store).await.id;
        fill(store, root, 0, 3000).await;
        let mut new = NewSession::new("a fork", at(2));
        new.parent = Some(ForkPoint { session: root, seq: 1500 });
        let fork = store.create(new).await.unwrap().id;
        fill(store, fork, 1500, 3100).await;
        let text = |seq: u64| format!("text {seq}");
        let expected: Vec<String> = (700..4600).map(text).collect();
        assert_eq!(replayed(store, fork, 700, 4600).await, expected);
        // More than there are gives those that are there.
        assert_eq!(
            replayed(store, root, 2990, 9999).await,
            (2990..3000).map(text).collect::<Vec<_>>()
        );
        assert_eq!(replayed(store, root, 5000, 9999).await, [""; 0]);
    }
}

#[tokio::test]
async fn a_damaged_event_of_a_later_page_is_named() {
    let backend = sqlite().await.unwrap();
    let session = new_session(&*backend.store).await.id;
    fill(&*backend.store, session, 0, 5000).await;
    let other = Connection::open(backend.url.strip_prefix("sqlite:").unwrap()).unwrap();
    let sql = "UPDATE events SET sum = -1, body = '{\"appended\":{\"message\":{}}}'
               WHERE id & 8191 = 4321";
    assert_eq!(other.execute(sql, []).unwrap(), 1);
    let mut replay = Replay::new(&*backend.store, session, 0..5000);
    let mut n_read = 0;
    let error = loop {
        match replay.next_page().await {
            Ok(page) => n_read += page.len(),
            Err(e) => break e,
        }
    };
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.to_string(), format!("session {session}: event 4321 is damaged"));
    assert!((3000..=4321).contains(&n_read), "{n_read} events came before it");
}
