//! What the impact of a request tells of the context: which source broke the prefix, and what
//! became of it.

use std::sync::Arc;

use interleaf::assemble::{Carrier, OpenBlock, Recipe};
use interleaf::conversation::{Operation, Truncate};
use interleaf::model::{ContextKind, Message, notation};
use interleaf::wire::{Family, Vendor};
use interleaf::{BreakCause, ContextChange, Impact, Session, Target};

use crate::{block_on, memory, target_of};

fn recipe(rule: &str, todo: &str) -> Recipe {
    let mut recipe = Recipe::new()
        .with_system("You are a careful agent.")
        .with_rule(rule.parse().unwrap())
        .with_context(ContextKind::Role, "You mend clocks.");
    if !todo.is_empty() {
        recipe = recipe.with_context(ContextKind::Todo, todo);
    }
    recipe.open_block = OpenBlock::Mend;
    recipe
}

async fn sent(session: &mut Session, recipe: &Recipe, target: &Target) -> Impact {
    session.request(recipe, target).await.unwrap().request().unwrap().impact
}

async fn asked(question: &str) -> Session {
    let mut session = Session::create(memory().await, "").await.unwrap();
    session.append(Message::user(question)).await.unwrap();
    session
}

fn todo(change: ContextChange) -> BreakCause {
    BreakCause::Context { source: "todo".into(), change }
}

#[test]
fn h2_what_became_of_a_source_is_told_where_it_is_amended() {
    let cases = [
        ("1. wind it", "1. wind it\n2. set it", ContextChange::Changed),
        ("1. wind it\n2. set it", "1. oil it", ContextChange::Changed),
        ("1. wind it", "", ContextChange::Removed),
        ("", "1. wind it", ContextChange::Added),
    ];
    block_on(async {
        for family in Family::ALL {
            let target = target_of(Vendor::of(family), "a-model");
            for rule in ["delta", "auto"] {
                for (before, after, change) in cases {
                    let mut session = asked("What is left to do?").await;
                    sent(&mut session, &recipe(rule, before), &target).await;
                    // The question stays last, so that what is new stands before it.
                    let told = sent(&mut session, &recipe(rule, after), &target).await;
                    assert_eq!(told.cause, todo(change), "{family} {rule} {before:?} {after:?}");
                }
            }
        }
    });
}

#[test]
fn h2_an_operation_that_takes_away_what_a_source_stood_after_is_told_by_its_name() {
    block_on(async {
        let target = target_of(Vendor::of(Family::OpenaiChat), "a-model");
        let mut session = asked("Which clocks?").await;
        sent(&mut session, &recipe("delta", ""), &target).await;
        let recipe = recipe("delta", "1. wind it");
        for said in ["a Two.\nu And the third?", "a It is gone.\nu Where?"] {
            session
                .append_all(notation::parse(said).unwrap().into_iter().map(Arc::new))
                .await
                .unwrap();
            sent(&mut session, &recipe, &target).await;
        }
        // The message that the list stood after is not visible any more.
        let cut = Truncate { keep_last: Some(1), ..Truncate::default() };
        session.operate(Operation::Truncate(cut)).await.unwrap();
        let told = sent(&mut session, &recipe, &target).await;
        assert_eq!(told.cause, BreakCause::Operation { names: vec!["truncate".into()] });
    });
}

#[test]
fn h2_context_that_a_result_carries_is_told_as_context_and_the_result_is_shared() {
    block_on(async {
        for family in Family::ALL {
            let target = target_of(Vendor::of(family), "a-model");
            for rule in ["tail", "after_tool_result(1)"] {
                let mut session = asked("Which clocks are late?").await;
                let recipe = recipe(rule, "1. wind it").with_carrier(Carrier::Attached);
                for n in 0..5 {
                    let words = format!("clock {n} is late by {n} minutes");
                    let said = format!("a [call c{n} look]\nt c{n}= {words}");
                    session
                        .append_all(notation::parse(&said).unwrap().into_iter().map(Arc::new))
                        .await
                        .unwrap();
                    let request =
                        session.request(&recipe, &target).await.unwrap().request().unwrap();
                    if n < 2 {
                        continue;
                    }
                    let told = &request.impact;
                    let BreakCause::Context { change, .. } = told.cause else {
                        panic!("{family} {rule} {n}: {told:?}")
                    };
                    assert_eq!(change, ContextChange::Moved, "{family} {rule}");
                    // What the result itself says stands before the place where the two part.
                    let body = String::from_utf8(request.body.to_bytes()).unwrap();
                    let carried = format!("clock {} is late by {} minutes", n - 1, n - 1);
                    let end = body.find(&carried).unwrap() + carried.len();
                    let place = told.place.as_ref().unwrap();
                    assert!(place.byte >= end as u64, "{family} {rule} {n}: {told:?}");
                }
            }
        }
    });
}
