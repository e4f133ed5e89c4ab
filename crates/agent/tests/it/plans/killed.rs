//! Runs that are dropped at every moment, and two runs at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use interleaf::conversation::{Clear, Operation};
use interleaf::model::{Message, Status};
use interleaf::plan::Mode;
use interleaf::{Session, store};
use interleaf_agent::{Effect, PlanEnd, PlanEvent, PlanRun, StepEnd};

use super::{Ran, by_number, diamond, in_mode, results, runner, step_asked, work};
use crate::world::{changing, double, transport};

/// Takes this many events, and ends the process's part in it.
async fn dropped_after(mut run: PlanRun, n: usize) -> usize {
    let mut taken = 0;
    while taken < n && run.next().await.is_some() {
        taken += 1;
    }
    taken
}

#[tokio::test]
async fn e10_a_run_that_is_dropped_anywhere_goes_on_to_its_end_and_no_step_runs_twice() {
    let double = double(by_number).await;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("s.db").display());
    let store = store::open(&url).await.unwrap();
    for mode in [Mode::Native, Mode::Xml] {
        for n in 0.. {
            let ran = Ran::default();
            let runner =
                runner(diamond(), &double).with_settings(in_mode(mode)).with_tool(work(&ran));
            let session = Session::create(store.clone(), "").await.unwrap();
            let id = session.id();
            let taken = dropped_after(runner.start(&transport(), session).await.unwrap(), n).await;
            if taken < n {
                break;
            }
            let session = Session::open(store.clone(), id).await.unwrap();
            let before = answered(&session);
            let n_asked = double.requests().len();
            // A step that was started while the run was dropped may have taken effect, which is
            // told; whoever looked and wants it says so.
            let mut again = runner.clone();
            let mut session = Some(session);
            let ended = loop {
                let run = again.start(&transport(), session.take().unwrap()).await.unwrap();
                let ended = run.finish().await.unwrap();
                match &ended.end {
                    PlanEnd::Completed => break ended,
                    PlanEnd::StepsFailed(steps) => {
                        for step in steps {
                            let at = ended.steps.iter().find(|own| own.id == *step).unwrap();
                            let StepEnd::Failed(why) = &at.end else { panic!("{at:?}") };
                            assert!(why.contains("may have taken effect"), "{n}: {why}");
                        }
                        assert!(ran.lock().unwrap().values().all(|times| *times == 1), "{ran:?}");
                        again = runner_again(&runner, steps);
                        session = Some(ended.session);
                        // From here on whoever says so may run it twice.
                        ran.lock().unwrap().clear();
                    }
                    // The write of the dropped run came last.
                    PlanEnd::Failed(why) => {
                        assert!(why.contains("another run"), "{n}: {why}");
                        session = Some(ended.session);
                    }
                    other => panic!("{n}: {other}"),
                }
            };
            assert!(ran.lock().unwrap().values().all(|times| *times == 1), "{n}: {ran:?}");
            let mut done: Vec<String> = results(&ended.session).into_keys().collect();
            done.retain(|call| call.ends_with("-1"));
            assert_eq!(done.len(), 4, "{n}: {done:?}");
            // What was answered before the kill is not asked for again, unless it is wished.
            let is_plain = ended.steps.iter().all(|step| {
                ended.session.conversation().log().all(|said| {
                    said.calls().all(|call| call.id.as_str() != format!("step-{}-2", step.id))
                })
            });
            if is_plain {
                for asked in double.requests()[n_asked..].iter().filter_map(|r| r.asked.as_ref()) {
                    let id = diamond().steps()[step_asked(asked) - 1].id.to_string();
                    assert!(!before.contains(&id), "{n}: {id} is asked for again");
                }
            }
        }
    }
    assert!(double.requests().iter().all(|request| request.status < 400));
}

fn runner_again(
    runner: &interleaf_agent::PlanRunner,
    steps: &[interleaf::plan::StepId],
) -> interleaf_agent::PlanRunner {
    steps.iter().fold(runner.clone(), |runner, step| runner.again(step.as_str()))
}

/// The steps that have an answer in the log.
fn answered(session: &Session) -> Vec<String> {
    let named = session.conversation().log().filter_map(|message| match &message.origin {
        interleaf::model::Origin::SubAgent(name) => Some(name.as_str().to_owned()),
        _ => None,
    });
    let ids = named.filter_map(|name| Some(name.strip_prefix("step-")?.strip_suffix("-1")?.into()));
    ids.collect()
}

/// Starts a run of a plan whose first step never ends, and drops it while that runs.
async fn dropped_in_call(effect: Effect, session: Session, begun: &Arc<AtomicUsize>) {
    let double = double(by_number).await;
    let counted = begun.clone();
    let endless = changing("work", move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::pending()
    });
    let runner = runner(diamond(), &double).with_tool(endless.with_effect(effect));
    let mut run = runner.start(&transport(), session).await.unwrap();
    while let Some(event) = run.next().await {
        if matches!(event, PlanEvent::Started { .. }) {
            break;
        }
    }
    while begun.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_step_that_was_started_and_changes_something_is_not_run_again_in_silence() {
    for effect in [Effect::Changes, Effect::Reads, Effect::Resumes] {
        let store = store::open("memory:").await.unwrap();
        let session = Session::create(store.clone(), "").await.unwrap();
        let (id, begun) = (session.id(), Arc::new(AtomicUsize::new(0)));
        dropped_in_call(effect, session, &begun).await;
        let double = double(by_number).await;
        let ran = Ran::default();
        let counted = ran.clone();
        let now = changing("work", move |named, _| {
            *counted.lock().unwrap().entry(named.name).or_default() += 1;
            async { Ok("done".into()) }
        });
        let runner = runner(diamond(), &double).with_tool(now.with_effect(effect));
        let session = Session::open(store, id).await.unwrap();
        let run = runner.start(&transport(), session).await.unwrap();
        let ended = run.finish().await.unwrap();
        match effect {
            Effect::Changes => {
                assert_eq!(ended.end.to_string(), "1 step failed: top");
                let StepEnd::Failed(why) = &ended.steps[0].end else { panic!("{ended:?}") };
                assert!(why.contains("It may have taken effect"), "{why}");
                assert!(ran.lock().unwrap().is_empty());
            }
            _ => {
                assert_eq!(ended.end, PlanEnd::Completed);
                // It was asked for before the kill.
                assert_eq!(ended.used.rounds, 3);
                assert_eq!(ran.lock().unwrap()["part 1"], 1);
            }
        }
        assert_eq!(
            results(&ended.session).len(),
            ended.steps.iter().filter(|s| s.result.is_some()).count()
        );
    }
}

