//! The loop: ask, run, ask again.

use std::time::Duration;

use interleaf::model::{Message, Role};
use interleaf_agent::{Agent, End, Event};
use interleaf_doubles::{Answer, Asked};
use serde_json::json;

use crate::world::{
    FAMILIES, agent, double, echo, events, n_said, results, says, session, target, transport,
};

/// Calls twice at once, then once, then ends.
fn brain(asked: &Asked) -> Answer {
    match n_said(asked) {
        0 => Answer::text("I look.")
            .with_call("echo", &json!({"name": "a"}))
            .with_call("echo", &json!({"name": "b"})),
        1 => Answer::new().with_call("echo", &json!({"name": "c"})),
        _ => Answer::text(format!("They said {}.", results(asked).join(", "))),
    }
}

#[tokio::test]
async fn an_agent_runs_the_calls_of_its_answers_and_ends_with_its_last_word_on_every_api() {
    for family in FAMILIES {
        let double = double(brain).await;
        let agent = Agent::new("mender")
            .with_target(target(family, &double))
            .with_role("You mend clocks.")
            .with_tool(echo());
        let ended = agent.run(&transport(), session().await, "Look.").await.unwrap();
        assert_eq!(ended.end, End::Completed, "{family}");
        assert_eq!(ended.text, "They said a!, b!, c!.", "{family}");
        assert_eq!(ended.used.rounds, 3, "{family}");
        assert!(ended.used.tokens > 0, "{family}");
        assert!(double.requests().iter().all(|request| request.status == 200), "{family}");
        let roles: Vec<Role> =
            ended.session.conversation().visible().map(|message| message.role()).collect();
        use Role::{Assistant, Tool, User};
        assert_eq!(roles, [User, Assistant, Tool, Tool, Assistant, Tool, Assistant], "{family}");
    }
}

#[tokio::test]
async fn what_happens_is_told_in_its_order() {
    let double = double(brain).await;
    let mut session = session().await;
    session.append(Message::user("Look.")).await.unwrap();
    let mut run = agent(&double).with_tool(echo()).start(&transport(), session).unwrap();
    let told = events(&mut run).await;
    let mut line = Vec::new();
    for event in &told {
        line.push(match event {
            Event::Text(_) => "text".to_owned(),
            Event::Answered(answer) => format!("answer {}", answer.reply.message.calls().count()),
            Event::Started(call) => format!("call {}", call.name),
            Event::Result(result) => format!("result {}", result.text()),
            Event::Ended(end) => end.to_string(),
            other => format!("{other:?}"),
        });
    }
    line.dedup();
    let told = line.join(" · ");
    assert_eq!(
        told,
        "text · answer 2 · call echo · result a! · result b! · answer 1 · call echo · result c! · \
         text · answer 0 · completed"
    );
    assert_eq!(run.finish().await.unwrap().end, End::Completed);
}

#[tokio::test]
async fn what_is_said_while_it_runs_is_heard_before_the_next_request_or_at_the_end() {
    let double = double(|asked: &Asked| match n_said(asked) {
        0 => Answer::new().with_call("slow", &json!({"name": "a"})),
        1 if says(asked, "Stop at once.") => Answer::text("I stop."),
        1 => Answer::text("I was told nothing."),
        _ if says(asked, "And now?") => Answer::text("Now I rest."),
        _ => Answer::text("What?"),
    })
    .await;
    let (open, gate) = tokio::sync::watch::channel(false);
    let slow = crate::world::changing("slow", move |_, _| {
        let mut gate = gate.clone();
        async move {
            gate.wait_for(|open| *open).await?;
            Ok("late".into())
        }
    });
    let mut session = session().await;
    session.append(Message::user("Go.")).await.unwrap();
    let mut run = agent(&double).with_tool(slow).start(&transport(), session).unwrap();
    let handle = run.handle();
    while let Some(event) = run.next().await {
        if matches!(event, Event::Started(_)) {
            assert!(handle.say_when_idle("And now?"));
            assert!(handle.say("Stop at once."));
            open.send_replace(true);
        }
    }
    let ended = run.finish().await.unwrap();
    assert_eq!(ended.text, "Now I rest.");
    let said: Vec<String> =
        ended.session.conversation().visible().map(|m| m.text().into_owned()).collect();
    assert_eq!(said, ["Go.", "", "late", "Stop at once.", "I stop.", "And now?", "Now I rest."]);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again() {
    let long = "one word after another ".repeat(400);
    let double = double(move |_: &Asked| Answer::text(long.clone())).await;
    double.fail_next("cut:at=6000".parse().unwrap());
    let mut session = session().await;
    session.append(Message::user("Go.")).await.unwrap();
    let mut run = agent(&double).start(&transport(), session).unwrap();
    let told = events(&mut run).await;
    assert_eq!(told.iter().filter(|event| matches!(event, Event::BrokeOff(_))).count(), 1);
    assert_eq!(run.finish().await.unwrap().end, End::Completed);
}

#[tokio::test]
async fn an_agent_that_cannot_ask_fails_with_the_reason() {
    let double = double(brain).await;
    let target = target(interleaf::wire::Family::Anthropic, &double);
    drop(double);
    let retries = interleaf_transport::Retries::at_most(0);
    let transport =
        interleaf_transport::Transport::builder().no_proxy().retries(retries).build().unwrap();
    let agent = Agent::new("mender").with_target(target).with_role("You mend clocks.");
    let run = agent.run(&transport, session().await, "Look.");
    let ended = tokio::time::timeout(Duration::from_secs(120), run).await.unwrap().unwrap();
    let End::Failed(why) = ended.end else { panic!("{:?}", ended.end) };
    assert!(why.contains("127.0.0.1"), "{why}");
}

#[tokio::test]
async fn an_agent_that_names_nobody_or_two_tools_alike_is_refused_before_anything_runs() {
    let double = double(brain).await;
    let nobody = Agent::new("mender").start(&transport(), session().await);
    assert!(nobody.err().unwrap().to_string().contains("the agent mender: no model is set"));
    let twice = agent(&double).with_tool(echo()).with_tool(echo());
    let twice = twice.start(&transport(), session().await);
    assert!(twice.err().unwrap().to_string().contains("two of its tools are called echo"));
    assert!(double.requests().is_empty());
}
