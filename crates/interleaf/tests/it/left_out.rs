//! What the last request had, and a recipe has not, is known from what was recorded.

use std::sync::Arc;

use interleaf::assemble::{ContextText, Recipe};
use interleaf::model::{ContextKind, Json, Message, Tool, notation};
use interleaf::replay::Turn;
use interleaf::wire::{CacheMarks, Family, Vendor};
use interleaf::{BreakCause, Session};

use crate::{block_on, memory, target_of};

const SYSTEM: &str = "You mend programs.\nBe careful.";

fn tools() -> Arc<[Tool]> {
    let schema = Json::parse(r#"{"type":"object","properties":{"path":{"type":"string"}}}"#);
    // The APIs do not take this name: it is rewritten, and stored with the request.
    [Tool::new("files.read", "Reads a file.", schema.unwrap())].into()
}

fn full() -> Recipe {
    Recipe::new().with_system(SYSTEM).with_tools(tools())
}

#[test]
fn h9_the_system_text_and_the_tools_of_the_last_request_are_found_on_every_api() {
    block_on(async {
        for family in Family::ALL {
            let to = target_of(Vendor::of(family), "a-model");
            for own in [&[][..], &["You are in a bakery."]] {
                let mut session = Session::create(memory().await, "").await.unwrap();
                assert!(session.left_out(&Recipe::new()).await.unwrap().is_none());
                for text in own {
                    session.append(Message::system(text)).await.unwrap();
                }
                session.append(Message::user("Which files?")).await.unwrap();
                session.request(&full(), &to).await.unwrap();
                assert!(session.left_out(&full()).await.unwrap().is_none(), "{family}");

                let mut bare = Recipe::new();
                let left_out = session.left_out(&bare).await.unwrap().unwrap();
                assert_eq!((left_out.request, left_out.context.len()), (0, 0), "{family}");
                assert_eq!(left_out.to_string(), "request 0 had a system text and 1 tool");
                left_out.add_to(&mut bare);
                let next = session.preview(&bare, &to).await.unwrap().request().unwrap();
                assert_eq!(next.impact.cause, BreakCause::Same, "{family}");
            }
        }
    });
}

#[test]
fn h9_marks_for_the_cache_are_no_part_of_the_tools_of_the_last_request() {
    block_on(async {
        for family in Family::ALL {
            let mut session = Session::create(memory().await, "").await.unwrap();
            session.append(Message::user("What is here?")).await.unwrap();
            let mut target = target_of(Vendor::of(family), "a-model");
            let mut found = Vec::new();
            for cache in [CacheMarks::Off, CacheMarks::On] {
                target.options.cache = cache;
                session.record(&full(), &target).await.unwrap();
                found.push(session.left_out(&Recipe::new()).await.unwrap().unwrap().tools);
            }
            assert_eq!(found[0], found[1], "{family:?}");
            let scripts = session.scripts(|| {}).await.unwrap();
            let notes = scripts[0].notes.join("\n");
            assert!(!notes.contains("the tools or their order changed"), "{family:?}: {notes}");
        }
    });
}

#[test]
fn h9_tools_that_an_api_wants_declared_for_the_history_are_not_left_out() {
    block_on(async {
        for family in Family::ALL {
            let to = target_of(Vendor::of(family), "a-model");
            let mut session = Session::create(memory().await, "").await.unwrap();
            let said = notation::parse("u Which files?\na [call c1 ls]\nt c1= src").unwrap();
            session.append_all(said.into_iter().map(Arc::new)).await.unwrap();
            session.request(&Recipe::new(), &to).await.unwrap();
            let left_out = session.left_out(&Recipe::new()).await.unwrap();
            assert!(left_out.is_none(), "{family}: {left_out:?}");
            let scripts = session.scripts(|| {}).await.unwrap();
            let mut turns = scripts.iter().flat_map(|script| &script.turns);
            assert_eq!(turns.clone().count(), 1, "{family}");
            let has_tools = |turn: &Turn| turn.head.as_ref().is_some_and(|h| !h.tools.is_empty());
            assert!(!turns.any(has_tools), "{family}");
        }
    });
}

#[test]
fn h9_only_what_a_recipe_has_nothing_of_is_left_out() {
    block_on(async {
        let to = target_of(Vendor::of(Family::OpenaiChat), "a-model");
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("Which files?")).await.unwrap();
        let mut recipe = full();
        recipe.context.push(ContextText::new(ContextKind::Role, "a keeper"));
        recipe.context.push(ContextText::new(ContextKind::Info, "the lamp is on"));
        session.request(&recipe, &to).await.unwrap();
        recipe.system = vec!["Be brief.".into()];
        recipe.context.pop();
        let left_out = session.left_out(&recipe).await.unwrap().unwrap();
        assert_eq!((left_out.system.len(), left_out.tools.len()), (0, 0));
        assert_eq!(left_out.to_string(), "request 0 had context (info)");
        let left_out = session.left_out(&Recipe::new()).await.unwrap().unwrap();
        assert_eq!(
            left_out.to_string(),
            "request 0 had a system text, 1 tool and context (role, info)"
        );
        let mut bare = Recipe::new();
        left_out.add_to(&mut bare);
        let texts: Vec<&str> = bare.context.iter().map(|context| &*context.text).collect();
        assert_eq!(texts, ["a keeper", "the lamp is on"]);
    });
}

#[test]
fn h9_the_rule_of_the_last_request_is_used_unless_another_is_given() {
    block_on(async {
        let to = target_of(Vendor::of(Family::OpenaiChat), "a-model");
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("Which files?")).await.unwrap();
        session.request(&full().with_rule("delta".parse().unwrap()), &to).await.unwrap();
        let mut recipe = full();
        let left_out = session.left_out(&recipe).await.unwrap().unwrap();
        assert_eq!(left_out.to_string(), "request 0 had the rule delta(24)");
        left_out.add_to(&mut recipe);
        assert_eq!(recipe.rule.to_string(), "delta(24)");
        let tail = full().with_rule("tail".parse().unwrap());
        assert!(session.left_out(&tail).await.unwrap().is_none());
    });
}
