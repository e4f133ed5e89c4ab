//! Sub-agents, records, rollback, and what is left after a conflict.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use interleaf::assemble::{Agent, Recipe, Summary};
use interleaf::conversation::{Clear, Conversation, Event, Operation, PINNED, Replace, Truncate};
use interleaf::model::{AgentName, ContextKind, Finish, Message, Origin, Reply, Usage, notation};
use interleaf::store::Store;
use interleaf::{Session, Single, SummaryState, Target, TodoStatus};

use crate::{block_on, memory, pinned};

fn target() -> Target {
    Target::new("anthropic", "claude-sonnet-4-5").unwrap().with_key("k")
}

fn role() -> Recipe {
    Recipe::new().with_context(ContextKind::Role, "You look for causes.")
}

fn reply(text: &str, prompt: u64) -> Reply {
    let mut reply = Reply::new(Message::assistant(text), Finish::Stop);
    reply.usage = Some(Usage { prompt, completion: 1, ..Usage::default() });
    reply
}

async fn body(session: &mut Session, recipe: &Recipe) -> String {
    let request = session.preview(recipe, &target()).await.unwrap().request().unwrap();
    String::from_utf8(request.body.to_bytes()).unwrap()
}

async fn with_messages(n: usize) -> (Arc<dyn Store>, Session) {
    let store = memory().await;
    let mut session = Session::create(store.clone(), "").await.unwrap();
    for i in 0..n {
        session.append(Message::user(&format!("message {i}"))).await.unwrap();
    }
    (store, session)
}

fn summary(text: &str) -> Summary {
    Summary { text: text.into(), start: "m0".into(), covers: ["m0".into(), "m1".into()].into() }
}

#[test]
fn a12_a_sub_agent_has_its_own_view_requests_and_usage() {
    block_on(async {
        let (store, mut session) = with_messages(1).await;
        session.request(&role(), &target()).await.unwrap();
        session.take(reply("I let someone look.", 100)).await.unwrap();
        let fill = session.conversation().fill().map(|fill| (fill.prompt, fill.added.len()));
        let mut scout = session.sub_agent("scout");
        scout.append(Message::user("look for it")).await.unwrap();
        let request = scout.request(&role(), &target()).await.unwrap().request().unwrap();
        assert_eq!(request.number, Some(1));
        let text = String::from_utf8(request.body.to_bytes()).unwrap();
        assert!(text.contains("look for it") && !text.contains("message 0"), "{text}");
        let found = scout.take(reply("found", 7)).await.unwrap();
        assert_eq!(found.answered().unwrap().request, Some(1));
        assert_eq!(scout.usage().unwrap().current.prompt, 7);

        let conversation = session.conversation();
        assert_eq!(conversation.fill().map(|fill| (fill.prompt, fill.added.len())), fill);
        assert_eq!(conversation.usage().lifetime.prompt, 100);
        let text = body(&mut session, &role()).await;
        assert!(!text.contains("look for it") && !text.contains("found"), "{text}");
        let opened = Session::open(store, session.id()).await.unwrap();
        assert_eq!(opened.conversation(), session.conversation());
    });
}

