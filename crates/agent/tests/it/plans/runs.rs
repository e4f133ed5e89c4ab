//! Plans that run to their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use interleaf::plan::{Mode, Plan};
use interleaf::{Session, copy, store};
use interleaf_agent::mcp::Server;
use interleaf_agent::{Limits, PlanEnd, PlanEvent, PlanRunner, StepEnd, Toolbox, tools};
use interleaf_doubles::{Answer, Asked, Double, Settings, Truth};
use serde_json::json;
use tokio::sync::Barrier;

use super::{
    Ran, Step, by_number, called, diamond, done, events, in_mode, place, plan_of, results, runner,
    started, step_asked, tokens_noted, work,
};
use crate::world::{FAMILIES, changing, double, says, session, target, transport};

#[tokio::test]
async fn e10_a_diamond_runs_on_five_apis_in_both_modes_and_its_middle_steps_at_the_same_time() {
    let double = double(by_number).await;
    for family in FAMILIES {
        for mode in [Mode::Native, Mode::Xml] {
            // The steps in the middle end only if both have begun.
            let both = Arc::new(Barrier::new(2));
            let work = changing("work", move |named, _| {
                let both = both.clone();
                async move {
                    if ["part 2", "part 3"].contains(&named.name.as_str()) {
                        both.wait().await;
                    }
                    Ok(format!("worked on {}", named.name).into())
                }
            });
            let runner = PlanRunner::new(diamond())
                .with_target(target(family, &double))
                .with_settings(in_mode(mode))
                .with_tool(work);
            let mut run = runner.start(&transport(), session().await).await.unwrap();
            let all = tokio::time::timeout(Duration::from_secs(300), events(&mut run)).await;
            let all = all.expect("the steps in the middle wait for each other");
            for (needed, step) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
                assert!(place(&all, done, needed) < place(&all, started, step), "{family} {all:?}");
            }
            for (one, other) in [(1, 2), (2, 1)] {
                assert!(place(&all, started, one) < place(&all, done, other), "{family} {all:?}");
            }
            let ended = run.finish().await.unwrap();
            assert_eq!(ended.end, PlanEnd::Completed, "{family} {mode:?}");
            assert_eq!((ended.used.rounds, ended.steps.len()), (4, 4));
            let last: Vec<bool> = ended.steps.iter().map(|step| step.is_last).collect();
            assert_eq!(last, [false, false, false, true]);
            let results = results(&ended.session);
            let texts: Vec<_> = results.values().map(|result| result.text().into_owned()).collect();
            assert_eq!(
                results.keys().collect::<Vec<_>>(),
                ["step-end-1", "step-left-1", "step-right-1", "step-top-1"]
            );
            assert_eq!(texts[0], "worked on part 4");
            assert!(ended.used.tokens > 0);
            assert_eq!(ended.used.tokens, tokens_noted(&ended.session).await, "{family} {mode:?}");
            let by_step: u64 = ended.steps.iter().map(|step| step.tokens).sum();
            assert_eq!(by_step, ended.used.tokens);
        }
    }
    let requests = double.requests();
    assert_eq!(requests.len(), 4 * 10);
    assert!(requests.iter().all(|request| request.status == 200));
    for request in requests {
        let asked = request.asked.as_ref().unwrap();
        if step_asked(asked) == 4 {
            assert!((1..4).all(|n| says(asked, &format!("worked on part {n}"))), "{asked:?}");
        }
    }
}

