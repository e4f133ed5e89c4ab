//! Summaries that are written while the agent goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use interleaf::Session;
use interleaf::compaction::Trigger;
use interleaf::conversation::{Operation, PINNED, Replace, Truncate};
use interleaf::model::Message;
use interleaf::wire::Family;
use interleaf_doubles::{Answer, Asked, Brain, Double, Settings, Summariser};
use interleaf_transport::{CompactedBecause, Compacting, Retries, Transport, WithoutModel};

use crate::compact::{at, policy, recipe, talk, turn, worker};
use crate::families::{builder, transport};

/// A transport that prepares a summary at 0.4 of the window and takes it in at 0.8.
fn preparing() -> Transport {
    transport().compacting(how())
}

fn how() -> Compacting {
    let mut policy = policy();
    policy.summary_tokens = 3_500;
    (policy.prepare, policy.when) = (Some(Trigger::Fill(0.4)), Some(Trigger::Fill(0.8)));
    Compacting::new(policy)
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
    // What the one cost that was dropped is told with the other.
    let [dropped, taken] = &*answer.compactions[0].texts else { panic!("{answer:?}") };
    assert!(!dropped.refused.is_empty() && taken.refused.is_empty(), "{dropped} {taken}");
    let each = [dropped, taken].map(|text| text.spent.unwrap().output);
    assert_eq!(answer.compactions[0].spent().unwrap().output, each[0] + each[1]);
    let hidden: Vec<_> = session.conversation().log().take(4).map(|m| m.id.clone()).collect();
    let summary = session.active_summary().await.unwrap().unwrap();
    assert!(hidden.iter().all(|id| !summary.covers.contains(id)));
}

#[tokio::test]
async fn what_a_dropped_summary_cost_is_told_also_if_none_takes_its_place() {
    let double = Double::start(Settings::new().with_brain(worker)).await.unwrap();
    let (target, recipe) = (at(&double, Family::Anthropic), recipe(9_000));
    // With a request that fits, and with one that is too long.
    for (n, fits) in [(8, true), (12, false)] {
        let (mut session, _) = talk(8, 16).await;
        let transport = preparing();
        transport.ask(&mut session, &recipe, &target).await.unwrap();
        double.ended(if fits { 2 } else { 5 }).await;
        say_more(&mut session, n).await;
        let other = Replace { index: 0, message: Message::user("Hello."), split_blocks: false };
        session.operate(Operation::Replace(other)).await.unwrap();
        // Nothing may give way now.
        for index in 0..session.conversation().log_len() as u32 {
            session.mark(index, PINNED).await.unwrap();
        }
        let told = match transport.ask(&mut session, &recipe, &target).await {
            Ok(answer) => {
                assert!(fits && answer.compactions.is_empty(), "{:?}", answer.compactions);
                answer.not_compacted.unwrap()
            }
            Err(error) => {
                assert!(!fits, "{error}");
                error.to_string()
            }
        };
        assert!(told.contains("the summary is lost; it cost "), "{told}");
    }
}

/// Works as ever, but for the time that it is down.
struct Moody(Arc<AtomicBool>);

impl Brain for Moody {
    fn answer(&self, asked: &Asked) -> Result<Answer, String> {
        if self.0.load(Ordering::SeqCst) { Err("down".to_owned()) } else { Ok(worker(asked)) }
    }
}

#[tokio::test]
async fn a_preparation_that_failed_is_as_if_it_had_not_been() {
    let is_down = Arc::new(AtomicBool::new(true));
    let writing = Settings::new().with_brain(Moody(is_down.clone()));
    let writing = Double::start(writing).await.unwrap();
    let double = Double::start(Settings::new().with_brain(worker)).await.unwrap();
    let (target, recipe) = (at(&double, Family::Anthropic), recipe(9_000));
    let writer = at(&writing, Family::Anthropic);
    let transport = builder().retries(Retries::none()).build().unwrap();
    let transport = transport.compacting(how().with_writer(writer));
    let (mut session, _) = talk(7, 16).await;
    transport.ask(&mut session, &recipe, &target).await.unwrap();
    writing.ended(1).await;
    is_down.store(false, Ordering::SeqCst);
    say_more(&mut session, 12).await;
    let answer = transport.ask(&mut session, &recipe, &target).await.unwrap();
    let [done] = answer.compactions.as_slice() else { panic!("{:?}", answer.compactions) };
    assert_eq!((done.because, &done.without_model), (CompactedBecause::Due, &None));
    // What was tried before is told all the same.
    let failed: Vec<bool> = done.texts.iter().map(|text| text.failure.is_some()).collect();
    assert_eq!(failed, [true, false]);
    assert_eq!(writing.requests().len(), 2);
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

/// A brain that writes a path into a summary only if it is told that it left it out, and not
/// even then if it is stubborn.
fn forgetful(path: String, is_stubborn: bool) -> impl Fn(&Asked) -> Answer {
    move |asked: &Asked| {
        let is_told = asked.texts().into_iter().any(|text| text.contains("it leaves out these"));
        let is_summary = worker(asked) != Answer::text("That is done.");
        match is_summary && (is_stubborn || !is_told) {
            true => Summariser::new().forgetting(&*path).answer(asked).unwrap(),
            false => worker(asked),
        }
    }
}

#[tokio::test]
async fn h7_a_prepared_summary_that_breaks_the_contract_by_now_is_asked_for_again_and_then_a_digest()
 {
    for is_stubborn in [false, true] {
        let (mut session, facts) = talk(7, 16).await;
        let path = facts[0][0].clone();
        let brain = forgetful(path.clone(), is_stubborn);
        let double = Double::start(Settings::new().with_brain(brain)).await.unwrap();
        let (target, recipe) = (at(&double, Family::Anthropic), recipe(9_000));
        // What is said last keeps the path, so that the summary need not.
        let last = format!("What is left to do in {path}?");
        let last = session.append(Message::user(&last)).await.unwrap();
        let transport = preparing();
        transport.ask(&mut session, &recipe, &target).await.unwrap();
        double.ended(2).await;
        // It is gone when the summary is taken in.
        let (index, message) = (last as usize, Message::user("What is left to do?"));
        let other = Replace { index, message, split_blocks: false };
        session.operate(Operation::Replace(other)).await.unwrap();
        say_more(&mut session, 12).await;
        let answer = transport.ask(&mut session, &recipe, &target).await.unwrap();
        let [done] = answer.compactions.as_slice() else { panic!("{:?}", answer.compactions) };
        assert_eq!(done.because, CompactedBecause::Prepared);
        let refused: Vec<usize> = done.texts.iter().map(|text| text.refused.len()).collect();
        match is_stubborn {
            false => {
                assert_eq!((refused, &done.without_model), (vec![1, 0], &None));
            }
            true => {
                assert_eq!(refused, [1, 1]);
                let Some(why @ WithoutModel::Refused(_)) = &done.without_model else { panic!() };
                assert!(why.to_string().contains(&path), "{why}");
            }
        }
        assert_eq!(double.requests().len(), 4, "two texts, two answers");
        let summary = session.active_summary().await.unwrap().unwrap().text;
        assert!(summary.contains(&path), "{summary}");
    }
}