#[test]
fn c9_a_result_that_names_no_agent_is_heard_by_the_one_whose_call_it_answers() {
    let scouts = |line: &str| {
        let message = notation::parse(line).unwrap().remove(0);
        message.with_origin(Origin::SubAgent(AgentName::new("scout")))
    };
    let result = || notation::parse("t c1= in the bell\n").unwrap().remove(0);
    let read = |body: &str| {
        assert!(body.contains("in the bell") && !body.contains("No result"), "{body}");
    };
    block_on(async {
        let (store, mut session) = with_messages(1).await;
        session.append(scouts("u look for it")).await.unwrap();
        session.append(scouts("a [call c1 look]")).await.unwrap();
        session.append(result()).await.unwrap();
        let mut scout = session.sub_agent("scout");
        assert_eq!(scout.open_calls(), []);
        let request = scout.request(&role(), &target()).await.unwrap().request().unwrap();
        read(&String::from_utf8(request.body.to_bytes()).unwrap());

        // A history that was written elsewhere has the result as it came.
        let mut elsewhere = Session::create(store, "").await.unwrap();
        let said = [scouts("u look for it"), scouts("a [call c1 look]"), result()];
        let appended = |message: Message| Event::Appended { message: Arc::new(message) };
        elsewhere.apply(&said.map(appended)).await.unwrap();
        let recipe = role().with_agent(Agent::Sub(AgentName::new("scout")));
        read(&body(&mut elsewhere, &recipe).await);
        let single = Single::of(elsewhere.conversation(), &recipe);
        let preview = single.preview(Some(&target())).unwrap();
        read(&String::from_utf8(preview.body.unwrap().to_bytes()).unwrap());
    });
}

#[test]
fn c9_a_sub_agent_without_a_role_is_a_configuration_error_that_names_it() {
    block_on(async {
        let (_, mut session) = with_messages(1).await;
        let mut scout = session.sub_agent("scout");
        scout.append(Message::user("look")).await.unwrap();
        let error = scout.request(&Recipe::new(), &target()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot assemble the request: the sub-agent scout has no role definition, and cannot \
             run without one"
        );
        assert_eq!(session.head().next_request, 0);
    });
}

#[test]
fn c12_the_todo_list_is_fresh_in_every_request_unless_the_recipe_has_one() {
    block_on(async {
        let (store, mut session) = with_messages(1).await;
        let mut todo = session.todo();
        let one = todo.add("mend the horn").await.unwrap();
        let two = todo.add("paint it").await.unwrap();
        let inner = todo.add_under(&one, "find the leak").await.unwrap();
        todo.set(&inner, TodoStatus::Done).await.unwrap();
        todo.set(&one, TodoStatus::InProgress).await.unwrap();
        todo.rewrite(&two, "paint it red").await.unwrap();
        let text = todo.text().await.unwrap();
        assert_eq!(
            text,
            "## TODO\n- [~] 1 mend the horn\n  - [x] 1.1 find the leak\n- [ ] 2 paint it red\n"
        );
        let mut opened = Session::open(store, session.id()).await.unwrap();
        assert!(body(&mut opened, &role()).await.contains(r"- [ ] 2 paint it red"));
        let own = role().with_context(ContextKind::Todo, "nothing to do");
        assert!(!body(&mut opened, &own).await.contains("paint it red"));
        opened.todo().remove("1").await.unwrap();
        assert_eq!(opened.todo().items().await.unwrap().len(), 1);
        let error = opened.todo().set("1.1", TodoStatus::Done).await.unwrap_err();
        assert_eq!(error.to_string(), r#"there is no TODO item "1.1""#);
    });
}

#[test]
fn c13_useful_information_is_read_anew_and_says_what_cannot_be_read() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.txt");
        std::fs::write(&file, "one\ntwo\nthree\n").unwrap();
        let (_, mut session) = with_messages(1).await;
        let mut information = session.information();
        information.add(&file, Some((2, 3)), "the counts").await.unwrap();
        information.add(folder.path().join("gone"), None, "lost").await.unwrap();
        information.add(&file, Some((5, 9)), "the end").await.unwrap();
        let text = body(&mut session, &role()).await;
        assert!(text.contains(r"the counts\n```\ntwo\nthree\n```\n"), "{text}");
        assert!(text.contains("(cannot be read: "), "{text}");
        assert!(text.contains(r"the end\n(the file ends before line 5)\n"), "{text}");
        std::fs::write(&file, "one\nTWO and more\nthree\n").unwrap();
        assert!(body(&mut session, &role()).await.contains("TWO and more"));
        let error = session.information().add("a", Some((3, 2)), "").await.unwrap_err();
        assert_eq!(error.to_string(), "lines 3 to 2 are not a range: lines count from 1");
    });
}

