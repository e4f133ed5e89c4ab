//! A session is its events: whatever is opened again, or asked for as of then, is what
//! it was.

use std::sync::Arc;

use interleaf::assemble::{Budget, OpenBlock, Outcome, Recipe, Summary, View, assemble};
use interleaf::conversation::{Clear, Conversation, Filter, Insert, Operation, Replace, Truncate};
use interleaf::model::{ContextKind, Json, Message, Role, Usage};
use interleaf::store::{self, Page, RecordChange, RecordFilter, RecordKind, Store};
use interleaf::wire::{Family, Vendor, encode};
use interleaf::{ErrorKind, Next, OnConflict, Session, Single, SummaryState, Target, append_said};
use interleaf_samples::generate::agent_session;

use crate::target_of;

/// Both stores that need nothing installed; PostgreSQL passes the same contract.
async fn stores(folder: &tempfile::TempDir) -> [Arc<dyn Store>; 2] {
    let sqlite = format!("sqlite:{}", folder.path().join("sessions.db").display());
    [store::open("memory:").await.unwrap(), store::open(&sqlite).await.unwrap()]
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % sides
    }
}

/// Some change; one that does not fit is refused and changes nothing.
async fn change(session: &mut Session, dice: &mut Dice, messages: &mut Vec<Message>) {
    let before = (session.seq(), session.conversation().clone());
    let view_len = session.conversation().view_len();
    let index = dice.roll(session.conversation().log_len().max(1)) as u32;
    let batch = dice.roll(session.conversation().batches().count() + 1) as u32;
    let operation = match dice.roll(14) {
        0 => Operation::Truncate(Truncate { keep_last: Some(9), ..Truncate::default() }),
        1 => Operation::Insert(Insert {
            position: dice.roll(view_len + 2),
            messages: vec![Message::user("in between")],
            split_blocks: true,
        }),
        2 => Operation::Replace(Replace {
            index: dice.roll(view_len + 1),
            message: Message::user("instead"),
            split_blocks: true,
        }),
        3 => Operation::Clear(Clear { keep_system: true }),
        4 => Operation::Filter(Filter {
            roles: Some(vec![Role::User, Role::Assistant]),
            split_blocks: true,
            ..Filter::default()
        }),
        5 => return drop(session.mark(index, "pinned").await),
        6 => return drop(session.unmark(index, "pinned").await),
        7 => return drop(session.roll_back(batch).await),
        8 if dice.roll(4) == 0 => return session.reset().await.unwrap(),
        _ => {
            session.append(messages.remove(0)).await.unwrap();
            return;
        }
    };
    if session.operate(operation).await.is_err() {
        assert_eq!((session.seq(), session.conversation()), (before.0, &before.1));
    }
}

#[tokio::test]
async fn a_session_is_what_it_was_when_opened_again_and_as_of_every_event() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder).await {
        let mut session = Session::create(store.clone(), "a title").await.unwrap();
        let mut messages = agent_session(400);
        let mut dice = Dice(11);
        let mut history: Vec<(u64, Conversation)> = vec![];
        for _ in 0..200 {
            change(&mut session, &mut dice, &mut messages).await;
            history.push((session.seq(), session.conversation().clone()));
        }
        let opened = Session::open(store.clone(), session.id()).await.unwrap();
        assert_eq!(opened.conversation(), session.conversation());
        assert_eq!(opened.seq(), session.seq());
        for (seq, conversation) in &history {
            assert_eq!(opened.at(*seq).await.unwrap(), *conversation, "as of {seq}");
        }
        let beyond = opened.at(session.seq() + 1).await.unwrap_err();
        assert_eq!(beyond.kind(), ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn a_second_writer_is_told_and_goes_on_after_a_refresh() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder).await {
        let mut one = Session::create(store.clone(), "").await.unwrap();
        one.append(Message::user("hello")).await.unwrap();
        let mut two = Session::open(store, one.id()).await.unwrap();
        two.append_all(["a", "b"].map(|text| Message::user(text).into())).await.unwrap();
        let before = one.conversation().clone();
        let error = one.append(Message::user("c")).await.unwrap_err();
        assert_eq!((error.kind(), error.current()), (ErrorKind::Conflict, Some(3)));
        assert_eq!(
            error.to_string(),
            "another writer was first: refresh the session and try again"
        );
        assert_eq!(*one.conversation(), before);
        assert_eq!(one.refresh().await.unwrap(), 2);
        assert_eq!(one.append(Message::user("c")).await.unwrap(), 3);
        assert_eq!(two.refresh().await.unwrap(), 1);
        assert_eq!(one.conversation(), two.conversation());
        let blank = one.append(Message::user(" ")).await.unwrap_err();
        assert_eq!(blank.kind(), ErrorKind::Invalid);
    }
}

