//! One suite for every store.

mod kept;

use std::collections::BTreeSet;

use interleaf_conversation::Event;
use interleaf_model::{AgentName, Message};
use interleaf_store::{
    Commit, ErrorKind, ForkPoint, ListSessions, NewEvent, NewSession, Notice, Page, RecordFilter,
    Search, SessionId, Store,
};
use tokio::time::timeout;

use kept::*;

use crate::fixture::child::insist;
use crate::fixture::server::node::PATIENCE;
use crate::fixture::{self, at, new_session, said, say, texts};

macro_rules! on_every_store {
    ($($name:ident)*) => {
        on_every_store!(@ memory $($name)*);
        on_every_store!(@ sqlite $($name)*);
        on_every_store!(@ postgres $($name)*);
    };
    (@ $backend:ident $($name:ident)*) => {
        mod $backend {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let Some(backend) = super::fixture::$backend().await else { return };
                super::$name(&*backend.store).await;
            })*
        }
    };
}

on_every_store! {
    a_session_is_made_read_listed_and_removed
    sessions_are_listed_in_pages_the_last_changed_first
    events_come_back_byte_for_byte
    a_second_writer_is_told_the_current_number_and_writes_nothing
    a_long_session_is_read_in_pages_from_both_ends
    a_fork_shares_its_past_and_goes_its_own_way
    a_parent_is_not_removed_while_forks_share_its_events
    records_are_read_as_they_stand_and_as_they_were
    a_fork_keeps_the_records_of_its_parent_as_they_were
    a_summary_is_superseded_in_the_transaction_that_brings_the_next
    a_commit_whose_condition_fails_leaves_nothing
    whoever_knows_the_records_is_told_when_they_changed
    requests_are_rebuilt_byte_for_byte_and_proven
    usage_is_noted_on_the_request_that_it_belongs_to
    what_was_said_is_found_hidden_or_not
    what_was_said_alone_together_or_in_a_fork_is_found_once
    the_youngest_session_is_found_first_in_whatever_order_they_came
    a_change_is_told_to_those_who_watch
    writers_in_one_process_lose_nothing_and_double_nothing
    what_is_not_there_is_said_not_to_be_there
}

async fn kind_of<T: std::fmt::Debug>(answer: interleaf_store::StoreFuture<'_, T>) -> ErrorKind {
    answer.await.unwrap_err().kind()
}

async fn a_session_is_made_read_listed_and_removed(store: &dyn Store) {
    let mut new = NewSession::new("Ünï 上下文 title", at(7));
    new.agent = Some(AgentName::new("coder"));
    let head = store.create(new.clone()).await.unwrap();
    assert_eq!((head.next_seq, head.created, head.changed), (0, at(7), at(7)));
    assert_eq!(store.head(head.id).await.unwrap(), head);
    assert_eq!(store.list(ListSessions::default()).await.unwrap(), std::slice::from_ref(&head));
    assert_eq!(kind_of(store.create(new.clone())).await, ErrorKind::Exists);

    let mut rename = Commit::new(head.id, at(9));
    rename.title = Some("another".to_owned());
    store.commit(rename).await.unwrap();
    let renamed = store.head(head.id).await.unwrap();
    assert_eq!((renamed.title.as_str(), renamed.changed), ("another", at(9)));

    say(store, head.id, 0, &["a word to remove"]).await;
    store.remove(head.id).await.unwrap();
    assert_eq!(kind_of(store.head(head.id)).await, ErrorKind::NotFound);
    assert_eq!(store.list(ListSessions::default()).await.unwrap(), []);
    assert_eq!(store.search(Search::new("remove")).await.unwrap(), []);
    // The name is free again, and nothing of the old session is under it.
    store.create(new).await.unwrap();
    assert_eq!(texts(store, head.id).await, [""; 0]);
}

async fn sessions_are_listed_in_pages_the_last_changed_first(store: &dyn Store) {
    let mut ids = vec![];
    for n in 0..5 {
        ids.push(store.create(NewSession::new(format!("{n}"), at(n))).await.unwrap().id);
    }
    store.commit(Commit::new(ids[1], at(100)).append(0, vec![said("now")])).await.unwrap();
    let mut after = None;
    let mut titles = vec![];
    loop {
        let page = store.list(ListSessions { limit: 2, after }).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some((last.changed, last.id));
        titles.extend(page.into_iter().map(|head| head.title));
    }
    assert_eq!(titles, ["1", "4", "3", "2", "0"]);
}

