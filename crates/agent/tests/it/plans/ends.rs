//! Steps that fail, limits that are reached, runs that are interrupted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use interleaf::model::{Message, ToolCall};
use interleaf::plan::Mode;
use interleaf_agent::{
    Agent, Allow, Boxed, Effect, End, Hook, Limit, Limits, PlanEnd, PlanEvent, PlanHandle,
    PlanRunner, Scene, StepEnd,
};
use interleaf_doubles::{Answer, Asked};
use serde_json::json;

use super::{
    Ran, Step, by_number, called, diamond, events, in_mode, plan_of, results, runner, step_asked,
    work,
};
use crate::world::{FAMILIES, changing, double, says, session, target, transport};

/// A diamond and a step beside it.
fn two_ways() -> interleaf::plan::Plan {
    plan_of(&[
        ("top", &[]),
        ("left", &["top"]),
        ("under", &["left"]),
        ("right", &["top"]),
        ("end", &["under", "right"]),
        ("aside", &[]),
    ])
}

#[tokio::test]
async fn what_depends_on_a_failed_step_is_not_run_and_all_else_is() {
    let double = double(by_number).await;
    let work = changing("work", |named, _| async move {
        match named.name.as_str() {
            "part 2" => Err(interleaf_agent::ToolError::new("it broke")),
            name => Ok(name.into()),
        }
    });
    let runner = runner(two_ways(), &double).with_tool(work);
    let mut run = runner.start(&transport(), session().await).await.unwrap();
    let all = events(&mut run).await;
    let skipped = all.iter().filter_map(|event| match event {
        PlanEvent::Skipped { step, because } => Some((*step, *because)),
        _ => None,
    });
    assert_eq!(skipped.collect::<Vec<_>>(), [(2, 1), (4, 2)]);
    let ended = run.finish().await.unwrap();
    assert_eq!(ended.end.to_string(), "1 step failed: left");
    let ends: Vec<&str> = ended.steps.iter().map(|step| step.end.as_str()).collect();
    assert_eq!(ends, ["done", "failed", "skipped", "done", "skipped", "done"]);
    assert_eq!(ended.steps[1].end, StepEnd::Failed("it broke".to_owned()));

    // It ran and changes something: it is not run again by itself, and nothing is asked.
    let n_asked = double.requests().len();
    let again = runner.start(&transport(), ended.session).await.unwrap().finish().await.unwrap();
    assert_eq!(again.end.to_string(), "1 step failed: left");
    assert_eq!((double.requests().len(), again.used.rounds), (n_asked, 0));

    // Whoever wants it says so.
    let ran = Ran::default();
    let runner = super::runner(two_ways(), &double).with_tool(super::work(&ran)).again("left");
    let again = runner.start(&transport(), again.session).await.unwrap().finish().await.unwrap();
    assert_eq!((again.end, again.used.rounds), (PlanEnd::Completed, 3));
    let names: Vec<_> = ran.lock().unwrap().keys().cloned().collect();
    assert_eq!(names, ["part 2", "part 3", "part 5"]);
    assert_eq!(results(&again.session).len(), 7);
}

#[tokio::test]
async fn a_step_without_valid_arguments_fails_and_is_not_asked_for_again_by_itself() {
    let double = double(|asked: &Asked| match step_asked(asked) {
        2 => called(asked, &json!({"nam": 1})),
        _ => by_number(asked),
    })
    .await;
    let ran = Ran::default();
    let settings = interleaf::plan::PlanSettings { tries: 2, ..in_mode(Mode::Native) };
    let runner = runner(diamond(), &double).with_settings(settings).with_tool(work(&ran));
    let ended = runner.start(&transport(), session().await).await.unwrap().finish().await.unwrap();
    assert_eq!((ended.end.to_string(), ended.used.rounds), ("1 step failed: left".to_owned(), 4));
    let StepEnd::Failed(why) = &ended.steps[1].end else { panic!("{:?}", ended.steps[1]) };
    assert!(why.starts_with("no valid arguments in 2 answers; of the last: "), "{why}");
    let again = runner.start(&transport(), ended.session).await.unwrap().finish().await.unwrap();
    assert_eq!((again.end.to_string(), again.used.rounds), ("1 step failed: left".to_owned(), 0));
    assert_eq!(ran.lock().unwrap().len(), 2);
}