#[tokio::test]
async fn the_brain_truth_has_the_right_calls_of_a_plan_on_the_built_in_tools() {
    let folder = tempfile::tempdir().unwrap();
    let truth = json!([
        {"task": "urrent step: 1/3", "steps": [[
            {"name": "write", "arguments": {"path": "a.txt", "text": "one\ntwo\n"}}]]},
        {"task": "urrent step: 2/3", "steps": [[
            {"name": "read", "arguments": {"path": "a.txt"}}]]},
        {"task": "urrent step: 3/3", "steps": [[
            {"name": "run", "arguments": {"command": "wc -l < a.txt"}}]]},
    ]);
    let truth = Truth::read(&truth.to_string()).unwrap();
    let double = Double::start(Settings::new().with_brain(truth)).await.unwrap();
    let tools = [tools::reading(), tools::writing()].concat();
    let specs: Vec<_> = tools.iter().map(|tool| tool.spec()).collect();
    let plan = json!({"objective": "Count lines.", "steps": [
        {"id": "make", "tool": "write"},
        {"id": "look", "tool": "read", "depends_on": ["make"]},
        {"id": "count", "tool": "run", "depends_on": ["make"]},
    ]});
    let plan = Plan::read_with(&plan.to_string(), &specs).unwrap();
    for family in FAMILIES {
        let runner = PlanRunner::new(plan.clone())
            .with_target(target(family, &double))
            .with_settings(in_mode(Mode::Native))
            .with_tools(tools.clone())
            .in_folder(folder.path());
        let run = runner.start(&transport(), session().await).await.unwrap();
        let ended = run.finish().await.unwrap();
        assert_eq!(ended.end, PlanEnd::Completed, "{family}: {:?}", ended.steps);
        let text = |at: usize| ended.steps[at].result.as_ref().unwrap().text().into_owned();
        assert!(text(1).contains("one\ntwo"), "{}", text(1));
        assert_eq!(text(2), "[exit code 0]\n2");
    }
}

#[tokio::test]
async fn e2_a_model_that_makes_no_native_call_is_asked_again_in_words() {
    let double = double(|asked: &Asked| match asked.tools.is_empty() {
        true => by_number(asked),
        false => Answer::text("I would rather not."),
    })
    .await;
    let ran = Ran::default();
    let runner = runner(plan_of(&[("only", &[])]), &double).with_tool(work(&ran));
    let mut run = runner.start(&transport(), session().await).await.unwrap();
    let ways = events(&mut run).await.into_iter().filter_map(|event| match event {
        PlanEvent::Asking { way, attempt, .. } => Some((way.as_str(), attempt)),
        _ => None,
    });
    let ways: Vec<_> = ways.collect();
    assert_eq!(ways, [("native", 1), ("xml", 1)]);
    assert_eq!(run.finish().await.unwrap().end, PlanEnd::Completed);
    assert_eq!(ran.lock().unwrap()["part 1"], 1);
}

#[tokio::test]
async fn e9_wrong_arguments_are_told_and_asked_for_again_and_nothing_runs_with_them() {
    let double = double(|asked: &Asked| match says(asked, "is missing") {
        true => by_number(asked),
        false => called(asked, &json!({"nam": "x"})),
    })
    .await;
    let ran = Ran::default();
    let runner = runner(plan_of(&[("only", &[])]), &double)
        .with_settings(in_mode(Mode::Native))
        .with_tool(work(&ran));
    let ended = runner.start(&transport(), session().await).await.unwrap().finish().await.unwrap();
    assert_eq!((ended.end, ended.used.rounds), (PlanEnd::Completed, 2));
    assert_eq!(ran.lock().unwrap().keys().collect::<Vec<_>>(), ["part 1"]);
}

#[tokio::test]
async fn no_more_steps_are_worked_on_at_once_than_is_said() {
    let double = double(by_number).await;
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, highest) = (now.clone(), most.clone());
    let work = changing("work", move |_, _| {
        let n = counted.fetch_add(1, Ordering::SeqCst) + 1;
        highest.fetch_max(n, Ordering::SeqCst);
        let counted = counted.clone();
        async move {
            tokio::task::yield_now().await;
            counted.fetch_sub(1, Ordering::SeqCst);
            Ok("done".into())
        }
    });
    let ids: Vec<String> = (0..12).map(|n| n.to_string()).collect();
    let steps: Vec<Step<'_>> = ids.iter().map(|id| (id.as_str(), &[][..])).collect();
    let mut limits = Limits::default();
    limits.at_once = 2;
    let runner = runner(plan_of(&steps), &double).with_tool(work).with_limits(limits);
    let mut run = runner.start(&transport(), session().await).await.unwrap();
    let (mut open, mut most_open) = (0_usize, 0);
    for event in events(&mut run).await {
        match event {
            PlanEvent::Began(_) => open += 1,
            PlanEvent::Done { .. } => open -= 1,
            _ => {}
        }
        most_open = most_open.max(open);
    }
    assert_eq!(run.finish().await.unwrap().end, PlanEnd::Completed);
    assert_eq!(most_open, 2);
    assert!(most.load(Ordering::SeqCst) <= 2);
}

