//! Runs that come to a limit.

use std::time::Duration;

use interleaf::Session;
use interleaf::model::Message;
use interleaf::wire::Family;
use interleaf_agent::{Agent, End, Event, Limit, Limits};
use interleaf_doubles::{Answer, Asked};
use serde_json::json;

use crate::world::{agent, changing, double, echo, events, session, target, transport};

fn endless(_: &Asked) -> Answer {
    Answer::text("And again.").with_call("echo", &json!({"name": "a"}))
}

fn limited(set: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    set(&mut limits);
    limits
}

#[tokio::test]
async fn a_run_ends_at_its_limit_and_the_session_goes_on_from_there() {
    let double = double(endless).await;
    for (limit, limits) in [
        (Limit::Rounds, limited(|limits| limits.rounds = Some(3))),
        (Limit::Tokens, limited(|limits| limits.tokens = Some(500))),
        (Limit::Money, limited(|limits| limits.money = Some("0.002".parse().unwrap()))),
    ] {
        let agent = agent(&double).with_tool(echo()).with_limits(limits);
        let ended = agent.run(&transport(), session().await, "Go.").await.unwrap();
        assert_eq!(ended.end, End::OutOfBudget(limit));
        assert_eq!(ended.text, "And again.");
        assert!(ended.session.open_calls().is_empty());
        let again = agent.run(&transport(), ended.session, "Go on.").await.unwrap();
        assert_eq!(again.end, End::OutOfBudget(limit));
    }
    assert!(double.requests().iter().all(|request| request.status == 200));
}

#[tokio::test]
async fn the_limit_of_time_ends_a_call_that_runs_and_an_answer_that_comes() {
    let limits = || limited(|limits| limits.time = Some(Duration::from_millis(600)));
    let calling =
        double(|_: &Asked| Answer::new().with_call("endless", &json!({"name": "a"}))).await;
    let endless = changing("endless", |_, _| std::future::pending());
    let agent_that_calls = agent(&calling).with_tool(endless).with_limits(limits());
    let ended = agent_that_calls.run(&transport(), session().await, "Go.").await.unwrap();
    assert_eq!(ended.end, End::OutOfBudget(Limit::Time));
    let silent = double(|_: &Asked| Answer::text("word ".repeat(2_000))).await;
    silent.fail_next("stall:at=3000:ms=600000".parse().unwrap());
    let agent_that_waits = agent(&silent).with_limits(limits());
    let ended = agent_that_waits.run(&transport(), session().await, "Go.").await.unwrap();
    assert_eq!(ended.end, End::OutOfBudget(Limit::Time));
}

#[tokio::test]
async fn a_limit_of_money_that_cannot_hold_is_told_at_the_start() {
    let double = double(|_: &Asked| Answer::text("Done.")).await;
    let mut unknown = target(Family::Anthropic, &double);
    unknown.options.model = "claude-of-my-own".into();
    let unpriced = async |agent: Agent| {
        let mut run = agent.start(&transport(), told_to_go().await).unwrap();
        let told = events(&mut run).await;
        let mut told = told.into_iter().filter_map(|event| match event {
            Event::Unpriced(models) => Some(models),
            _ => None,
        });
        (told.next(), told.next())
    };
    let limits = limited(|limits| limits.money = Some("1".parse().unwrap()));
    let limited = agent(&double).with_limits(limits);
    assert_eq!(unpriced(limited.clone()).await, (None, None));
    let told = vec!["anthropic/claude-of-my-own".to_owned()];
    assert_eq!(unpriced(limited.with_target(unknown.clone())).await, (Some(told), None));
    // Without a limit there is nothing to tell.
    assert_eq!(unpriced(agent(&double).with_target(unknown)).await, (None, None));
}

async fn told_to_go() -> Session {
    let mut session = session().await;
    session.append(Message::user("Go.")).await.unwrap();
    session
}