/// Refuses what changes something, until it is told otherwise.
struct Careful(Arc<AtomicBool>);

impl Hook for Careful {
    fn before_call<'a>(&'a self, _: &'a ToolCall, _: Effect, _: &'a Scene) -> Boxed<'a, Allow> {
        Box::pin(async {
            match self.0.load(Ordering::Relaxed) {
                true => Allow::Run,
                false => Allow::Refuse("not today".to_owned()),
            }
        })
    }
}

#[tokio::test]
async fn a_step_that_was_refused_never_ran_and_is_offered_again_without_being_asked_for() {
    let double = double(by_number).await;
    let (ran, allows) = (Ran::default(), Arc::new(AtomicBool::new(false)));
    let runner = runner(plan_of(&[("a", &[])]), &double);
    let runner = runner.with_tool(work(&ran)).with_hook(Careful(allows.clone()));
    let ended = runner.start(&transport(), session().await).await.unwrap().finish().await.unwrap();
    assert_eq!(ended.end.to_string(), "1 step failed: a");
    assert!(ran.lock().unwrap().is_empty());
    allows.store(true, Ordering::Relaxed);
    let ended = runner.start(&transport(), ended.session).await.unwrap().finish().await.unwrap();
    assert_eq!((ended.end, ended.used.rounds), (PlanEnd::Completed, 0));
    assert_eq!((double.requests().len(), ran.lock().unwrap()["part 1"]), (1, 1));
}

#[tokio::test]
async fn a_run_comes_to_its_limits_and_goes_on_from_there() {
    let double = double(by_number).await;
    let ran = Ran::default();
    let runner = runner(diamond(), &double).with_tool(work(&ran));
    let mut session = session().await;
    let mut rounds = 0;
    for limit in [Limit::Rounds, Limit::Tokens, Limit::Time] {
        let mut limits = Limits::default();
        match limit {
            Limit::Rounds => limits.rounds = Some(1),
            Limit::Tokens => limits.tokens = Some(0),
            _ => limits.time = Some(Duration::ZERO),
        }
        let limited = runner.clone().with_limits(limits);
        let ended = limited.start(&transport(), session).await.unwrap().finish().await.unwrap();
        assert_eq!(ended.end, PlanEnd::OutOfBudget(limit));
        rounds += ended.used.rounds;
        session = ended.session;
    }
    assert_eq!(rounds, 1);
    let ended = runner.start(&transport(), session).await.unwrap().finish().await.unwrap();
    assert_eq!((ended.end, ended.used.rounds), (PlanEnd::Completed, 3));
    assert!(ran.lock().unwrap().values().all(|n| *n == 1));
}

