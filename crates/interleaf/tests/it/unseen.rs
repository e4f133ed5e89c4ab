//! Requests that no model saw, and what comes after them.

use interleaf::assemble::PlacementRule;
use interleaf::model::{Finish, Message, Reply, Usage};
use interleaf::store::Page;
use interleaf::wire::Vendor;
use interleaf::{BreakCause, Session, Target, now};

use crate::impact::{recipe, sent};
use crate::{block_on, memory, target_of};

#[test]
fn a_request_that_no_model_saw_is_not_what_the_next_one_is_held_against() {
    block_on(async {
        let target = target_of(Vendor::named("openai").unwrap(), "gpt-5");
        let recipe = recipe().with_rule(PlacementRule::AfterSystem);
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user(&"one word ".repeat(4_000))).await.unwrap();
        sent(&mut session, &recipe, &target).await;
        session.note_unseen(0).await.unwrap();
        let first = sent(&mut session, &recipe, &target).await.impact;
        assert_eq!((&first.cause, first.against), (&BreakCause::First, None));
        assert_eq!(first.cost.unwrap().read, 0);
        let mut reply = Reply::new(Message::assistant("Done."), Finish::Stop);
        reply.usage = Some(Usage { prompt: 8_000, ..Usage::default() });
        session.take(reply).await.unwrap();

        session.append(Message::user("Go on.")).await.unwrap();
        let mut elsewhere = Session::open(session.store().clone(), session.id()).await.unwrap();
        sent(&mut session, &recipe, &target).await;
        elsewhere.refresh().await.unwrap();
        elsewhere.preview(&recipe, &target).await.unwrap();
        session.note_unseen(2).await.unwrap();
        elsewhere.refresh().await.unwrap();
        let mut anew = Session::open(session.store().clone(), session.id()).await.unwrap();
        for node in [&mut session, &mut elsewhere, &mut anew] {
            let impact = node.preview(&recipe, &target).await.unwrap().request().unwrap().impact;
            assert_eq!((impact.cause, impact.against), (BreakCause::Appended, Some(1)));
            assert!(impact.reported.is_some(), "what the API has counted is known");
        }
        let explained = session.explain(None, None, 3).await.unwrap();
        let unseen: Vec<bool> = explained.iter().map(|request| request.unseen).collect();
        assert_eq!(unseen, [true, false, true]);
    });
}

#[test]
fn an_answered_request_of_which_an_api_reports_no_tokens_was_seen() {
    block_on(async {
        let target = target_of(Vendor::named("openai").unwrap(), "gpt-5");
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("mend the clock")).await.unwrap();
        sent(&mut session, &recipe(), &target).await;
        let mut reply = Reply::new(Message::assistant("Done."), Finish::Stop);
        reply.usage = Some(Usage::default());
        session.take(reply).await.unwrap();
        session.append(Message::user("Go on.")).await.unwrap();
        assert_eq!(sent(&mut session, &recipe(), &target).await.impact.against, Some(0));
        // An answer without a number is not to a request that no model saw.
        session.note_unseen(1).await.unwrap();
        sent(&mut session, &recipe(), &target).await;
        session.note_unseen(2).await.unwrap();
        let mut anew = Session::open(session.store().clone(), session.id()).await.unwrap();
        let taken = anew.take(Reply::new(Message::assistant("Ok."), Finish::Stop)).await.unwrap();
        assert_eq!(taken.answered().unwrap().request, None);
        assert_eq!(anew.requests(Page::from(0, 9)).await.unwrap().len(), 3);
    });
}

#[test]
fn warmth_and_a_change_of_model_begin_at_the_last_request_that_a_model_saw() {
    block_on(async {
        let asked = |vendor: &str, model: &str| Target::new(vendor, model).unwrap().with_key("k");
        let (seen, unseen) = (asked("openai", "gpt-5"), asked("openai", "gpt-4o"));
        let to = asked("anthropic", "claude-sonnet-4-5");
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user(&"one word ".repeat(4_000))).await.unwrap();

        // If no model saw any, the last one says who is meant, and no cache is warm.
        sent(&mut session, &recipe(), &unseen).await;
        session.note_unseen(0).await.unwrap();
        let time = now().unwrap();
        assert!(session.warmth(None, &unseen, time).await.unwrap().is_none());
        assert_eq!(session.switch(&recipe(), &to, None).await.unwrap().from.model, "gpt-4o");

        sent(&mut session, &recipe(), &seen).await;
        let mut reply = Reply::new(Message::assistant("Done."), Finish::Stop);
        reply.usage = Some(Usage { prompt: 8_000, ..Usage::default() });
        session.take(reply).await.unwrap();
        session.append(Message::user("Go on.")).await.unwrap();
        for number in 2..4 {
            sent(&mut session, &recipe(), &unseen).await;
            session.note_unseen(number).await.unwrap();
        }
        let mut anew = Session::open(session.store().clone(), session.id()).await.unwrap();
        for node in [&mut session, &mut anew] {
            let warmth = node.warmth(None, &seen, time).await.unwrap().unwrap();
            // In whole steps of the cache.
            assert_eq!((warmth.request, warmth.warmth.tokens), (1, 62 * 128));
            assert!(node.warmth(None, &unseen, time).await.unwrap().is_none());
            let switch = node.switch(&recipe(), &to, None).await.unwrap();
            assert_eq!(switch.from.model, "gpt-5");
            assert!(switch.from.cost.unwrap().read > 0);
            let mut named = seen.clone();
            named.options.model = "".into();
            node.name_model(None, &mut named).await.unwrap();
            assert_eq!(named.options.model, "gpt-5");
            // Whoever goes on asks whom was asked last.
            assert_eq!(node.last_target().await.unwrap().options.model, "gpt-4o");
        }
    });
}

#[test]
fn what_was_noted_of_a_request_is_found_by_where_the_session_stood_and_its_body() {
    block_on(async {
        let target = target_of(Vendor::named("openai").unwrap(), "gpt-5");
        let mut session = Session::create(memory().await, "").await.unwrap();
        let mut made = Vec::new();
        for text in ["mend the clock", "And now?"] {
            session.append(Message::user(text)).await.unwrap();
            let seq = session.seq();
            let request = sent(&mut session, &recipe(), &target).await;
            made.push((seq, request.body.to_bytes(), request.impact));
        }
        let fork = session.fork("").await.unwrap();
        for (number, (seq, body, impact)) in made.iter().enumerate() {
            for node in [&session, &fork] {
                let found = node.recorded_at(*seq, body).await.unwrap().unwrap();
                assert_eq!((found.number, found.impact.as_ref()), (number as u64, Some(impact)));
                assert_eq!(node.recorded_at(*seq, b"another").await.unwrap(), None);
                assert_eq!(node.recorded_at(*seq - 1, body).await.unwrap(), None);
            }
        }
    });
}
