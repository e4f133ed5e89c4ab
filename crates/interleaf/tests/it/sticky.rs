//! A context block that stays where it was: the session remembers, wherever it is made.

use interleaf::assemble::{OpenBlock, PlacementRule, Recipe};
use interleaf::conversation::{Operation, Truncate};
use interleaf::model::{ContextKind, Message, MessageId};
use interleaf::wire::{Family, Vendor};
use interleaf::{Session, Target};
use interleaf_samples::generate::agent_session;

use crate::{block_on, memory, target_of};

fn target() -> Target {
    target_of(Vendor::of(Family::OpenaiChat), "a-model")
}

fn shown(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

fn recipe(todo: &str) -> Recipe {
    let mut recipe =
        Recipe::new().with_rule(PlacementRule::Sticky(8)).with_context(ContextKind::Todo, todo);
    recipe.open_block = OpenBlock::Mend;
    recipe
}

/// The next request, as bytes, and the message that its block stands after.
async fn next(session: &mut Session, recipe: &Recipe) -> (String, Option<MessageId>) {
    let request = session.request(recipe, &target()).await.unwrap().request().unwrap();
    (shown(&request.body.to_bytes()), request.report.placement.unwrap().after)
}

/// A session with a request after each message.
async fn played(session: &mut Session, messages: &[Message], recipe: &Recipe) {
    for message in messages {
        session.append(message.clone()).await.unwrap();
        next(session, recipe).await;
    }
}

#[test]
fn c6_a_sticky_block_is_found_again_by_a_resume_another_node_and_a_fork() {
    block_on(async {
        let store = memory().await;
        let mut session = Session::create(store.clone(), "").await.unwrap();
        let mut other = Session::open(store.clone(), session.id()).await.unwrap();
        let mut places = Vec::new();
        for (n, message) in agent_session(60).into_iter().enumerate() {
            session.append(message).await.unwrap();
            // Every twenty messages it says something else.
            let recipe = recipe(&format!("item {}", n / 20));
            let mut fork = session.fork("a fork").await.unwrap();
            let mut fork_of_fork = fork.fork("another").await.unwrap();
            let mut opened = Session::open(store.clone(), fork.id()).await.unwrap();
            other.refresh().await.unwrap();
            let expected = match n % 2 {
                0 => next(&mut session, &recipe).await,
                _ => next(&mut other, &recipe).await,
            };
            for node in [&mut fork, &mut fork_of_fork, &mut opened] {
                let made = node.preview(&recipe, &target()).await.unwrap().request().unwrap();
                assert_eq!(shown(&made.body.to_bytes()), expected.0, "after {n}");
            }
            session.refresh().await.unwrap();
            places.push(expected.1);
        }
        let n_requests = places.len();
        places.dedup();
        assert!(places.len() < n_requests / 2, "it moved {} times", places.len());
    });
}

#[test]
fn c6_after_a_rollback_a_sticky_block_stands_where_it_stood_then() {
    block_on(async {
        let messages = agent_session(40);
        let recipe = recipe("mend the horn");
        let store = memory().await;
        let mut session = Session::create(store.clone(), "").await.unwrap();
        played(&mut session, &messages[..20], &recipe).await;
        let mut as_it_was = session.fork("went on").await.unwrap();
        // What comes now is taken back: a shorter view, in which the block moves.
        let cut = Truncate { keep_last: Some(6), ..Truncate::default() };
        session.operate(Operation::Truncate(cut)).await.unwrap();
        played(&mut session, &messages[20..30], &recipe).await;
        let (_, moved) = next(&mut session, &recipe).await;
        session.roll_back(0).await.unwrap();
        let mut opened = Session::open(store.clone(), session.id()).await.unwrap();
        let expected = next(&mut as_it_was, &recipe).await;
        assert_ne!(expected.1, moved);
        let seen = opened.preview(&recipe, &target()).await.unwrap().request().unwrap();
        assert_eq!(shown(&seen.body.to_bytes()), expected.0);
        assert_eq!(next(&mut session, &recipe).await, expected);
    });
}