#[tokio::test]
async fn an_interrupted_run_says_so_of_its_calls_and_any_api_can_be_told_of_them() {
    let double = double(|asked: &Asked| match says(asked, "What came of it?") {
        true => Answer::text(crate::world::results(asked).join(" ")),
        false => by_number(asked),
    })
    .await;
    // Names that no API takes as the id of a call.
    let long = "a long name ".repeat(20);
    let plan = plan_of(&[("a b/c", &[]), (&long, &[]), ("\u{5217}\u{1b}[2J", &["a b/c"])]);
    for family in FAMILIES {
        let work = changing("work", |named, _| async move {
            match named.name.as_str() {
                "part 1" => Ok("done with one".into()),
                _ => std::future::pending().await,
            }
        });
        let runner = PlanRunner::new(plan.clone()).with_target(target(family, &double));
        let runner = runner.with_settings(in_mode(Mode::Native)).with_tool(work);
        let mut run = runner.start(&transport(), session().await).await.unwrap();
        let handle = run.handle();
        let mut n_started = 0;
        while let Some(event) = run.next().await {
            n_started += usize::from(matches!(event, PlanEvent::Started { .. }));
            if n_started == 3 {
                handle.interrupt();
            }
        }
        let mut ended = run.finish().await.unwrap();
        assert_eq!(ended.end, PlanEnd::Interrupted);
        let ends: Vec<&str> = ended.steps.iter().map(|step| step.end.as_str()).collect();
        assert_eq!(ends, ["done", "failed", "failed"]);
        assert!(ended.session.open_calls().is_empty());
        ended.session.append(Message::user("What came of it?")).await.unwrap();
        let agent = Agent::new("teller")
            .with_target(target(family, &double))
            .with_role("You tell.")
            .without_instructions();
        let told = agent.start(&transport(), ended.session).unwrap().finish().await.unwrap();
        assert_eq!(told.end, End::Completed, "{family}");
        assert!(told.text.contains("was interrupted"), "{family}: {}", told.text);
        assert!(told.text.contains("done with one"), "{family}: {}", told.text);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again_and_a_wrong_key_ends_the_run_at_once() {
    let double = double(by_number).await;
    double.fail_next("cut:at=200".parse().unwrap());
    let ran = Ran::default();
    let runner = runner(plan_of(&[("a", &[])]), &double).with_tool(work(&ran));
    let ended = runner.start(&transport(), session().await).await.unwrap().finish().await.unwrap();
    assert_eq!(ended.end, PlanEnd::Completed);
    assert_eq!(ran.lock().unwrap()["part 1"], 1);

    let strict = interleaf_doubles::Settings::new().with_brain(by_number).with_key("right");
    let strict = interleaf_doubles::Double::start(strict).await.unwrap();
    let steps: Vec<Step<'_>> = vec![("a", &[]), ("b", &[]), ("c", &[])];
    let mut limits = Limits::default();
    limits.at_once = 1;
    let runner = super::runner(plan_of(&steps), &strict).with_tool(work(&ran)).with_limits(limits);
    let ended = runner.start(&transport(), session().await).await.unwrap().finish().await.unwrap();
    let PlanEnd::Failed(why) = &ended.end else { panic!("{}", ended.end) };
    assert!(why.contains("401") || why.contains("key"), "{why}");
    assert_eq!(ended.used.rounds, 1);
    assert!(ended.steps.iter().all(|step| step.end == StepEnd::Open));
}

/// Interrupts the run before a call.
struct Hasty(Arc<OnceLock<PlanHandle>>);

impl Hook for Hasty {
    fn before_call<'a>(&'a self, _: &'a ToolCall, _: Effect, _: &'a Scene) -> Boxed<'a, Allow> {
        Box::pin(async {
            if let Some(handle) = self.0.get() {
                handle.interrupt();
                return std::future::pending().await;
            }
            Allow::Run
        })
    }
}

#[tokio::test]
async fn a_step_that_was_not_run_when_it_was_interrupted_is_open_and_nothing_is_skipped() {
    let double = double(by_number).await;
    let (ran, handle) = (Ran::default(), Arc::new(OnceLock::new()));
    let first = runner(diamond(), &double).with_tool(work(&ran)).with_hook(Hasty(handle.clone()));
    let run = first.start(&transport(), session().await).await.unwrap();
    assert!(handle.set(run.handle()).is_ok());
    let ended = run.finish().await.unwrap();
    assert_eq!(ended.end, PlanEnd::Interrupted);
    assert!(ended.steps.iter().all(|step| step.end == StepEnd::Open), "{:?}", ended.steps);
    let runner = runner(diamond(), &double).with_tool(work(&ran));
    let ended = runner.start(&transport(), ended.session).await.unwrap().finish().await.unwrap();
    assert_eq!((ended.end, ended.used.rounds), (PlanEnd::Completed, 3));
    assert!(ran.lock().unwrap().values().all(|times| *times == 1));
}
