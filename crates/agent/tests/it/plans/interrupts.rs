//! Runs of plans that are interrupted: each ends, and says what is known of it.

use std::time::Duration;

use interleaf::model::{self, ToolCall};
use interleaf_agent::{
    Boxed, Effect, Output, PlanEnd, PlanEnded, PlanEvent, PlanRunner, Scene, StepEnd, Tool,
    ToolError,
};
use interleaf_doubles::Double;

use super::{by_number, plan_of, runner, work};
use crate::world::{PATIENCE, changing, double, session, transport};

/// Runs a plan, interrupts it when its call has begun, and waits for its end.
async fn interrupted(runner: PlanRunner) -> PlanEnded {
    let mut run = runner.start(&transport(), session().await).await.unwrap();
    let handle = run.handle();
    while let Some(event) = run.next().await {
        if matches!(event, PlanEvent::Started { .. }) {
            handle.interrupt();
            break;
        }
    }
    tokio::time::timeout(PATIENCE, run.finish()).await.expect("it does not end").unwrap()
}

fn one_step(double: &Double) -> PlanRunner {
    runner(plan_of(&[("top", &[])]), double)
}

#[tokio::test]
async fn a_call_that_does_not_hear_the_end_is_left_behind_whatever_its_effect() {
    for effect in [Effect::Reads, Effect::Changes, Effect::Resumes] {
        let double = double(by_number).await;
        let endless = changing("work", |_, _| std::future::pending()).with_effect(effect);
        let ended = interrupted(one_step(&double).with_tool(endless)).await;
        assert_eq!(ended.end, PlanEnd::Interrupted, "{effect:?}");
        let result = ended.steps[0].result.as_ref().unwrap().text().into_owned();
        assert!(result.contains("This call was interrupted"), "{effect:?}: {result}");
    }
}

/// Waits for the end, and says how far it came.
struct Hears;

impl Tool for Hears {
    fn spec(&self) -> model::Tool {
        work(&Default::default()).spec()
    }

    fn hears_the_end(&self) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        _: &'a ToolCall,
        scene: &'a Scene,
    ) -> Boxed<'a, Result<Output, ToolError>> {
        Box::pin(async move {
            scene.stopped().await;
            Ok("halfway".into())
        })
    }
}

#[tokio::test]
async fn a_call_that_hears_the_end_says_how_far_it_came() {
    let double = double(by_number).await;
    let ended = interrupted(one_step(&double).with_tool(Hears)).await;
    assert_eq!(ended.steps[0].end, StepEnd::Done);
    assert_eq!(ended.steps[0].result.as_ref().unwrap().text(), "halfway");
}

#[tokio::test]
async fn a_request_that_is_interrupted_is_counted_and_what_it_took_is_not_known() {
    let double = double(by_number).await;
    double.fail_next("slow:ms=600000".parse().unwrap());
    let runner = one_step(&double).with_tool(work(&Default::default()));
    let run = runner.start(&transport(), session().await).await.unwrap();
    while double.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    run.handle().interrupt();
    let ended = tokio::time::timeout(PATIENCE, run.finish()).await.unwrap().unwrap();
    assert_eq!(ended.end, PlanEnd::Interrupted);
    assert_eq!((ended.used.requests, ended.used.unknown), (1, 1));
    assert_eq!(ended.used.price(), None);
}