#[tokio::test]
async fn a_fork_shares_what_was_said_and_the_records_and_goes_its_own_way() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder).await {
        let mut root = Session::create(store.clone(), "root").await.unwrap();
        for text in ["a", "b", "c"] {
            root.append(Message::user(text)).await.unwrap();
        }
        let todo = RecordChange::put(RecordKind::Todo, "1", Json::parse("{}").unwrap());
        root.change_records(vec![todo]).await.unwrap();
        let mut now = root.fork("now").await.unwrap();
        let mut then = root.fork_at(1, "then").await.unwrap();
        root.append(Message::user("d")).await.unwrap();
        now.append(Message::user("e")).await.unwrap();
        then.append(Message::user("f")).await.unwrap();
        for (fork, said, n_records) in [(&now, "a b c e", 1), (&then, "a f", 0)] {
            let opened = Session::open(store.clone(), fork.id()).await.unwrap();
            assert_eq!(opened.conversation(), fork.conversation());
            let texts: Vec<_> =
                opened.conversation().log().map(|m| m.text().into_owned()).collect();
            assert_eq!(texts.join(" "), said);
            assert_eq!(fork.records(RecordFilter::default()).await.unwrap().len(), n_records);
        }
    }
}

#[tokio::test]
async fn h4_every_earlier_request_is_rebuilt_byte_for_byte_and_proven_by_its_hash() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder).await {
        for family in Family::ALL {
            let target = target_of(Vendor::of(family), "a-model");
            let requires = target.vendor.requirements("a-model");
            let mut session = Session::create(store.clone(), family.as_str()).await.unwrap();
            let mut bodies = vec![];
            for (n, message) in agent_session(60).into_iter().enumerate() {
                session.append(message).await.unwrap();
                if n % 3 != 1 {
                    continue;
                }
                let next = session.request(&recipe(n), &target).await.unwrap();
                let Next::Send(request) = next else { panic!("it waits") };
                let usage = Usage { prompt: n as u64, ..Usage::default() };
                session.note_usage(request.number.unwrap(), usage).await.unwrap();
                bodies.push((n, session.seq() - 2, request.body.to_bytes()));
                if n % 2 == 0 {
                    // As if another node went on with the session.
                    session = Session::open(store.clone(), session.id()).await.unwrap();
                }
            }
            session.operate(Operation::Clear(Clear { keep_system: false })).await.unwrap();
            let session = Session::open(store.clone(), session.id()).await.unwrap();
            let noted = session.requests(Page::from(0, 99)).await.unwrap();
            assert_eq!(noted.len(), bodies.len());
            for (request, (n, seq, body)) in noted.iter().zip(&bodies) {
                assert_eq!(session.rebuild(request.no).await.unwrap(), *body);
                assert_eq!(request.usage.unwrap().prompt, *n as u64);
                // Made again from the conversation as it was: the hash proves it.
                assert_eq!(request.seq, *seq);
                let then = session.at(request.seq).await.unwrap();
                let view = View::of(then.visible().cloned());
                let Outcome::Ready(prompt) =
                    assemble(&view, &recipe(*n), requires, None).unwrap().outcome
                else {
                    panic!()
                };
                let again = encode(&prompt, &target.vendor, &target.options).unwrap().to_bytes();
                assert!(request.body.is(&again) && !request.body.is(&again[1..]));
                let found = session.request_at(request.seq).await.unwrap().unwrap();
                assert_eq!(found.no, request.no);
            }
            let stored: u64 = noted.iter().map(|request| request.body.middle.len() as u64).sum();
            let sent: usize = bodies.iter().map(|(_, _, body)| body.len()).sum();
            println!("{family}: {} requests, {sent} bytes sent, {stored} stored", noted.len());
            assert!(stored * 2 < sent as u64, "{family}: {stored} bytes stored of {sent}");
            assert_eq!(session.rebuild(99).await.unwrap_err().kind(), ErrorKind::NotFound);
        }
    }
}

#[tokio::test]
async fn f4_a_new_summary_supersedes_the_old_in_one_transaction_and_one_of_two_wins() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder).await {
        let mut one = Session::create(store.clone(), "").await.unwrap();
        let summary = |text: &str| Summary {
            text: text.into(),
            start: "m0".into(),
            covers: ["m0".into(), "m1".into()].into(),
        };
        for text in ["a", "b", "c"] {
            one.append(Message::user(text)).await.unwrap();
        }
        assert_eq!(one.active_summary().await.unwrap(), None);
        one.summarise(summary("first")).await.unwrap();
        one.append(Message::user("d")).await.unwrap();
        let mut two = Session::open(store.clone(), one.id()).await.unwrap();
        // Both know the same summary: each has just made a request with it.
        let target = Target::new("anthropic", "a-model").unwrap().with_key("k");
        one.preview(&recipe(0), &target).await.unwrap();
        two.preview(&recipe(0), &target).await.unwrap();
        let (a, b) = tokio::join!(one.summarise(summary("a")), two.summarise(summary("b")));
        // Which of them depends on the store; that it is not both never does.
        assert!(a.is_ok() != b.is_ok(), "{a:?} {b:?}");
        assert_eq!(two.summaries().await.unwrap().len(), 2);
        let states: Vec<_> = one.summaries().await.unwrap().iter().map(|kept| kept.state).collect();
        let n_active = states.iter().filter(|state| **state == SummaryState::Active).count();
        assert_eq!((states[0], n_active), (SummaryState::Superseded, 1));
        let then = one.active_summary_at(3).await.unwrap().unwrap();
        assert_eq!(then, summary("first"));
        one.refresh().await.unwrap();
        one.invalidate_summary().await.unwrap();
        assert_eq!(one.active_summary().await.unwrap(), None);
        assert!(one.summaries().await.unwrap().iter().any(|k| k.state == SummaryState::Invalid));
    }
}