#[tokio::test]
async fn two_runs_of_one_session_at_once_run_no_step_twice() {
    let double = double(by_number).await;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("s.db").display());
    for _ in 0..8 {
        let ran = Ran::default();
        let runner = runner(diamond(), &double).with_tool(work(&ran));
        let store = store::open(&url).await.unwrap();
        let session = Session::create(store.clone(), "").await.unwrap();
        let id = session.id();
        let other = Session::open(store::open(&url).await.unwrap(), id).await.unwrap();
        let transport = transport();
        let runs = tokio::join!(runner.start(&transport, session), runner.start(&transport, other));
        let runs = (runs.0.unwrap(), runs.1.unwrap());
        let ended = tokio::join!(runs.0.finish(), runs.1.finish());
        let (one, other) = (ended.0.unwrap(), ended.1.unwrap());
        for ended in [&one, &other] {
            let is_typed = match &ended.end {
                PlanEnd::Completed => true,
                PlanEnd::Failed(why) => why.contains("another run"),
                // One that began later may take a call that the other still runs for dead.
                PlanEnd::StepsFailed(_) => ended.steps.iter().all(|step| match &step.end {
                    StepEnd::Failed(why) => why.contains("another run is at it"),
                    _ => true,
                }),
                _ => false,
            };
            assert!(is_typed, "{}", ended.end);
        }
        // Whatever was left is done by whoever comes after, and what a step gave counts.
        let session = Session::open(store, id).await.unwrap();
        let ended = runner.start(&transport, session).await.unwrap().finish().await.unwrap();
        assert_eq!(ended.end, PlanEnd::Completed);
        assert!(ran.lock().unwrap().values().all(|times| *times == 1), "{ran:?}");
        let results = results(&ended.session);
        let done = results.values().filter_map(|said| said.as_result());
        assert_eq!(done.filter(|result| result.status != Status::Error).count(), 4);
    }
}

#[tokio::test]
async fn a_rollback_does_not_make_a_step_run_twice() {
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store.clone(), "").await.unwrap();
    let (id, begun) = (session.id(), Arc::new(AtomicUsize::new(0)));
    session.append(Message::user("Before.")).await.unwrap();
    let batch = session.conversation().current_batch();
    session.operate(Operation::Clear(Clear::default())).await.unwrap();
    dropped_in_call(Effect::Changes, session, &begun).await;
    let mut session = Session::open(store, id).await.unwrap();
    session.roll_back(batch).await.unwrap();
    let double = double(by_number).await;
    let ran = Ran::default();
    let runner = runner(diamond(), &double).with_tool(work(&ran));
    let ended = runner.start(&transport(), session).await.unwrap().finish().await.unwrap();
    assert_eq!(ended.end.to_string(), "1 step failed: top");
    assert!(ran.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_a_run_gave_that_another_took_for_dead_is_kept_and_counts() {
    let double = double(by_number).await;
    let store = store::open("memory:").await.unwrap();
    let session = Session::create(store.clone(), "").await.unwrap();
    let (id, ran) = (session.id(), Ran::default());
    let (open, opens) = tokio::sync::watch::channel(false);
    let counted = ran.clone();
    let gated = changing("work", move |named, _| {
        *counted.lock().unwrap().entry(named.name.clone()).or_default() += 1;
        let mut opens = opens.clone();
        async move {
            opens.wait_for(|is_open| *is_open).await?;
            Ok(format!("worked on {}", named.name).into())
        }
    });
    let one = runner(diamond(), &double).with_tool(gated);
    let mut run = one.start(&transport(), session).await.unwrap();
    while let Some(event) = run.next().await {
        if matches!(event, PlanEvent::Started { .. }) {
            break;
        }
    }
    let other = Session::open(store.clone(), id).await.unwrap();
    let dead = runner(diamond(), &double).with_tool(work(&ran));
    let dead = dead.start(&transport(), other).await.unwrap().finish().await.unwrap();
    assert_eq!(dead.end.to_string(), "1 step failed: top");
    open.send(true).unwrap();
    let ended = run.finish().await.unwrap();
    assert_eq!(ended.end, PlanEnd::Completed);
    assert!(ran.lock().unwrap().values().all(|times| *times == 1), "{ran:?}");
    let session = Session::open(store, id).await.unwrap();
    let ended = one.start(&transport(), session).await.unwrap().finish().await.unwrap();
    assert_eq!((ended.end, ended.used.rounds), (PlanEnd::Completed, 0));
    assert_eq!(results(&ended.session)["step-top-2"].text(), "worked on part 1");
}
