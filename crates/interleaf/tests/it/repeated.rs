//! C11: how much of a request stood in the one before, told by the body that was sent.

use interleaf::assemble::{Outcome, Previous, Recipe, StablePrefix};
use interleaf::conversation::Conversation;
use interleaf::model::{ContextKind, Message, notation};
use interleaf::wire::{CacheMarks, Family};
use interleaf::{Preview, Session, Single, Target};

use crate::{block_on, memory};

const SAID: &str = "s Be brief.\nu list the files\na I look. [call c1 ls] [call c2 pwd]\nt c1= src\n\
    t c2= /home\na [call c3 cat {\"path\": \"src\"}]\nt c3! it is a folder\na It is a folder.\n\
    u and now?\na [call c4 ls {\"path\": \"src\"}]\nt c4= main.rs\na There is one file.\nu thanks\n";

fn said(n: usize) -> Conversation {
    let mut conversation = Conversation::new();
    for message in notation::parse(SAID).unwrap().into_iter().take(n) {
        conversation.append(message).unwrap();
    }
    conversation
}

fn target(family: Family) -> Target {
    let model = match family {
        Family::Anthropic => "claude-sonnet-4-5",
        Family::Bedrock => "anthropic.claude-sonnet-4-5-v1:0",
        Family::Gemini => "gemini-2.5-pro",
        Family::OpenaiChat | Family::OpenaiResponses => "gpt-4.1",
    };
    let mut target = Target::new(family.as_str(), model).unwrap();
    target.options.cache = CacheMarks::On;
    target
}

fn recipe(todo: &str) -> Recipe {
    Recipe::new().with_context(ContextKind::Todo, todo).with_context(ContextKind::Info, "x")
}

fn body(preview: &Preview) -> String {
    String::from_utf8(preview.body.as_ref().unwrap().to_bytes()).unwrap()
}

fn stable(preview: &Preview) -> StablePrefix {
    preview.assembly.report.stable_prefix.unwrap()
}

#[test]
fn a_body_tells_the_stable_prefix_that_its_messages_tell() {
    let n_said = notation::parse(SAID).unwrap().len();
    for family in Family::ALL {
        let target = target(family);
        for (before, now) in (2..n_said).flat_map(|n| (n..=n_said).map(move |now| (n, now))) {
            let [old, new] = [before, now].map(said);
            let [old_recipe, new_recipe] =
                [before, now].map(|n| recipe(&format!("step {}", n / 3)));
            let old = Single::of(&old, &old_recipe).preview(Some(&target)).unwrap();
            let Outcome::Ready(prompt) = &old.assembly.outcome else { panic!("it waits") };
            let previous = Previous::of(prompt.messages().cloned());
            let (sent, mut single) = (body(&old), Single::of(&new, &new_recipe));
            single.previous = Some(&previous);
            let by_messages = stable(&single.preview(Some(&target)).unwrap());
            (single.previous, single.sent) = (None, Some(sent.as_str()));
            let by_body = single.preview(Some(&target)).unwrap();
            assert_eq!(stable(&by_body), by_messages, "{family} {before} {now}\n{sent}");
            assert_eq!(
                body(&by_body),
                body(&Single::of(&new, &new_recipe).preview(Some(&target)).unwrap())
            );
            // Whoever makes no body, or one for another API, is told as well.
            assert_eq!(
                stable(&single.preview(None).unwrap()),
                by_messages,
                "{family} {before} {now}"
            );
        }
    }
}

#[test]
fn a_session_tells_the_body_of_an_agents_last_request_and_so_does_a_fork() {
    block_on(async {
        let store = memory().await;
        let mut session = Session::create(store.clone(), "").await.unwrap();
        session.append(Message::user("list the files")).await.unwrap();
        let target = target(Family::Anthropic).with_key("k");
        assert_eq!(session.previous_body(session.conversation(), None).await.unwrap(), None);
        let request = session.request(&recipe("one"), &target).await.unwrap().request().unwrap();
        let sent = String::from_utf8(request.body.to_bytes()).unwrap();
        let fork = session.fork("").await.unwrap();
        for session in [&session, &fork, &Session::open(store, session.id()).await.unwrap()] {
            let told = session.previous_body(session.conversation(), None).await.unwrap();
            assert_eq!(told.as_ref(), Some(&sent));
        }
    });
}

#[test]
fn what_is_no_body_is_refused() {
    let (said, recipe) = (said(2), Recipe::new());
    let mut single = Single::of(&said, &recipe);
    single.sent = Some("{\"a\": 1}");
    let refused = single.preview(Some(&target(Family::Gemini))).unwrap_err().to_string();
    assert!(refused.contains("no request body that an API takes"), "{refused}");
}

#[test]
fn a_request_that_the_api_before_would_refuse_is_made_for_another() {
    let mut conversation = Conversation::new();
    for message in notation::parse("a I am here.\nu list the files\n").unwrap() {
        conversation.append(message).unwrap();
    }
    let recipe = recipe("1. look");
    let strict = target(Family::Anthropic);
    let sent = body(&Single::of(&conversation, &recipe).preview(Some(&strict)).unwrap());
    let mut single = Single::of(&conversation, &recipe);
    single.sent = Some(&sent);
    let preview = single.preview(Some(&target(Family::OpenaiChat))).unwrap();
    assert!(matches!(preview.assembly.outcome, Outcome::Ready(_)));
}
