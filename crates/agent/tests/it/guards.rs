//! Hooks of a main agent have a say in the calls of its sub-agents, and a person is asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use interleaf::model::ToolCall;
use interleaf_agent::settings::{Ask, Guard, Permissions, Word};
use interleaf_agent::{Agent, Allow, Boxed, Effect, Hook, Scene};
use interleaf_doubles::{Answer, Asked};
use serde_json::json;

use crate::world::{agent, changing, double, n_said, results, says, session, transport};

struct Refuses;

impl Hook for Refuses {
    fn before_call<'a>(&'a self, call: &'a ToolCall, _: Effect, _: &'a Scene) -> Boxed<'a, Allow> {
        let allow = match call.name.as_str() {
            "wind" => Allow::Refuse("not today".to_owned()),
            _ => Allow::Run,
        };
        Box::pin(async move { allow })
    }
}

#[tokio::test]
async fn what_a_hook_of_the_main_agent_refuses_no_sub_agent_may_do_either() {
    let double = double(|asked: &Asked| match (says(asked, "You wind clocks."), n_said(asked)) {
        (false, 0) => Answer::new().with_call("winder", &json!({"task": "Wind it."})),
        (true, 0) => Answer::new().with_call("wind", &json!({"name": "clock"})),
        (_, _) => Answer::text(results(asked).join(" ")),
    })
    .await;
    let winder = Agent::new("winder")
        .with_role("You wind clocks.")
        .without_instructions()
        .with_tool(changing("wind", |_, _| async { Ok("It was wound.".into()) }));
    let main = agent(&double).with_hook(Refuses).with_sub_agent(winder);
    let ended = main.run(&transport(), session().await, "Wind the clock.").await.unwrap();
    assert!(ended.text.contains("not today"), "{}", ended.text);
    assert!(!ended.text.contains("It was wound."), "{}", ended.text);
}

/// Says the word, and counts how often it was asked for.
struct Says(Word, Arc<AtomicUsize>);

impl Ask for Says {
    fn ask<'a>(&'a self, _: &'a ToolCall, _: &'a Scene) -> Boxed<'a, Word> {
        self.1.fetch_add(1, Ordering::SeqCst);
        let word = self.0.clone();
        Box::pin(async move { word })
    }
}

#[tokio::test]
async fn a_guard_has_a_person_asked_until_a_tool_is_always_allowed() {
    let why = || Word::No("it ticks".to_owned());
    for (word, n_asked, told) in [
        (Word::Yes, 2, "It was wound."),
        (Word::Always, 1, "It was wound."),
        (why(), 2, "it ticks"),
    ] {
        let double = double(|asked: &Asked| match n_said(asked) {
            0 | 1 => Answer::new().with_call("wind", &json!({"name": "clock"})),
            _ => Answer::text(results(asked).join(" ")),
        })
        .await;
        let times = Arc::new(AtomicUsize::new(0));
        let agent = agent(&double)
            .with_tool(changing("wind", |_, _| async { Ok("It was wound.".into()) }))
            .with_hook(Guard::new(Permissions::default(), Says(word.clone(), times.clone())));
        let ended = agent.run(&transport(), session().await, "Wind it.").await.unwrap();
        assert_eq!(ended.text.matches(told).count(), 2, "{word:?}: {}", ended.text);
        assert_eq!(times.load(Ordering::SeqCst), n_asked, "{word:?}");
    }
}