#[test]
fn c14_notes_of_the_folders_above_what_was_read_are_shown_shallow_to_deep() {
    block_on(async {
        let (_, mut session) = with_messages(1).await;
        let mut notes = session.notes();
        notes.add("src/wire", "deep").await.unwrap();
        notes.add("src", "shallow").await.unwrap();
        notes.add("docs", "elsewhere").await.unwrap();
        assert!(!body(&mut session, &role()).await.contains("Folder notes"));
        session.notes().read_file("src/wire/encode.rs", None).await.unwrap();
        let text = body(&mut session, &role()).await;
        assert!(text.contains(r"### src\n- shallow\n### src/wire\n- deep\n"), "{text}");
        assert!(!text.contains("elsewhere"), "{text}");
    });
}

#[test]
fn a_summary_that_the_session_keeps_is_sent_until_a_message_that_it_covers_is_hidden() {
    block_on(async {
        let replace = Operation::Replace(Replace {
            index: 1,
            message: Message::user("instead"),
            split_blocks: false,
        });
        let clear = Operation::Clear(Clear { keep_system: false });
        let keep = |n| Operation::Truncate(Truncate { keep_last: Some(n), ..Truncate::default() });
        for (operation, stays) in
            [(replace, false), (clear, false), (keep(2), false), (keep(9), true)]
        {
            let (_, mut session) = with_messages(4).await;
            session.summarise(summary("All went well.")).await.unwrap();
            assert!(body(&mut session, &role()).await.contains("All went well."));
            session.operate(operation.clone()).await.unwrap();
            let active = session.active_summary().await.unwrap();
            assert_eq!(active.is_some(), stays, "{operation:?}");
        }
    });
}

#[test]
fn a10_a_roll_back_takes_the_marks_and_summaries_that_came_after_with_it_in_one_commit() {
    block_on(async {
        let (_, mut session) = with_messages(4).await;
        session.mark(0, PINNED).await.unwrap();
        session.summarise(summary("first")).await.unwrap();
        let cut = Truncate { keep_last: Some(2), ..Truncate::default() };
        session.operate(Operation::Truncate(cut)).await.unwrap();
        session.unmark(0, PINNED).await.unwrap();
        session.mark(2, PINNED).await.unwrap();
        session.summarise(summary("second")).await.unwrap();
        assert_eq!(&*session.active_summary().await.unwrap().unwrap().text, "second");

        let before = session.seq();
        session.roll_back(0).await.unwrap();
        assert_eq!(session.seq(), before + 3, "the rollback and two marks");
        assert_eq!(pinned(session.conversation()), ["m0".into()].into());
        assert_eq!(&*session.active_summary().await.unwrap().unwrap().text, "first");
        let states: Vec<_> =
            session.summaries().await.unwrap().iter().map(|kept| kept.state).collect();
        assert_eq!(states, [SummaryState::Active, SummaryState::Invalid]);
        // A rollback can be rolled back.
        session.roll_back(1).await.unwrap();
        assert_eq!(&*session.active_summary().await.unwrap().unwrap().text, "second");
        assert_eq!(pinned(session.conversation()), ["m2".into()].into());
    });
}

#[test]
fn a_change_is_made_again_after_a_conflict_and_no_more_often_than_asked() {
    block_on(async {
        let (store, mut session) = with_messages(1).await;
        let mut other = Session::open(store, session.id()).await.unwrap();
        other.append(Message::user("first")).await.unwrap();
        let mut tries = 0;
        let index = session.retrying(2, async |session| {
            tries += 1;
            session.append(Message::user("second")).await
        });
        assert_eq!((index.await.unwrap(), tries), (2, 2));
        let late = session
            .retrying(1, async |session| {
                other.refresh().await?;
                other.append(Message::user("again")).await?;
                session.append(Message::user("third")).await
            })
            .await;
        assert_eq!(late.unwrap_err().kind(), interleaf::ErrorKind::Conflict);
    });
}

