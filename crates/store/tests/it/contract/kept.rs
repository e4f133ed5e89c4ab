//! What is kept beside the events: records and requests.

use interleaf_model::{Json, Usage};
use interleaf_store::{
    Commit, ErrorKind, Expect, LastBody, NewRequest, Page, RecordChange, RecordFilter, RecordKind,
    RequestUsage, Search, Store,
};

use super::{fork_at, kind_of};
use crate::fixture::{at, new_session, said, say, texts};

fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

pub(super) async fn records_are_read_as_they_stand_and_as_they_were(store: &dyn Store) {
    let session = new_session(store).await.id;
    let put = |kind, key: &str, body: &str| RecordChange::put(kind, key, json(body));
    let first = Commit::new(session, at(1))
        .append(0, vec![said("one")])
        .record(put(RecordKind::Todo, "b", r#"{"x":1.0}"#))
        .record(put(RecordKind::Todo, "a", "1"))
        .record(put(RecordKind::Note, "/src", "\"note\""));
    store.commit(first).await.unwrap();
    let second = Commit::new(session, at(2))
        .append(1, vec![said("two")])
        .record(put(RecordKind::Todo, "a", "2"))
        .record(RecordChange::remove(RecordKind::Todo, "b"));
    store.commit(second).await.unwrap();
    let shown = async |kind, as_of| {
        let records = store.records(session, RecordFilter { kind, as_of }).await.unwrap();
        let shown =
            |r: interleaf_store::Record| format!("{} {} {}", r.kind, r.key, r.body.as_str());
        records.into_iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(shown(Some(RecordKind::Todo), None).await, ["todo a 2"]);
    assert_eq!(shown(None, None).await, ["todo a 2", "note /src \"note\""]);
    assert_eq!(shown(Some(RecordKind::Todo), Some(1)).await, ["todo a 1", r#"todo b {"x":1.0}"#]);
    assert_eq!(shown(None, Some(0)).await, [""; 0]);
    // What was removed can be there again.
    store
        .commit(Commit::new(session, at(3)).record(put(RecordKind::Todo, "b", "3")))
        .await
        .unwrap();
    assert_eq!(shown(Some(RecordKind::Todo), None).await, ["todo a 2", "todo b 3"]);
}

pub(super) async fn a_fork_keeps_the_records_of_its_parent_as_they_were(store: &dyn Store) {
    let root = new_session(store).await.id;
    let put = |key: &str, body: &str| RecordChange::put(RecordKind::Todo, key, json(body));
    say(store, root, 0, &["one"]).await;
    store.commit(Commit::new(root, at(1)).record(put("a", "1"))).await.unwrap();
    let child = fork_at(store, root, 1).await;
    let before = fork_at(store, root, 0).await;
    // After the fork, though at the same event.
    store
        .commit(Commit::new(root, at(2)).record(put("a", "2")).record(put("b", "2")))
        .await
        .unwrap();
    store.commit(Commit::new(child, at(3)).record(put("c", "3"))).await.unwrap();
    let shown = async |session| {
        let records = store.records(session, RecordFilter::default()).await.unwrap();
        records.iter().map(|r| format!("{}={}", r.key, r.body.as_str())).collect::<Vec<_>>()
    };
    assert_eq!(shown(root).await, ["a=2", "b=2"]);
    assert_eq!(shown(child).await, ["a=1", "c=3"]);
    assert_eq!(shown(before).await, [""; 0]);
    let grandchild = fork_at(store, child, 1).await;
    store
        .commit(Commit::new(child, at(4)).record(RecordChange::remove(RecordKind::Todo, "a")))
        .await
        .unwrap();
    assert_eq!(shown(child).await, ["c=3"]);
    assert_eq!(shown(grandchild).await, ["a=1", "c=3"]);
}

pub(super) async fn a_summary_is_superseded_in_the_transaction_that_brings_the_next(
    store: &dyn Store,
) {
    let session = new_session(store).await.id;
    let put = |key: &str, state: &str| {
        RecordChange::put(RecordKind::Summary, key, json(&format!(r#"{{"state":"{state}"}}"#)))
    };
    let first = put("s1", "active").expecting(Expect::Absent);
    store.commit(Commit::new(session, at(1)).record(first)).await.unwrap();
    let no = store.records(session, RecordFilter::default()).await.unwrap()[0].no;
    // Two compactions at once: both read s1 as active, one wins.
    let replace = |with: &str| {
        Commit::new(session, at(2))
            .record(put("s1", "superseded").expecting(Expect::No(no)))
            .record(put(with, "active").expecting(Expect::Absent))
    };
    store.commit(replace("s2")).await.unwrap();
    assert_eq!(kind_of(store.commit(replace("s3"))).await, ErrorKind::Conflict);
    let records = store.records(session, RecordFilter::default()).await.unwrap();
    let shown: Vec<_> = records.iter().map(|r| (r.key.as_str(), r.body.as_str())).collect();
    assert_eq!(shown, [("s1", r#"{"state":"superseded"}"#), ("s2", r#"{"state":"active"}"#)]);
}

pub(super) async fn whoever_knows_the_records_is_told_when_they_changed(store: &dyn Store) {
    let session = new_session(store).await.id;
    let put = |key: &str| RecordChange::put(RecordKind::Todo, key, json("1"));
    let knowing = |number| Commit::new(session, at(1)).expecting_record(number);
    assert_eq!(store.head(session).await.unwrap().next_record, 0);
    let done = store.commit(knowing(0).record(put("a")).record(put("b"))).await.unwrap();
    assert_eq!((done.next_record, store.head(session).await.unwrap().next_record), (2, 2));

    let late = store.commit(knowing(0).record(put("a"))).await.unwrap_err();
    assert_eq!((late.kind(), late.current()), (ErrorKind::Conflict, None));
    assert!(late.to_string().contains("expected change 0 to be next, but it is 2"));
    let said_late = knowing(1).append(0, vec![said("one")]);
    assert_eq!(kind_of(store.commit(said_late)).await, ErrorKind::Conflict);
    assert_eq!(store.head(session).await.unwrap().next_seq, 0);

    store.commit(knowing(2).append(0, vec![said("one")])).await.unwrap();
    let child = fork_at(store, session, 1).await;
    store.commit(knowing(2).record(put("c"))).await.unwrap();
    let of_child = Commit::new(child, at(2)).expecting_record(2).record(put("d"));
    assert_eq!(store.commit(of_child).await.unwrap().next_record, 3);
}

pub(super) async fn a_commit_whose_condition_fails_leaves_nothing(store: &dyn Store) {
    let session = new_session(store).await.id;
    say(store, session, 0, &["one"]).await;
    let before = store.head(session).await.unwrap();
    let change = RecordChange::put(RecordKind::Info, "a", json("1"));
    let failing = |commit: Commit| commit.append(1, vec![said("phantom")]).record(change.clone());
    let impossible = change.clone().expecting(Expect::No(77));
    let mut unsent = failing(Commit::new(session, at(50)));
    unsent.usage = Some(RequestUsage { no: 0, usage: Usage::default() });
    let mut renumbered = failing(Commit::new(session, at(50)));
    renumbered.request = Some(request(9, "{}"));
    renumbered.title = Some("never".to_owned());
    for commit in [failing(Commit::new(session, at(50))).record(impossible), unsent, renumbered] {
        store.commit(commit).await.unwrap_err();
        assert_eq!(store.head(session).await.unwrap(), before);
        assert_eq!(texts(store, session).await, ["one"]);
        assert_eq!(store.records(session, RecordFilter::default()).await.unwrap(), []);
        assert_eq!(store.search(Search::new("phantom")).await.unwrap(), []);
    }
}

fn request(no: u64, body: &str) -> NewRequest {
    NewRequest {
        no,
        model: "a-model".to_owned(),
        vendor: "openai".to_owned(),
        body: LastBody::after(None, [body.to_owned()]).0,
        report: json(r#"{"steps": [] }"#),
    }
}

pub(super) async fn requests_are_rebuilt_byte_for_byte_and_proven(store: &dyn Store) {
    let session = new_session(store).await.id;
    let mut bodies = vec![];
    let mut last: Option<LastBody> = None;
    let mut history = String::new();
    for no in 0..40 {
        history.push_str(&format!(r#"{{"content":"message {no} of some length, 😀"}},"#));
        let body = format!(r#"{{"messages":[{history}{{"todo":{no}}}],"tools":["many","tools"]}}"#);
        let (stored, next) = LastBody::after(last.as_ref(), [body.clone()]);
        last = Some(next);
        let new = NewRequest { body: stored, ..request(no, "") };
        let mut commit = Commit::new(session, at(1)).append(no, vec![said("sent")]);
        commit.request = Some(new);
        assert_eq!(store.commit(commit).await.unwrap().next_request, no + 1);
        bodies.push(body);
    }
    let requests = store.requests(session, Page::from(0, 100)).await.unwrap();
    assert_eq!(requests.len(), 40);
    for (no, body) in bodies.iter().enumerate() {
        let read = LastBody::read(store, session, no as u64).await.unwrap();
        assert_eq!(read.to_bytes(), body.as_bytes());
        assert!(requests[no].body.is(body.as_bytes()) && !requests[no].body.is(b"other"));
        assert_eq!(requests[no].seq, no as u64);
        assert_eq!(requests[no].report.as_str(), r#"{"steps": [] }"#);
    }
    let stored: usize = requests.iter().map(|request| request.body.middle.len()).sum();
    let sent: usize = bodies.iter().map(String::len).sum();
    assert!(stored * 5 < sent, "{stored} bytes are stored of {sent}");
    let none = LastBody::read(store, session, 40).await.unwrap_err();
    assert_eq!(none.kind(), ErrorKind::NotFound);
    let whole = requests.iter().rposition(|request| request.body.whole).unwrap();
    let mut damaged = requests[whole..].to_vec();
    damaged.last_mut().unwrap().body.hash[0] ^= 1;
    let error = LastBody::rebuilt(damaged).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

pub(super) async fn usage_is_noted_on_the_request_that_it_belongs_to(store: &dyn Store) {
    let session = new_session(store).await.id;
    let mut commit = Commit::new(session, at(1));
    commit.request = Some(request(0, "{}"));
    store.commit(commit).await.unwrap();
    let usage = Usage { prompt: 10, completion: 2, ..Usage::default() };
    let mut commit = Commit::new(session, at(1));
    commit.usage = Some(RequestUsage { no: 0, usage });
    store.commit(commit).await.unwrap();
    assert_eq!(store.requests(session, Page::newest(1)).await.unwrap()[0].usage, Some(usage));
}
