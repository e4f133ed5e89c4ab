//! Summaries that are written while the agent goes on.

use interleaf::Session;
use interleaf::compaction::Trigger;
use interleaf::conversation::{Operation, Truncate};
use interleaf::model::Message;
use interleaf::wire::Family;
use interleaf_doubles::{Double, Settings};
use interleaf_transport::{CompactedBecause, Compacting, Transport};

use crate::compact::{at, policy, recipe, talk, turn, worker};
use crate::families::transport;

/// A transport that prepares a summary at 0.4 of the window and takes it in at 0.8.
fn preparing() -> Transport {
    let mut policy = policy();
    policy.summary_tokens = 3_500;
    (policy.prepare, policy.when) = (Some(Trigger::Fill(0.4)), Some(Trigger::Fill(0.8)));
    transport().compacting(Compacting::new(policy))
}

async fn say_more(session: &mut Session, n: usize) {
    for n in 100..100 + n {
        let ([asked, said], _) = turn(9, n);
        session.append(asked).await.unwrap();
        session.append(said).await.unwrap();
    }
    session.append(Message::user("And now?")).await.unwrap();
}

#[tokio::test]
async fn a_summary_that_was_prepared_is_taken_in_when_it_is_due_and_not_asked_for_again() {
    let double = Double::start(Settings::new().with_brain(worker)).await.unwrap();
    let (target, recipe) = (at(&double, Family::Anthropic), recipe(9_000));
    let (mut session, facts) = talk(7, 16).await;
    let transport = preparing();
    let answer = transport.ask(&mut session, &recipe, &target).await.unwrap();
    assert!(answer.compactions.is_empty(), "it is not due yet");
    // The summary and the answer, in any order.
    double.ended(2).await;
    assert_eq!(session.active_summary().await.unwrap(), None);
    say_more(&mut session, 12).await;
    let answer = transport.ask(&mut session, &recipe, &target).await.unwrap();
    let [done] = answer.compactions.as_slice() else { panic!("{:?}", answer.compactions) };
    assert_eq!(done.because, CompactedBecause::Prepared);
    assert_eq!(double.requests().len(), 3, "one summary, two answers");
    let summary = session.active_summary().await.unwrap().unwrap().text;
    assert!(facts[0].iter().all(|fact| summary.contains(&**fact)), "{summary}");
}

#[tokio::test]
async fn a_summary_whose_ground_has_changed_meanwhile_is_dropped_and_written_anew() {
    let double = Double::start(Settings::new().with_brain(worker)).await.unwrap();
    let (target, recipe) = (at(&double, Family::Anthropic), recipe(9_000));
    let (mut session, _) = talk(8, 16).await;
    let transport = preparing();
    transport.ask(&mut session, &recipe, &target).await.unwrap();
    double.ended(2).await;
    say_more(&mut session, 16).await;
    let n = session.conversation().visible().count();
    let cut = Truncate { keep_last: Some(n - 4), ..Truncate::default() };
    session.operate(Operation::Truncate(cut)).await.unwrap();
    let answer = transport.ask(&mut session, &recipe, &target).await.unwrap();
    assert_eq!(answer.compactions[0].because, CompactedBecause::Due);
    let n_requests = double.requests().len();
    assert_eq!(n_requests, 4, "two summaries, two answers: {:?}", answer.compactions[0].texts);
    let hidden: Vec<_> = session.conversation().log().take(4).map(|m| m.id.clone()).collect();
    let summary = session.active_summary().await.unwrap().unwrap();
    assert!(hidden.iter().all(|id| !summary.covers.contains(id)));
}

#[tokio::test]
async fn one_summary_is_prepared_at_a_time() {
    let double = Double::start(Settings::new().with_brain(worker)).await.unwrap();
    let (target, recipe) = (at(&double, Family::Anthropic), recipe(9_000));
    let (mut session, _) = talk(10, 16).await;
    let transport = preparing();
    for _ in 0..3 {
        transport.ask(&mut session, &recipe, &target).await.unwrap();
        session.append(Message::user("And then?")).await.unwrap();
    }
    double.ended(4).await;
    assert_eq!(double.requests().len(), 4, "one summary, three answers");
}