/// Polls a future this many times, and drops it.
async fn dropped_after(polls: usize, future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..polls {
        if let Poll::Ready(()) = future.as_mut().poll(&mut context) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn a_session_whose_write_was_cancelled_is_brought_back_by_a_refresh() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("sessions.db").display());
        let store = interleaf::store::open(&url).await.unwrap();
        let mut session = Session::create(store.clone(), "").await.unwrap();
        session.append(Message::user("hello")).await.unwrap();
        for polls in 1..4 {
            dropped_after(polls, async {
                session.request(&role(), &target()).await.ok();
            })
            .await;
            dropped_after(polls, async {
                session.take(reply("hello", 5)).await.ok();
            })
            .await;
            let done = session.retrying(1, async |s| s.append(Message::user("more")).await);
            done.await.unwrap();
            let made = session.request(&role(), &target()).await.unwrap().request().unwrap();
            let mut opened = Session::open(store.clone(), session.id()).await.unwrap();
            assert_eq!(opened.conversation(), session.conversation());
            let again = opened.preview(&role(), &target()).await.unwrap().request().unwrap();
            assert_eq!(made.body.to_bytes(), again.body.to_bytes());
            let noted = opened.rebuild(made.number.unwrap()).await.unwrap();
            assert_eq!(noted, made.body.to_bytes());
        }
    });
}

#[test]
fn f4_a_summary_that_says_nothing_or_names_what_was_never_said_is_refused() {
    block_on(async {
        let (_, mut session) = with_messages(3).await;
        let ids: Vec<_> = session.conversation().log().map(|m| m.id.clone()).collect();
        let summary = |text: &str, start: &str, covers: &[&str]| Summary {
            text: text.into(),
            start: start.into(),
            covers: covers.iter().map(|&id| id.into()).collect(),
        };
        session.summarise_through(&ids[1], "two messages").await.unwrap();
        for (wrong, rule) in [
            (summary(" ", "m0", &["m0"]), "its text is blank"),
            (summary("x", "m9", &["m9"]), "the summary covers m9, which was never said"),
            (summary("x", "m0", &["m1"]), "the summary starts at m0, but does not cover it"),
        ] {
            let error = session.summarise(wrong).await.unwrap_err();
            assert!(error.to_string().contains(rule), "{error}");
        }
        let active = session.active_summary().await.unwrap().unwrap();
        assert_eq!((&*active.text, active.covers.len()), ("two messages", 2));
    });
}

#[test]
fn a_past_that_is_told_again_has_the_tokens_of_sub_agents() {
    let usage = |prompt| Usage { prompt, ..Usage::default() };
    let scout = AgentName::new("scout");
    let mut said = Conversation::new();
    said.append(Message::user("Mend the tests.")).unwrap();
    said.begin_request(None).unwrap();
    said.note_usage(usage(10), None).unwrap();
    said.begin_request(Some(&scout)).unwrap();
    said.note_usage(usage(7), Some(&scout)).unwrap();
    said.append(Message::assistant("They are mended.")).unwrap();
    assert_retold(&said);

    said.operate(Operation::Truncate(Truncate { keep_last: Some(1), ..Truncate::default() }))
        .unwrap();
    said.begin_request(Some(&scout)).unwrap();
    said.note_usage(usage(9), Some(&scout)).unwrap();
    said.append(Message::user("Thank you.")).unwrap();
    said.begin_request(None).unwrap();
    said.note_usage(usage(4), None).unwrap();
    assert_retold(&said);
    assert_eq!(said.usage_of(&scout).unwrap().cumulative, usage(16));
}

fn assert_retold(said: &Conversation) {
    let retold = interleaf::retell(said);
    assert!(retold.exact);
    assert_eq!(Conversation::replay(&retold.events).unwrap(), *said);
}