async fn events_come_back_byte_for_byte(store: &dyn Store) {
    let session = new_session(store).await.id;
    let text = r#"{"role":"assistant","parts":[{"type":"text","text":"zero \u0000 byte, 😀, a\\b"},
        {"type":"call","id":"c1","name":"f","arguments":{"b":1.0,  "a":1e2, "n":123456789012345678901234567890}}]}"#;
    let message: Message = serde_json::from_str(text).unwrap();
    let event = Event::Appended { message: message.into() };
    let new = NewEvent::of(&event).unwrap();
    assert!(new.body().contains(r#"{"b":1.0,  "a":1e2, "n":123456789012345678901234567890}"#));
    store.commit(Commit::new(session, at(5)).append(0, vec![new.clone()])).await.unwrap();
    let stored = store.events(session, Page::newest(1)).await.unwrap();
    assert_eq!((stored[0].seq, stored[0].at, stored[0].version), (0, at(5), 1));
    assert_eq!(stored[0].body, new.body());
    assert_eq!(stored[0].event().unwrap(), event);
}

async fn a_second_writer_is_told_the_current_number_and_writes_nothing(store: &dyn Store) {
    let session = new_session(store).await.id;
    say(store, session, 0, &["one", "two"]).await;
    for wrong in [0, 1, 3, 1_000_000] {
        let commit = Commit::new(session, at(4)).append(wrong, vec![said("late"), said("later")]);
        let error = store.commit(commit).await.unwrap_err();
        assert_eq!((error.kind(), error.current()), (ErrorKind::Conflict, Some(2)));
        assert!(error.to_string().contains("to be next, but it is 2"), "{error}");
    }
    assert_eq!(texts(store, session).await, ["one", "two"]);
    assert_eq!(store.head(session).await.unwrap().next_seq, 2);
    assert_eq!(store.search(Search::new("late")).await.unwrap(), []);
}

async fn a_long_session_is_read_in_pages_from_both_ends(store: &dyn Store) {
    let session = new_session(store).await.id;
    let all: Vec<String> = (0..25).map(|n| n.to_string()).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    say(store, session, 0, &all).await;
    let seqs = async |page| {
        let events = store.events(session, page).await.unwrap();
        events.iter().map(|event| event.seq).collect::<Vec<_>>()
    };
    assert_eq!(seqs(Page::newest(3)).await, [22, 23, 24]);
    assert_eq!(seqs(Page::before(22, 3)).await, [19, 20, 21]);
    assert_eq!(seqs(Page::before(2, 10)).await, [0, 1]);
    assert_eq!(seqs(Page::from(23, 10)).await, [23, 24]);
    assert_eq!(seqs(Page::from(25, 10)).await, [0; 0]);
    assert_eq!(seqs(Page::from(99, 10)).await, [0; 0]);
    assert_eq!(seqs(Page::newest(0)).await, [0; 0]);
}

async fn fork_at(store: &dyn Store, session: SessionId, seq: u64) -> SessionId {
    let parent = Some(ForkPoint { session, seq });
    let new = NewSession { parent, ..NewSession::new("a fork", at(8)) };
    let head = store.create(new).await.unwrap();
    assert_eq!(store.head(head.id).await.unwrap(), head);
    assert_eq!((head.parent, head.next_seq), (parent, seq));
    head.id
}

async fn a_fork_shares_its_past_and_goes_its_own_way(store: &dyn Store) {
    let root = new_session(store).await.id;
    say(store, root, 0, &["a", "b", "c", "d"]).await;
    let child = fork_at(store, root, 2).await;
    say(store, root, 4, &["e"]).await;
    say(store, child, 2, &["x", "y", "z"]).await;
    // A fork of the fork, in its own part, and one in the part of the root.
    let late = fork_at(store, child, 4).await;
    let early = fork_at(store, child, 1).await;
    say(store, late, 4, &["late"]).await;
    say(store, early, 1, &["early"]).await;
    assert_eq!(texts(store, root).await, ["a", "b", "c", "d", "e"]);
    assert_eq!(texts(store, child).await, ["a", "b", "x", "y", "z"]);
    assert_eq!(texts(store, late).await, ["a", "b", "x", "y", "late"]);
    assert_eq!(texts(store, early).await, ["a", "early"]);
    let page = store.events(late, Page::newest(4)).await.unwrap();
    assert_eq!(page.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);

    let parent = Some(ForkPoint { session: root, seq: 6 });
    let beyond = NewSession { parent, ..NewSession::new("", at(0)) };
    assert_eq!(kind_of(store.create(beyond)).await, ErrorKind::Invalid);
    let parent = Some(ForkPoint { session: SessionId::random(), seq: 0 });
    let orphan = NewSession { parent, ..NewSession::new("", at(0)) };
    assert_eq!(kind_of(store.create(orphan)).await, ErrorKind::NotFound);
}

async fn a_parent_is_not_removed_while_forks_share_its_events(store: &dyn Store) {
    let root = new_session(store).await.id;
    say(store, root, 0, &["a"]).await;
    let child = fork_at(store, root, 1).await;
    assert_eq!(kind_of(store.remove(root)).await, ErrorKind::HasForks);
    assert_eq!(texts(store, child).await, ["a"]);
    store.remove(child).await.unwrap();
    store.remove(root).await.unwrap();
}

async fn what_was_said_is_found_hidden_or_not(store: &dyn Store) {
    let first = new_session(store).await.id;
    let second = new_session(store).await.id;
    say(
        store,
        first,
        0,
        &["The quick brown FOX", "read_file(\"src/main.rs\") 上下文管理", "nothing"],
    )
    .await;
    let insert = r#"{"operated":{"operation":{"insert":{"position":0,"messages":
        [{"id":"m3","role":"user","parts":[{"type":"text","text":"an inserted fox"}]}]}},"view":[]}}"#;
    let event: Event = serde_json::from_str(insert).unwrap();
    let hide = NewEvent::of(&event).unwrap();
    store.commit(Commit::new(first, at(2)).append(3, vec![hide])).await.unwrap();
    say(store, second, 0, &["a fox, quick as ever"]).await;
    let found = async |query: &str, session| {
        let search = Search { session, ..Search::new(query) };
        let found = store.search(search).await.unwrap();
        found.iter().map(|f| (f.session, f.seq)).collect::<Vec<_>>()
    };
    assert_eq!(found("fox", None).await, [(second, 0), (first, 3), (first, 0)]);
    assert_eq!(found("fox QUICK", None).await, [(second, 0), (first, 0)]);
    assert_eq!(found("fox", Some(first)).await, [(first, 3), (first, 0)]);
    assert_eq!(found("main.rs", None).await, [(first, 1)]);
    assert_eq!(found("rs.main", None).await, []);
    assert_eq!(found("file", None).await, [(first, 1)]);
    assert_eq!(found("下文", None).await, [(first, 1)]);
    assert_eq!(found("文下", None).await, []);
    assert_eq!(found("fo", None).await, []);
    assert_eq!(found("\"'); drop OR * -- fox", None).await, []);
    assert_eq!(kind_of(store.search(Search::new(" -- "))).await, ErrorKind::Invalid);
    let one = store.search(Search { limit: 1, ..Search::new("brown") }).await.unwrap();
    assert_eq!(one[0].excerpt, "The quick brown FOX");
}

