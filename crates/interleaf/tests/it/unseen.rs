//! Requests that no model saw, and what comes after them.

use interleaf::assemble::PlacementRule;
use interleaf::model::{Finish, Message, Reply, Usage};
use interleaf::store::Page;
use interleaf::wire::Vendor;
use interleaf::{BreakCause, Session};

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