#[tokio::test]
async fn a_run_is_gone_on_with_in_a_fork_and_after_an_export() {
    let double = double(by_number).await;
    let ran = Ran::default();
    let store = store::open("memory:").await.unwrap();
    let session = Session::create(store.clone(), "").await.unwrap();
    let runner = runner(diamond(), &double).with_tool(work(&ran));
    let mut run = runner.start(&transport(), session).await.unwrap();
    while let Some(event) = run.next().await {
        if done(&event) == Some(0) {
            run.handle().interrupt();
        }
    }
    let ended = run.finish().await.unwrap();
    assert_eq!(ended.end, PlanEnd::Interrupted);
    assert_eq!(ended.steps[0].end, StepEnd::Done);
    let n_asked = double.requests().len();

    let fork = ended.session.fork("a fork").await.unwrap();
    let forked = runner.start(&transport(), fork).await.unwrap().finish().await.unwrap();
    assert_eq!(forked.end, PlanEnd::Completed);

    let elsewhere = store::open("memory:").await.unwrap();
    copy::session(&store, &elsewhere, ended.session.id(), |_| {}).await.unwrap();
    let copied = Session::open(elsewhere, ended.session.id()).await.unwrap();
    let copied = runner.start(&transport(), copied).await.unwrap().finish().await.unwrap();
    assert_eq!(copied.end, PlanEnd::Completed);
    for asked in double.requests()[n_asked..].iter().filter_map(|it| it.asked.as_ref()) {
        assert_ne!(step_asked(asked), 1, "what is done is not asked for again");
    }
    assert_eq!(ran.lock().unwrap()["part 1"], 1);
}

#[tokio::test]
async fn e10_a_plan_runs_on_the_tools_of_an_mcp_server_in_both_modes() {
    let notes = tempfile::tempdir().unwrap();
    let server = Server::new("double", crate::double::settings(notes.path()));
    server.connect().await.unwrap();
    let tools = Toolbox::tools(&server);
    let specs: Vec<_> = tools.iter().map(|tool| tool.spec()).collect();
    let plan = json!({"objective": "Say it.", "steps": [
        {"id": "say", "tool": "double__echo"},
        {"id": "fail", "tool": "double__fail"},
        {"id": "again", "tool": "double__echo", "depends_on": ["say"]},
        {"id": "never", "tool": "double__echo", "depends_on": ["fail", "say"]},
    ]});
    let plan = Plan::read_with(&plan.to_string(), &specs).unwrap();
    let double = double(|asked: &Asked| {
        let (tool, arguments) = match step_asked(asked) {
            2 => ("double__fail", json!({})),
            n => ("double__echo", json!({"text": format!("word {n}")})),
        };
        match (asked.tools.is_empty(), arguments["text"].as_str()) {
            (false, _) => Answer::new().with_call(tool, &arguments),
            (true, None) => Answer::text(format!("<tools><invoke name=\"{tool}\"/></tools>")),
            (true, Some(text)) => Answer::text(format!(
                "<tools><invoke name=\"{tool}\"><parameter name=\"text\">{text}</parameter>\
                 </invoke></tools>"
            )),
        }
    })
    .await;
    for mode in [Mode::Native, Mode::Xml] {
        let runner = runner(plan.clone(), &double).with_settings(in_mode(mode));
        let runner = runner.with_tools(tools.clone());
        let run = runner.start(&transport(), session().await).await.unwrap();
        let ended = run.finish().await.unwrap();
        let ends: Vec<&str> = ended.steps.iter().map(|step| step.end.as_str()).collect();
        assert_eq!(ends, ["done", "failed", "done", "skipped"], "{mode:?}: {:?}", ended.steps);
        let results = results(&ended.session);
        assert_eq!(results["step-say-1"].text(), "word 1!");
        assert_eq!(results["step-again-1"].text(), "word 3!");
    }
}
