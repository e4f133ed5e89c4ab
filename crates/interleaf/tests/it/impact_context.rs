//! What the impact of a request tells of the context: which source broke the prefix, and what
//! became of it.

use std::sync::Arc;

use interleaf::assemble::{Budget, Carrier, OpenBlock, Part, Rebase, Recipe, Shares};
use interleaf::conversation::{Operation, Truncate};
use interleaf::model::{ContextKind, Message, Tool, notation};
use interleaf::wire::{Family, Vendor};
use interleaf::{BreakCause, ContextChange, Impact, Session, Target};

use serde_json::json;

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
fn h2_what_took_messages_away_is_told_also_where_all_of_the_context_is_said_anew_for_it() {
    block_on(async {
        for rule in ["delta", "auto", "tail"] {
            let target = target_of(Vendor::of(Family::OpenaiChat), "a-model");
            let mut session = asked("Find it.").await;
            for n in 0..4 {
                sent(&mut session, &recipe(rule, &format!("step {n}")), &target).await;
                let found = "it is not here ".repeat(60);
                let said = format!("a [call c{n} look]\nt c{n}= {found}");
                let said = notation::parse(&said).unwrap().into_iter().map(Arc::new);
                session.append_all(said).await.unwrap();
            }
            let recipe = recipe(rule, "step 3");
            let cut = Truncate { remove_first: Some(3), ..Truncate::default() };
            session.operate(Operation::Truncate(cut)).await.unwrap();
            let told = session.preview(&recipe, &target).await.unwrap().request().unwrap().impact;
            let names = vec!["truncate".into()];
            assert_eq!(told.cause, BreakCause::Operation { names }, "{rule}");
            // An operation that was rolled back has changed nothing: it is the window.
            session.roll_back(0).await.unwrap();
            let small = recipe.with_budget(Budget::of_window(700));
            let told = session.preview(&small, &target).await.unwrap().request().unwrap().impact;
            let BreakCause::Shortened { message, .. } = &told.cause else {
                panic!("{rule}: {}", told.cause)
            };
            // The first result is the first to give way.
            assert_eq!(message, &session.conversation().message(2).unwrap().id, "{rule}");
        }
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

#[test]
fn h2_context_in_another_carrier_is_told_as_that() {
    let carriers = [Carrier::Message, Carrier::Attached];
    block_on(async {
        for family in Family::ALL {
            let target = target_of(Vendor::of(family), "a-model");
            for [from, to] in [carriers, [carriers[1], carriers[0]]] {
                let mut session = asked("Which clocks are late?").await;
                let said = notation::parse("a [call c1 look]\nt c1= none").unwrap();
                session.append_all(said.into_iter().map(Arc::new)).await.unwrap();
                let recipe = |carrier| recipe("tail", "1. wind it").with_carrier(carrier);
                sent(&mut session, &recipe(from), &target).await;
                let told = sent(&mut session, &recipe(to), &target).await;
                let change = ContextChange::Carried;
                let source = "role".into();
                assert_eq!(told.cause, BreakCause::Context { source, change }, "{family} {from:?}");
            }
        }
    });
}

#[test]
fn h2_a_source_that_comes_or_goes_is_told_as_that_in_every_carrier() {
    block_on(async {
        let target = target_of(Vendor::of(Family::OpenaiChat), "a-model");
        let rule = || "after_tool_result(1)".parse().unwrap();
        let bare = || Recipe::new().with_rule(rule()).with_carrier(Carrier::Attached);
        let with = || bare().with_context(ContextKind::Todo, "1. wind it");
        for (before, after, change) in
            [(bare(), with(), ContextChange::Added), (with(), bare(), ContextChange::Removed)]
        {
            let mut session = asked("Which clocks are late?").await;
            let said = notation::parse("a [call c1 look]\nt c1= none\nu And now?").unwrap();
            session.append_all(said.into_iter().map(Arc::new)).await.unwrap();
            sent(&mut session, &before, &target).await;
            let told = sent(&mut session, &after, &target).await;
            assert_eq!(told.cause, todo(change));
        }
    });
}

#[test]
fn h2_an_unchanged_source_that_is_shown_anew_to_make_room_is_told_as_said_anew() {
    block_on(async {
        let target = target_of(Vendor::of(Family::OpenaiChat), "a-model");
        let mut session = asked("Which clocks are late?").await;
        let mut changes = Vec::new();
        for n in 0..40 {
            let todo: String = (0..30)
                .map(|i| format!("{i}. wind clock {}\n", if i == n { 99 } else { i }))
                .collect();
            let mut recipe = recipe("delta(24)", &todo).with_budget(Budget::of_window(60_000));
            recipe.shares = Shares::new().with(Part::Context, "..600".parse().unwrap());
            session.append(Message::assistant("It is done.")).await.unwrap();
            session.append(Message::user("Go on.")).await.unwrap();
            let request = session.request(&recipe, &target).await.unwrap().request().unwrap();
            let rebased = request.report.elements.and_then(|elements| elements.rebased);
            if rebased == Some(Rebase::Budget) {
                changes.push(request.impact.cause);
            }
        }
        let change = ContextChange::Again;
        let anew = BreakCause::Context { source: "role".into(), change };
        assert!(changes.len() > 1 && changes.iter().all(|cause| *cause == anew), "{changes:?}");
    });
}

#[test]
fn h2_tools_in_the_system_text_are_told_as_tools() {
    block_on(async {
        let tool = |name: &&str| Tool::new(*name, "It helps.", json!({"type": "object"}));
        for family in Family::ALL {
            let mut target = target_of(Vendor::of(family), "a-model");
            let mut session = asked("Which clocks are late?").await;
            let with = |names: &[&str]| {
                recipe("tail", "1. wind it").with_tools(names.iter().map(tool).collect::<Vec<_>>())
            };
            sent(&mut session, &with(&["one"]), &target).await;
            target.text_tools = Some(true);
            let told = sent(&mut session, &with(&["one"]), &target).await;
            let switched = BreakCause::Setting { name: "text tools".into() };
            assert_eq!(told.cause, switched, "{family}");
            let told = sent(&mut session, &with(&["one", "two"]), &target).await;
            let (added, removed, changed) = (vec!["two".into()], vec![], vec![]);
            let added = BreakCause::Tools { added, removed, changed, reordered: false };
            assert_eq!(told.cause, added, "{family}");
            let mut other = with(&["one", "two"]);
            other.tools = [tool(&"one"), Tool::new("two", "It heals.", json!({}))].into();
            let told = sent(&mut session, &other, &target).await;
            let (added, removed, changed) = (vec![], vec![], vec!["two".into()]);
            let changed = BreakCause::Tools { added, removed, changed, reordered: false };
            assert_eq!(told.cause, changed, "{family}");
            target.text_tools = Some(false);
            let told = sent(&mut session, &with(&["one", "two"]), &target).await;
            assert_eq!(told.cause, switched, "{family}");
        }
    });
}

#[test]
fn h2_the_source_that_makes_a_block_move_is_told_where_it_would_have_stayed() {
    let cases = [
        ("one", "two", ContextChange::Changed),
        ("one", "", ContextChange::Removed),
        ("", "one", ContextChange::Added),
    ];
    block_on(async {
        for family in Family::ALL {
            let target = target_of(Vendor::of(family), "a-model");
            for (before, after, change) in cases {
                let mut session = asked("Which clocks are late?").await;
                let with = |info: &str| {
                    let recipe = recipe("sticky(8)", "1. wind it");
                    match info {
                        "" => recipe,
                        info => recipe.with_context(ContextKind::Info, info),
                    }
                };
                for (n, info) in [before, before, before, before, after].into_iter().enumerate() {
                    let said = format!("a [call c{n} look]\nt c{n}= none");
                    let said = notation::parse(&said).unwrap();
                    session.append_all(said.into_iter().map(Arc::new)).await.unwrap();
                    let told = sent(&mut session, &with(info), &target).await;
                    if n == 4 {
                        let source = "info".into();
                        let cause = BreakCause::Context { source, change };
                        assert_eq!(told.cause, cause, "{family} {before:?} {after:?}");
                    } else if n > 0 {
                        assert!(!told.cause.breaks(), "{family} {told:?}");
                    }
                }
            }
        }
    });
}