async fn what_was_said_alone_together_or_in_a_fork_is_found_once(store: &dyn Store) {
    let session = new_session(store).await.id;
    let seqs = async |query: &str| {
        let found = store.search(Search::new(query)).await.unwrap();
        found.iter().map(|f| (f.session, f.seq)).collect::<Vec<_>>()
    };
    say(store, session, 0, &["a wren"]).await;
    say(store, session, 1, &["a lark"]).await;
    let flock: Vec<String> = (2..602).map(|n| format!("starling {n}")).collect();
    let flock: Vec<&str> = flock.iter().map(String::as_str).collect();
    say(store, session, 2, &flock).await;
    say(store, session, 602, &["a wren again"]).await;
    let parent = Some(ForkPoint { session, seq: 603 });
    let fork = NewSession { parent, ..NewSession::new("a fork", at(3)) };
    let fork = store.create(fork).await.unwrap().id;
    say(store, fork, 603, &["a wren in the fork"]).await;
    for _ in 0..2 {
        assert_eq!(seqs("wren").await, [(fork, 603), (session, 602), (session, 0)]);
        assert_eq!(seqs("lark").await, [(session, 1)]);
        assert_eq!(seqs("601").await, [(session, 601)]);
    }
    say(store, fork, 604, &["another lark"]).await;
    assert_eq!(seqs("lark").await, [(fork, 604), (session, 1)]);
    store.remove(fork).await.unwrap();
    assert_eq!(seqs("lark").await, [(session, 1)]);
}

