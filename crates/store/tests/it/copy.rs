//! From one store to another and back, and nothing is different.

use interleaf_model::{Json, Usage};
use interleaf_store::{
    Commit, ErrorKind, Kind, LastBody, NewRequest, Page, RecordChange, Records, RequestUsage,
    Search, SessionId, Store, StoredBody, copy_session,
};

use crate::fixture::{at, memory, new_session, postgres, said, sqlite};

async fn fill(store: &dyn Store) -> SessionId {
    let session = new_session(store).await.id;
    let mut last: Option<LastBody> = None;
    for n in 0..1200 {
        let mut commit =
            Commit::new(session, at(n as i64)).append(n, vec![said(&format!("text {n}"))]);
        if n % 7 == 0 {
            let body = format!("[{}{n}]", "the same, ".repeat(20 + n as usize / 50));
            let stored = StoredBody::after(last.as_ref(), body.as_bytes());
            last = Some(LastBody::of(body.into_bytes(), &stored));
            commit.request = Some(NewRequest {
                no: n / 7,
                model: "m".to_owned(),
                vendor: "v".to_owned(),
                body: stored,
                report: Json::parse("{ }").unwrap(),
            });
            let usage = Usage { prompt: n, ..Usage::default() };
            commit.usage = (n % 14 == 0).then_some(RequestUsage { no: n / 7, usage });
        }
        if n % 100 == 0 {
            let body = Json::parse(format!("{{\"n\": {n}}}")).unwrap();
            commit = commit.record(RecordChange::put(Kind::Todo, format!("{}", n % 300), body));
        }
        store.commit(commit).await.unwrap();
    }
    session
}

/// All that a copy must keep.
async fn content(store: &dyn Store, session: SessionId) -> String {
    let head = store.head(session).await.unwrap();
    let events = store.events(session, Page::from(0, 9999)).await.unwrap();
    let requests = store.requests(session, Page::from(0, 9999)).await.unwrap();
    let records = store.records(session, Records::default()).await.unwrap();
    let records: Vec<_> = records.iter().map(|r| (r.kind, &r.key, &r.body)).collect();
    let found = store.search(Search::new("text 777")).await.unwrap();
    format!("{head:?}\n{events:?}\n{requests:?}\n{records:?}\n{found:?}")
}

#[tokio::test]
async fn a_session_goes_to_another_store_and_back() {
    let (from, to, back) =
        (sqlite().await.unwrap(), memory().await.unwrap(), memory().await.unwrap());
    let to = postgres().await.unwrap_or(to);
    let session = fill(&*from.store).await;
    let mut told = vec![];
    copy_session(&*from.store, &*to.store, session, |n, of| told.push((n, of))).await.unwrap();
    assert!(told.is_sorted() && told.last() == Some(&(1200, 1200)));
    copy_session(&*to.store, &*back.store, session, |_, _| ()).await.unwrap();
    let expected = content(&*from.store, session).await;
    assert_eq!(content(&*to.store, session).await, expected);
    assert_eq!(content(&*back.store, session).await, expected);
    let again = copy_session(&*from.store, &*to.store, session, |_, _| ()).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Exists);
    assert_eq!(content(&*to.store, session).await, expected);
}
