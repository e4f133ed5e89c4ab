//! What a run has used: all of it counts, and all of it against its limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use interleaf::compaction::CompactionPolicy;
use interleaf::model::{Message, Spent, ToolCall};
use interleaf::wire::Family;
use interleaf_agent::{Agent, End, Event, Limit, Limits, tools};
use interleaf_doubles::{Answer, Asked, Brain as _, Double, Summariser};
use interleaf_transport::Compacting;
use serde_json::json;

use crate::world::{
    agent, changing, double, echo, events, n_said, results, says, session, target, transport,
};

/// All tokens that the double says it took.
fn reported(double: &Double) -> u64 {
    let usage = double.requests().into_iter().filter_map(|exchange| exchange.usage);
    usage.map(|usage| usage.input() + usage.output).sum()
}

#[tokio::test]
async fn the_tokens_of_a_compaction_that_was_asked_for_count() {
    let double = double(|asked: &Asked| match n_said(asked) {
        _ if asked.tools.is_empty() => Summariser::new().answer(asked).unwrap(),
        10 => Answer::new().with_call("compact", &json!({})),
        _ => Answer::text("Done."),
    })
    .await;
    let mut policy = CompactionPolicy::default();
    (policy.summary_tokens, policy.keep_turns) = (400, 1);
    policy.facts.clear();
    let agent = tools::remembering()
        .into_iter()
        .fold(agent(&double).with_policy(policy), Agent::with_shared_tool);
    let mut session = session().await;
    for n in 0..10 {
        session
            .append(Message::user(&format!("{n}: {}", "a long story ".repeat(50))))
            .await
            .unwrap();
        session.append(Message::assistant("I see.")).await.unwrap();
    }
    session.append(Message::user("Go.")).await.unwrap();
    let mut run = agent.start(&transport(), session).unwrap();
    let told = events(&mut run).await;
    assert!(told.iter().any(|event| matches!(event, Event::Compacted(_))), "{told:?}");
    let ended = run.finish().await.unwrap();
    assert_eq!(ended.end, End::Completed);
    assert_eq!(ended.used.tokens, reported(&double));
}

#[tokio::test]
async fn a_compaction_that_a_tool_asks_for_is_written_by_the_model_that_is_set_for_that() {
    let double = double(|asked: &Asked| match n_said(asked) {
        _ if asked.tools.is_empty() => Summariser::new().answer(asked).unwrap(),
        10 => Answer::new().with_call("compact", &json!({})),
        _ => Answer::text("Done."),
    })
    .await;
    let mut policy = CompactionPolicy::default();
    (policy.summary_tokens, policy.keep_turns) = (400, 1);
    policy.facts.clear();
    let writer = target(Family::OpenaiChat, &double);
    let compacting = Compacting::new(policy.clone()).with_writer(writer);
    let agent = tools::remembering()
        .into_iter()
        .fold(agent(&double).with_policy(policy), Agent::with_shared_tool);
    let mut session = session().await;
    for n in 0..10 {
        let story = format!("{n}: {}", "a long story ".repeat(50));
        session.append(Message::user(&story)).await.unwrap();
        session.append(Message::assistant("I see.")).await.unwrap();
    }
    let ended = agent.run(&transport().compacting(compacting), session, "Go.").await.unwrap();
    assert_eq!(ended.end, End::Completed);
    let bodies: Vec<String> = double.requests().iter().map(|it| it.body.to_string()).collect();
    let by_writer = bodies.iter().filter(|body| body.contains("gpt-5")).count();
    assert_eq!((by_writer, bodies.len()), (1, 3));
}

#[tokio::test]
async fn the_tokens_of_an_answer_that_broke_off_count() {
    let long = "one word after another ".repeat(400);
    let double = double(move |_: &Asked| Answer::text(long.clone())).await;
    double.fail_next("cut:at=6000".parse().unwrap());
    let mut session = session().await;
    session.append(Message::user("Go.")).await.unwrap();
    let mut run = agent(&double).start(&transport(), session).unwrap();
    let told = events(&mut run).await;
    assert!(told.iter().any(|event| matches!(event, Event::BrokeOff(_))));
    let ended = run.finish().await.unwrap();
    let kept = Spent::from(ended.session.conversation().usage().lifetime);
    assert!(kept.total() > 0);
    assert_eq!(ended.used.tokens, kept.total());
}

#[tokio::test]
async fn a_limit_that_a_sub_agent_reaches_ends_it_and_those_above_it() {
    let double =
        double(|asked: &Asked| match (says(asked, "You look for causes."), n_said(asked)) {
            (false, 0) => Answer::new().with_call("scout", &json!({"task": "Look."})),
            (true, _) => Answer::text("On and on.").with_call("echo", &json!({"name": "a"})),
            _ => Answer::text(results(asked).join(" ")),
        })
        .await;
    let mut limits = Limits::default();
    limits.tokens = Some(4_000);
    let scout = Agent::new("scout").with_role("You look for causes.").with_tool(echo());
    let main = agent(&double).with_sub_agent(scout).with_limits(limits);
    let ended = main.run(&transport(), session().await, "Go.").await.unwrap();
    assert_eq!(ended.end, End::OutOfBudget(Limit::Tokens));
    assert_eq!(ended.used.tokens, reported(&double));
    let report = ended.session.conversation().visible().rev().find(|m| m.as_result().is_some());
    let report = report.unwrap().text().into_owned();
    assert!(report.starts_with("[scout: out of budget: its limit of tokens]"), "{report}");
    assert!(report.ends_with("On and on."), "{report}");
    assert!(double.requests().iter().all(|request| request.status == 200));
}

#[tokio::test]
async fn no_call_is_begun_when_the_time_is_over() {
    let double = double(|asked: &Asked| Answer::text(results(asked).join(" "))).await;
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = ran.clone();
    let count = changing("count", move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok("done".into()) }
    });
    let mut limits = Limits::default();
    limits.time = Some(Duration::ZERO);
    // A run before left a call open.
    let mut session = session().await;
    session.append(Message::user("Go.")).await.unwrap();
    let call = ToolCall::new("call_0", "count", r#"{"name":"a"}"#).unwrap();
    session.append(Message::assistant_parts([call.into()]).unwrap()).await.unwrap();
    let agent = agent(&double).with_tool(count);
    let late = agent.clone().with_limits(limits);
    let ended = late.start(&transport(), session).unwrap().finish().await.unwrap();
    assert_eq!(ended.end, End::OutOfBudget(Limit::Time));
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    let again = agent.start(&transport(), ended.session).unwrap().finish().await.unwrap();
    assert!(again.text.contains("This call was not run"), "{}", again.text);
    assert_eq!(again.end, End::Completed);
}