async fn the_youngest_session_is_found_first_in_whatever_order_they_came(store: &dyn Store) {
    // Made one after the other, but stored as a copy may store them.
    let new: Vec<NewSession> = (0..4).map(|_| NewSession::new("a copy", at(0))).collect();
    for place in [2, 0, 3, 1] {
        store.create(new[place].clone()).await.unwrap();
        say(store, new[place].id, 0, &["a heron", "and a heron"]).await;
    }
    let mut ids: Vec<SessionId> = new.iter().map(|new| new.id).collect();
    ids.sort();
    let found = store.search(Search { limit: 7, ..Search::new("heron") }).await.unwrap();
    let found: Vec<_> = found.iter().map(|found| (found.session, found.seq)).collect();
    let expected = ids.iter().rev().flat_map(|&id| [(id, 1), (id, 0)]).take(7);
    assert_eq!(found, expected.collect::<Vec<_>>());
}

/// Letters that tables of Unicode of different ages and folds treat differently.
#[tokio::test]
async fn a_file_finds_the_words_that_memory_finds() {
    let texts = [
        "οδος οδοσ ΟΔΟΣ",
        "हिन्दी ह हि",
        "ที่ นี้",
        "Ⓐbc ⓐbc",
        "ꭰꮃ ᎠᎳ",
        "ǆ Ǆ ǅ",
        "İstanbul ıstanbul",
        "straße STRASSE ẞ",
        "don'tह alphaที่",
        "naïve naive",
        "𞤀𞤣𞤤𞤢𞤥",
        "x² ½ ٣",
        "a\u{200d}b co\u{301}te côte",
    ];
    let (Some(memory), Some(file)) = (fixture::memory().await, fixture::sqlite().await) else {
        panic!("both are always there")
    };
    let stores = [&*memory.store, &*file.store];
    for store in stores {
        let session = new_session(store).await.id;
        say(store, session, 0, &texts).await;
    }
    let mut n_found = 0;
    for query in texts.iter().flat_map(|text| text.split_whitespace()) {
        let mut found = Vec::new();
        for store in stores {
            let hits = store.search(Search::new(query)).await.unwrap();
            found.push(hits.iter().map(|hit| hit.seq).collect::<Vec<_>>());
        }
        assert_eq!(found[0], found[1], "{query}");
        n_found += found[0].len();
    }
    assert!(n_found >= texts.len(), "{n_found}");
}

async fn a_change_is_told_to_those_who_watch(store: &dyn Store) {
    let session = new_session(store).await.id;
    let mut notices = store.watch().await.unwrap();
    say(store, session, 0, &["one", "two"]).await;
    let notice = timeout(PATIENCE, notices.next()).await.unwrap();
    assert_eq!(notice, Some(Notice::Changed { session, next_seq: 2 }));
    store.remove(session).await.unwrap();
    let notice = timeout(PATIENCE, notices.next()).await.unwrap();
    assert_eq!(notice, Some(Notice::Removed { session }));
}

async fn writers_in_one_process_lose_nothing_and_double_nothing(store: &dyn Store) {
    let session = new_session(store).await.id;
    let writer = async |writer: usize| {
        for n in 0..15 {
            insist(store, session, &format!("{writer} {n}")).await;
        }
    };
    tokio::join!(writer(0), writer(1), writer(2), writer(3), writer(4), writer(5));
    let texts = texts(store, session).await;
    assert_eq!(texts.len(), 90);
    assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), 90);
}

async fn what_is_not_there_is_said_not_to_be_there(store: &dyn Store) {
    let id = SessionId::random();
    let gone = ErrorKind::NotFound;
    assert_eq!(kind_of(store.head(id)).await, gone);
    assert_eq!(kind_of(store.remove(id)).await, gone);
    assert_eq!(kind_of(store.events(id, Page::newest(1))).await, gone);
    assert_eq!(kind_of(store.records(id, RecordFilter::default())).await, gone);
    assert_eq!(kind_of(store.requests(id, Page::newest(1))).await, gone);
    let commit = Commit::new(id, at(0));
    assert_eq!(kind_of(store.commit(commit.clone())).await, gone);
    assert_eq!(kind_of(store.commit(commit.append(0, vec![said("x")]))).await, gone);
    let search = Search { session: Some(id), ..Search::new("x") };
    assert_eq!(kind_of(store.search(search)).await, gone);
    assert_eq!(kind_of(store.create(NewSession::new("a\0b", at(0)))).await, ErrorKind::Invalid);
}