fn recipe(n: usize) -> Recipe {
    let mut recipe = Recipe::new()
        .with_system("You are a careful agent.")
        .with_context(ContextKind::Todo, format!("{n} things to do"));
    recipe.open_block = OpenBlock::Mend;
    recipe
}

#[tokio::test]
async fn what_the_answer_may_take_is_kept_free_of_the_window() {
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store, "").await.unwrap();
    session.append_all(agent_session(200).into_iter().map(Arc::new)).await.unwrap();
    let mut recipe = Recipe::new().with_budget(Budget::of_window(20_000));
    recipe.open_block = OpenBlock::Mend;
    let mut target = Target::new("openai", "gpt-4o").unwrap().with_key("k");
    for most in [1_000, 12_000] {
        target.options.max_tokens = Some(most);
        let whole = Single::of(session.conversation(), &recipe).preview(Some(&target)).unwrap();
        let Next::Send(request) = session.request(&recipe, &target).await.unwrap() else {
            panic!("nothing is open")
        };
        for report in [&whole.assembly.report, &request.report] {
            let used = report.tokens.as_ref().unwrap().total();
            assert!(used + most <= 20_000, "{used} and {most}");
        }
    }
    target.options.max_tokens = Some(20_000);
    assert!(session.request(&recipe, &target).await.is_err());
}

#[tokio::test]
async fn messages_that_come_after_a_conflict_are_named_by_their_new_place() {
    let store = interleaf::store::open("memory:").await.unwrap();
    let mut one = Session::create(store.clone(), "").await.unwrap();
    let mut two = Session::open(store, one.id()).await.unwrap();
    one.append(Message::user("first")).await.unwrap();
    let said = r#"[{"role": "user", "content": "a"}, {"id": "x", "role": "user", "content": "b"},
                   {"id": "x", "role": "user", "content": "c"}, {"role": "user", "content": "d"}]"#;
    let said = interleaf::read::said(said).unwrap();
    let done = interleaf::append_said(&mut two, said, interleaf::OnConflict::Retry).await.unwrap();
    assert_eq!(done.indices, 1..5);
    let ids: Vec<&str> = two.conversation().log().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["m0", "m1", "x", "m3", "m4"]);
    let told: Vec<String> = done.renamed.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["message 3 is now \"m3\": another message has its id \"x\""]);
}

#[tokio::test]
async fn a1_an_id_that_reads_like_a_place_is_an_id_like_any_other() {
    let said = |text: &str| interleaf::read::said(text).unwrap();
    let own = |id: &str| {
        format!(r#"{{{id} "role": "user", "parts": [{{"type": "text", "text": "x"}}]}}"#)
    };
    let m0 = r#""id": "m0","#;
    let [named, unnamed] = [own(m0), own("")];
    let chat = r#"{"id": "m0", "role": "user", "content": "x"}"#;
    for list in [
        format!(r#"{{"interleaf": 1, "messages": [{named}, {unnamed}]}}"#),
        format!("[{named}, {unnamed}]"),
        format!(r#"[{chat}, {{"role": "user", "content": "y"}}]"#),
    ] {
        let mut session = Session::create(store::open("memory:").await.unwrap(), "").await.unwrap();
        let mut append =
            async |text: &str| append_said(&mut session, said(text), OnConflict::Retry).await;
        append(r#"{"id": "first", "role": "user", "content": "x"}"#).await.unwrap();
        // It is free here, and stays.
        append(&named).await.unwrap();
        for one in [&named, chat] {
            let refused = append(one).await.unwrap_err().to_string();
            assert!(refused.contains("\"m0\" is the id of message 1"), "{refused}");
        }
        let done = append(&list).await.unwrap();
        let told: Vec<String> = done.renamed.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["message 2 is now \"m2\": another message has its id \"m0\""], "{list}");
        let ids: Vec<&str> =
            session.conversation().log().map(|message| message.id.as_str()).collect();
        assert_eq!(ids, ["first", "m0", "m2", "m3"]);
    }
}
