//! What an agent's requests show, told beforehand and afterwards.

use interleaf::model::{ContextKind, Message};
use interleaf_agent::{Agent, tools};
use interleaf_doubles::{Answer, Asked};
use serde_json::json;

use crate::world::{FAMILIES, agent, double, n_said, says, session, target, transport};

fn planner(asked: &Asked) -> Answer {
    match n_said(asked) {
        0 => Answer::new().with_call("todo_add", &json!({"items": ["find the key"]})),
        _ => Answer::text("I have a list."),
    }
}

#[tokio::test]
async fn a_session_tells_what_its_last_request_showed_of_the_context_on_every_api() {
    for family in FAMILIES {
        let double = double(planner).await;
        let agent = Agent::new("planner")
            .with_target(target(family, &double))
            .with_role("You plan.")
            .without_instructions();
        let agent = tools::keeping().into_iter().fold(agent, Agent::with_shared_tool);
        let mut session = session().await;
        assert!(session.sent_context().await.unwrap().is_none(), "{family}");
        session.append(Message::user("Plan.")).await.unwrap();
        let run = agent.start(&transport(), session).unwrap();
        let mut session = run.finish().await.unwrap().session;
        let sent = session.sent_context().await.unwrap().unwrap();
        assert_eq!(sent.request.number, 1, "{family}");
        let kinds: Vec<&ContextKind> = sent.sources.iter().map(|source| &source.kind).collect();
        assert_eq!(kinds, [&ContextKind::Role, &ContextKind::Todo], "{family}");
        let usage = sent.request.usage.unwrap();
        for source in &sent.sources {
            assert!(source.at > 0 && source.at < sent.messages, "{family}: {source:?}");
            assert!((1..200).contains(&source.tokens), "{family}: {source:?}");
            // Nothing of so short a prompt is kept.
            assert_eq!((source.is_read, usage.cache_read), (Some(false), 0), "{family}");
            assert_eq!(source.cost, Some(source.tokens as f64), "{family}");
        }
        let context = sent.tokens.unwrap().context as f64;
        let told: u64 = sent.sources.iter().map(|source| source.tokens).sum();
        assert!((told as f64 / context - 1.0).abs() < 0.3, "{family}: {told} of {context}");
    }
}

#[tokio::test]
async fn the_recipe_of_the_next_request_is_what_that_is_made_from() {
    let double = double(planner).await;
    let planner = tools::keeping().into_iter().fold(agent(&double), Agent::with_shared_tool);
    let mut session = session().await;
    session.append(Message::user("Plan.")).await.unwrap();
    let (recipe, mut session) = planner.recipe(&transport(), session).await.unwrap();
    let target = planner.targets()[0].clone();
    let made = session.preview(&recipe, &target).await.unwrap().request().unwrap();
    let run = planner.start(&transport(), session).unwrap();
    run.finish().await.unwrap();
    let body: serde_json::Value = serde_json::from_slice(&made.body.to_bytes()).unwrap();
    let mut sent = double.requests()[0].body.clone();
    // The run asks for a stream.
    sent.as_object_mut().unwrap().remove("stream");
    assert_eq!(sent, body);
}

#[tokio::test]
async fn an_agent_without_its_environment_says_nothing_of_the_machine_and_asks_whom_it_is_told_to()
{
    let double = double(|_| Answer::text("Yes.")).await;
    let told = agent(&double).in_folder(std::env::temp_dir());
    let silent = told.clone().without_environment();
    let family = interleaf::wire::Family::OpenaiChat;
    let silent = silent.asking(target(family, &double));
    for agent in [told, silent] {
        agent.run(&transport(), session().await, "Well?").await.unwrap();
    }
    let asked: Vec<Asked> = double.requests().into_iter().filter_map(|it| it.asked).collect();
    let folder = std::env::temp_dir().display().to_string();
    assert!(says(&asked[0], &folder) && !says(&asked[1], &folder));
    assert_eq!((asked[0].model.as_str(), asked[1].model.as_str()), ("claude-sonnet-4-5", "gpt-5"));
}
