//! What keeps a plan from running.

use interleaf::plan::{ErrorKind, Plan};
use interleaf_agent::{PlanEnd, PlanRunner};
use serde_json::json;

use super::{Ran, Step, by_number, diamond, plan_of, runner, work};
use crate::world::{double, echo, session, transport};

#[tokio::test]
async fn a_plan_that_changed_is_refused_with_its_step_and_nothing_is_lost() {
    let double = double(by_number).await;
    let ran = Ran::default();
    let first = runner(diamond(), &double).with_tool(work(&ran));
    let ended = first.start(&transport(), session().await).await.unwrap().finish().await.unwrap();
    let (store, id) = (ended.session.store().clone(), ended.session.id());
    let changed: [(&str, &[Step<'_>]); 4] = [
        (
            "steps[2].depends_on: step right has changed: it was [\"top\"]",
            &[("top", &[]), ("left", &["top"]), ("right", &["left"]), ("end", &["left", "right"])],
        ),
        (
            "steps[1].id: step other has changed: it was \"left\"",
            &[("top", &[]), ("other", &["top"]), ("right", &["top"]), ("end", &["right"])],
        ),
        ("steps: step end is gone", &[("top", &[]), ("left", &["top"]), ("right", &["top"])]),
        (
            "steps[4]: step more was not there before",
            &[
                ("top", &[]),
                ("left", &["top"]),
                ("right", &["top"]),
                ("end", &["left", "right"]),
                ("more", &[]),
            ],
        ),
    ];
    for (told, steps) in changed {
        let session = interleaf::Session::open(store.clone(), id).await.unwrap();
        let seq = session.seq();
        let refused = runner(plan_of(steps), &double).with_tool(work(&ran));
        let error = refused.start(&transport(), session).await.err().unwrap();
        assert_eq!(error.to_string(), told);
        assert_eq!(error.as_plan().unwrap().kind(), ErrorKind::Changed);
        let session = interleaf::Session::open(store.clone(), id).await.unwrap();
        assert_eq!(session.seq(), seq);
    }
    let session = interleaf::Session::open(store, id).await.unwrap();
    let ended = first.start(&transport(), session).await.unwrap().finish().await.unwrap();
    assert_eq!((ended.end, ended.used.rounds), (PlanEnd::Completed, 0));
}

#[tokio::test]
async fn a_tool_that_nothing_runs_is_told_before_anything_is_asked_or_written() {
    let double = double(by_number).await;
    let plan = json!({"objective": "o", "tools": [{"name": "drill"}], "steps": [
        {"tool": "work"}, {"id": "hole", "tool": "drill"},
    ]});
    let ran = Ran::default();
    let specs = [interleaf_agent::Tool::spec(&work(&ran))];
    let plan = Plan::read_with(&plan.to_string(), &specs).unwrap();
    let runner = runner(plan, &double).with_tool(work(&ran)).with_tool(echo());
    let error = runner.start(&transport(), session().await).await.err().unwrap();
    assert_eq!(
        error.to_string(),
        "steps[1].tool: nothing here runs the tool \"drill\" of step hole; there are: work, echo"
    );
    assert!(double.requests().is_empty());
}

#[tokio::test]
async fn only_a_step_that_is_not_done_is_run_again_and_somebody_must_be_named() {
    let double = double(by_number).await;
    let ran = Ran::default();
    let first = runner(diamond(), &double).with_tool(work(&ran));
    let ended = first.start(&transport(), session().await).await.unwrap().finish().await.unwrap();
    let (store, id) = (ended.session.store().clone(), ended.session.id());
    for (step, told) in [
        ("left", "step left is done: a fork of the session from before it can run it again"),
        ("lef", "the plan has no step \"lef\" to run again"),
    ] {
        let session = interleaf::Session::open(store.clone(), id).await.unwrap();
        let error = first.clone().again(step).start(&transport(), session).await.err().unwrap();
        assert_eq!(error.to_string(), told);
    }
    let nobody = PlanRunner::new(diamond()).with_tool(work(&ran));
    let error = nobody.start(&transport(), session().await).await.err().unwrap();
    assert_eq!(error.to_string(), "the plan: no model is set: name a vendor and a model");
    let twice = first.with_tool(work(&ran));
    let error = twice.start(&transport(), session().await).await.err().unwrap();
    assert_eq!(error.to_string(), "the plan: two of its tools are called work");
}
