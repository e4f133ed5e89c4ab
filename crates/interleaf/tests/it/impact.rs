//! What a request has in common with the one before, why they part, and what that costs.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf::assemble::{Budget, Estimate, Ledger, OpenBlock, PlacementRule, Recipe, Summary};
use interleaf::cache::Rules;
use interleaf::conversation::{Clear, Operation, Truncate};
use interleaf::model::{
    Body, ContentPart, ContextKind, Finish, Image, Message, MessageId, Origin, Parts, Reply, Text,
    Tool, Usage, notation,
};
use interleaf::wire::{CacheMarks, Family, ToolChoice, Vendor};
use interleaf::{BreakCause, ContextChange, ErrorKind, Impact, Request, Session, Target, Verdict};
use interleaf_samples::generate::agent_session;
use interleaf_samples::strategy::conversation;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::{block_on, memory, target_of};

pub(crate) fn target(family: Family) -> Target {
    target_of(Vendor::of(family), "a-model")
}

fn tool(name: &str) -> Tool {
    Tool::new(name, "It helps.", json!({"type": "object"}))
}

pub(crate) fn recipe() -> Recipe {
    let mut recipe = Recipe::new()
        .with_system("You are a careful agent.")
        .with_tools([tool("one"), tool("two")])
        .with_context(ContextKind::Role, "You mend clocks.")
        .with_context(ContextKind::Todo, "1. look at the spring");
    recipe.open_block = OpenBlock::Mend;
    recipe
}

pub(crate) async fn sent(session: &mut Session, recipe: &Recipe, target: &Target) -> Request {
    session.request(recipe, target).await.unwrap().request().unwrap()
}

/// The first byte at which two bodies differ.
fn first_difference(a: &[u8], b: &[u8]) -> Option<u64> {
    let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    (shared < a.len() || shared < b.len()).then_some(shared as u64)
}

fn family() -> impl Strategy<Value = Family> {
    select(Family::ALL.as_slice())
}

/// What is different in one request from the next.
#[derive(Debug, Clone)]
struct Now {
    todo: u8,
    n_tools: usize,
    rule: PlacementRule,
    window: Option<u64>,
    is_scout: bool,
}

/// A target, of OpenAI's a model that heeds marks.
fn marked(family: Family, cache: CacheMarks) -> Target {
    let mut target = target(family);
    target.options.cache = cache;
    if matches!(family, Family::OpenaiChat | Family::OpenaiResponses) && cache == CacheMarks::On {
        target.options.model = "gpt-5.6".into();
    }
    target
}

fn now() -> impl Strategy<Value = Now> {
    let rule = select(vec![
        PlacementRule::AfterToolResult(3),
        PlacementRule::Tail,
        PlacementRule::Sticky(8),
        PlacementRule::AfterSystem,
    ]);
    let window = proptest::option::weighted(0.3, select(vec![900_u64, 1_000_000]));
    let scout = proptest::bool::weighted(0.2);
    (0..3_u8, 1..3_usize, rule, window, scout).prop_map(
        |(todo, n_tools, rule, window, is_scout)| Now { todo, n_tools, rule, window, is_scout },
    )
}

fn recipe_of(now: &Now, ledger: &Arc<Ledger>) -> Recipe {
    let mut recipe = recipe().with_rule(now.rule.clone());
    recipe.tools = (0..now.n_tools).map(|n| tool(&format!("tool{n}"))).collect();
    recipe = recipe.with_context(ContextKind::Info, format!("{} things", now.todo));
    if let Some(window) = now.window {
        recipe = recipe.with_budget(Budget::of_window(window)).with_ledger(ledger.clone());
    }
    if now.is_scout {
        recipe = recipe.with_agent(interleaf::assemble::Agent::Sub("scout".into()));
    }
    recipe
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn h2_the_first_byte_that_differs_is_that_of_the_bodies_as_sent(
        messages in conversation(4..60),
        family in family(),
        cache in select(vec![CacheMarks::Off, CacheMarks::On]),
        plan in proptest::collection::vec(now(), 1..6),
    ) {
        block_on(async {
            let store = memory().await;
            let mut session = Session::create(store.clone(), "").await.unwrap();
            let target = marked(family, cache);
            let ledger = Arc::new(Ledger::new(Arc::new(Estimate::default())));
            let mut last: [Option<(u64, Vec<u8>)>; 2] = [None, None];
            let (mut n_made, mut n_refused) = (0, 0);
            for (n, mut message) in messages.into_iter().enumerate() {
                if n % 10 > 7 {
                    message.origin = Origin::SubAgent("scout".into());
                }
                if session.append(message).await.is_err() || n % 2 == 1 {
                    continue;
                }
                let now = &plan[n / 4 % plan.len()];
                let recipe = recipe_of(now, &ledger);
                let mut opened = Session::open(store.clone(), session.id()).await.unwrap();
                let resumed = opened.preview(&recipe, &target).await;
                let made = match session.request(&recipe, &target).await {
                    Ok(made) => made,
                    Err(error) => {
                        // There is nothing to say yet, or a window is too small.
                        assert!(matches!(error.kind(), ErrorKind::Invalid | ErrorKind::TooLarge));
                        // A sub-agent may have been told nothing.
                        n_refused += usize::from(!now.is_scout && now.window != Some(900));
                        continue;
                    }
                };
                n_made += 1;
                let request = made.request().unwrap();
                let body = request.body.to_bytes();
                let before = &mut last[usize::from(now.is_scout)];
                let Impact { against, byte, cause, place, .. } = &request.impact;
                assert_eq!(*against, before.as_ref().map(|(number, _)| *number));
                let differs = before.as_ref().map(|(_, old)| first_difference(old, &body));
                assert_eq!(*byte, differs.flatten(), "{cause:?}");
                assert_eq!(before.is_none(), *cause == BreakCause::First);
                if let Some(place) = place {
                    assert!(place.token <= request.impact.tokens, "{:?}", request.impact);
                    // What is first another may be a mark, which the model does not see.
                    let longest_mark = 96;
                    assert!(place.byte + longest_mark >= byte.unwrap(), "{:?}", request.impact);
                }
                let resumed = resumed.unwrap().request().unwrap();
                assert_eq!(resumed.impact, request.impact, "resumed");
                *before = Some((request.number.unwrap(), body));
            }
            assert!(n_made > 0 || n_refused < 4, "{n_refused} requests could not be made");
        });
    }
}

/// One change, and what it must be told as.
struct Change {
    name: &'static str,
    made: fn(&mut Recipe, &mut Target),
    told: fn(&BreakCause) -> bool,
}

const CHANGES: &[Change] = &[
    Change { name: "nothing", made: |_, _| {}, told: |cause| *cause == BreakCause::Same },
    Change {
        name: "the TODO list",
        made: |recipe, _| recipe.context[1].text = "1. look at the hands".into(),
        told: |cause| is_context(cause, "todo", ContextChange::Changed),
    },
    Change {
        name: "the role",
        made: |recipe, _| recipe.context[0].text = "You mend bells.".into(),
        told: |cause| is_context(cause, "role", ContextChange::Changed),
    },
    Change {
        name: "a further source",
        made: |recipe, _| {
            *recipe = recipe.clone().with_context(ContextKind::Notes, "The door sticks.");
        },
        told: |cause| is_context(cause, "notes", ContextChange::Added),
    },
    Change {
        name: "a source that is gone",
        made: |recipe, _| drop(recipe.context.remove(1)),
        told: |cause| is_context(cause, "todo", ContextChange::Removed),
    },
    Change {
        name: "the place of the block",
        made: |recipe, _| recipe.rule = PlacementRule::FromEnd(1),
        told: |cause| is_context(cause, "role", ContextChange::Moved),
    },
    Change {
        name: "the system text",
        made: |recipe, _| recipe.system = vec!["You are a bold agent.".into()],
        told: |cause| *cause == BreakCause::System,
    },
    Change {
        name: "a tool more",
        made: |recipe, _| recipe.tools = vec![tool("one"), tool("two"), tool("three")].into(),
        told: |cause| tools(cause) == Some((vec!["three"], vec![], vec![], false)),
    },
    Change {
        name: "a tool less",
        made: |recipe, _| recipe.tools = vec![tool("one")].into(),
        told: |cause| tools(cause) == Some((vec![], vec!["two"], vec![], false)),
    },
    Change {
        name: "a tool that says something else",
        made: |recipe, _| {
            let other = Tool::new("two", "It hinders.", json!({"type": "object"}));
            recipe.tools = vec![tool("one"), other].into();
        },
        told: |cause| tools(cause) == Some((vec![], vec![], vec!["two"], false)),
    },
    Change {
        name: "the order of tools, which stays",
        made: |recipe, _| recipe.tools = vec![tool("two"), tool("one")].into(),
        told: |cause| *cause == BreakCause::Same,
    },
    Change {
        name: "another model",
        made: |_, target| target.options.model = "b-model".into(),
        told: |cause| {
            let froms = ["a-model", "gpt-5.6"];
            matches!(cause, BreakCause::Model { from, to }
                if froms.contains(&from.as_str()) && to == "b-model")
        },
    },
    Change {
        name: "another vendor",
        made: |_, target| target.vendor.name = "someone".into(),
        told: |cause| matches!(cause, BreakCause::Vendor { to, .. } if to == "someone"),
    },
    Change {
        name: "a setting that is part of the prompt",
        made: |_, target| target.options.tool_choice = Some(ToolChoice::Required),
        told: |cause| matches!(cause, BreakCause::Setting { name } if name.contains("ool")),
    },
    Change {
        name: "a setting that is not",
        made: |_, target| target.options.stop = vec!["END".into()],
        told: |cause| *cause == BreakCause::Same,
    },
    Change {
        name: "a summary",
        made: |recipe, _| {
            let covers = ["m1", "m2", "m3"].map(MessageId::new).into();
            let summary = Summary { text: "All well.".into(), start: "m1".into(), covers };
            *recipe = recipe.clone().with_summary(summary);
        },
        told: |cause| *cause == BreakCause::Summary,
    },
    Change {
        name: "a smaller window",
        made: |recipe, _| {
            let ledger = Arc::new(Ledger::new(Arc::new(Estimate::default())));
            *recipe = recipe.clone().with_budget(Budget::of_window(2_600)).with_ledger(ledger);
        },
        told: |cause| matches!(cause, BreakCause::Shortened { .. }),
    },
];

fn is_context(cause: &BreakCause, name: &str, what: ContextChange) -> bool {
    matches!(cause, BreakCause::Context { source, change } if source == name && *change == what)
}

type ToolsTold<'a> = (Vec<&'a str>, Vec<&'a str>, Vec<&'a str>, bool);

fn tools(cause: &BreakCause) -> Option<ToolsTold<'_>> {
    let BreakCause::Tools { added, removed, changed, reordered } = cause else { return None };
    Some((names(added), names(removed), names(changed), *reordered))
}

fn names(names: &[impl AsRef<str>]) -> Vec<&str> {
    names.iter().map(AsRef::as_ref).collect()
}

/// A session of forty messages, named by their places, of which a request was sent.
async fn begun(target: &Target) -> Session {
    let mut session = Session::create(memory().await, "").await.unwrap();
    for (n, message) in agent_session(40).into_iter().skip(1).enumerate() {
        let id = MessageId::new(format!("m{}", n + 1));
        session.append(message.with_id(id)).await.unwrap();
    }
    sent(&mut session, &recipe(), target).await;
    session
}

#[test]
fn h2_every_single_change_is_told_by_name() {
    block_on(async {
        for family in Family::ALL {
            for cache in [CacheMarks::Off, CacheMarks::On] {
                for Change { name, made, told } in CHANGES {
                    let mut target = marked(family, cache);
                    let mut session = begun(&target).await;
                    let mut recipe = recipe();
                    made(&mut recipe, &mut target);
                    let impact = sent(&mut session, &recipe, &target).await.impact;
                    assert!(told(&impact.cause), "{family}: {name}: {impact:?}");
                }
            }
        }
    });
}

#[test]
fn h2_a_system_text_that_changes_before_a_summary_is_told_as_the_system_text() {
    block_on(async {
        for family in Family::ALL {
            let target = marked(family, CacheMarks::Off);
            let mut session = begun(&target).await;
            let covers: BTreeSet<MessageId> = ["m1", "m2", "m3"].map(MessageId::new).into();
            let with = |system: &str, text: &str| {
                let (text, covers) = (text.into(), covers.clone());
                let mut recipe =
                    recipe().with_summary(Summary { text, start: "m1".into(), covers });
                recipe.system = vec![system.into()];
                recipe
            };
            sent(&mut session, &with("You mend clocks. TODO: 1", "All well."), &target).await;
            let system = with("You mend clocks. TODO: 2", "All well.");
            let impact = sent(&mut session, &system, &target).await.impact;
            assert_eq!(impact.cause, BreakCause::System, "{family}: {impact:?}");
            let summary = with("You mend clocks. TODO: 2", "All went well.");
            let impact = sent(&mut session, &summary, &target).await.impact;
            assert_eq!(impact.cause, BreakCause::Summary, "{family}: {impact:?}");
        }
    });
}

#[test]
fn h2_where_turns_are_merged_into_one_text_a_change_is_told_at_its_place() {
    block_on(async {
        let target = target_of(Vendor::named("llama-cpp").unwrap(), "a-model");
        let recipe = recipe().with_rule(PlacementRule::AfterSystem);
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("Which spring is it?")).await.unwrap();
        sent(&mut session, &recipe, &target).await;
        let mut changed = recipe.clone();
        changed.context[1].text = "1. look at the wheel".into();
        let now = sent(&mut session, &changed, &target).await;
        let body = String::from_utf8(now.body.to_bytes()).unwrap();
        assert_eq!(body.matches(r#""role":"user""#).count(), 1, "{body}");
        let told = now.impact.cause.to_string();
        assert!(is_context(&now.impact.cause, "todo", ContextChange::Changed), "{told}");
        // After the system text and the role, and within the TODO list.
        let place = now.impact.place.unwrap();
        assert_eq!(place.message, 2, "{told}");
        assert_eq!(&body.as_bytes()[place.byte as usize..][..5], b"wheel");
    });
}

fn called(id: &str) -> (Message, Message) {
    let said = format!("a [call {id} one]\nt {id}= a long list of things");
    let [call, result] = notation::parse(&said).unwrap().try_into().unwrap();
    (call, result)
}

#[test]
fn h2_a_request_that_goes_on_from_the_last_breaks_nothing() {
    block_on(async {
        for (family, cache) in Family::ALL
            .into_iter()
            .flat_map(|family| [CacheMarks::Off, CacheMarks::On].map(|cache| (family, cache)))
        {
            let target = marked(family, cache);
            let mut recipe = recipe().with_rule(PlacementRule::AfterSystem);
            recipe.open_block = OpenBlock::Mend;
            let mut session = Session::create(memory().await, "").await.unwrap();
            session.append(Message::user("Which files?")).await.unwrap();
            assert_eq!(sent(&mut session, &recipe, &target).await.impact.cause, BreakCause::First);
            for n in 0..12 {
                let (call, result) = called(&format!("c{n}"));
                session.append(call).await.unwrap();
                session.append(result).await.unwrap();
                let impact = sent(&mut session, &recipe, &target).await.impact;
                assert_eq!(impact.cause, BreakCause::Appended, "{family} {n}: {impact:?}");
                let place = impact.place.unwrap();
                let calls = session.conversation().log().nth_back(1).unwrap();
                assert_eq!(place.id.as_ref(), Some(&calls.id), "{family} {n}");
            }
        }
    });
}

#[test]
fn h2_an_operation_is_told_by_its_name() {
    block_on(async {
        for family in Family::ALL {
            let target = target(family);
            let mut session = begun(&target).await;
            let cut = Truncate { keep_last: Some(20), ..Truncate::default() };
            session.operate(Operation::Truncate(cut)).await.unwrap();
            let impact = sent(&mut session, &recipe(), &target).await.impact;
            let names = vec!["truncate".into()];
            assert_eq!(impact.cause, BreakCause::Operation { names }, "{family}");
        }
    });
}

#[test]
fn h2_an_operation_is_told_by_its_name_where_context_stands_in_the_place_of_what_it_took() {
    block_on(async {
        for (family, rule) in
            Family::ALL.into_iter().flat_map(|family| ["tail", "delta"].map(|rule| (family, rule)))
        {
            let (target, recipe) = (target(family), recipe().with_rule(rule.parse().unwrap()));
            let mut session = Session::create(memory().await, "").await.unwrap();
            let said = [Message::user("one"), Message::assistant("two"), Message::user("three")];
            session.append_all(said.map(Arc::new)).await.unwrap();
            sent(&mut session, &recipe, &target).await;
            session.operate(Operation::Clear(Clear::default())).await.unwrap();
            session.append(Message::user("four")).await.unwrap();
            let impact = sent(&mut session, &recipe, &target).await.impact;
            let names = vec!["clear".into()];
            assert_eq!(impact.cause, BreakCause::Operation { names }, "{family} {rule}");
        }
    });
}

#[test]
fn h2_after_a_rollback_a_request_is_held_against_the_last_one_sent_and_priced_by_all_that_is_kept()
{
    block_on(async {
        for (family, marks) in [
            (Family::Anthropic, CacheMarks::On),
            (Family::Anthropic, CacheMarks::Off),
            (Family::OpenaiChat, CacheMarks::Off),
            (Family::Gemini, CacheMarks::Off),
        ] {
            let mut target = target(family);
            target.options.cache = marks;
            let rules = if marks == CacheMarks::On { "anthropic" } else { "openai" };
            target.cache_rules = Rules::named(rules);
            let store = memory().await;
            let mut session = Session::create(store.clone(), "").await.unwrap();
            session.append_all(agent_session(400).into_iter().map(Arc::new)).await.unwrap();
            let whole = sent(&mut session, &recipe(), &target).await;
            let cut = Truncate { keep_last: Some(20), ..Truncate::default() };
            session.operate(Operation::Truncate(cut)).await.unwrap();
            let short = sent(&mut session, &recipe(), &target).await;
            session.roll_back(0).await.unwrap();
            let next = session.preview(&recipe(), &target).await.unwrap().request().unwrap();
            assert_eq!(next.impact.against, short.number, "{family}");
            let names = vec!["roll_back".into()];
            assert_eq!(next.impact.cause, BreakCause::Operation { names }, "{family}");
            // It is the first request again, which the cache still has.
            assert_eq!(next.body.to_bytes(), whole.body.to_bytes(), "{family}");
            let cost = next.impact.cost.as_ref().unwrap();
            assert!(cost.read * 10 > next.impact.tokens * 9, "{family}: {cost:?}");
            let mut again = Session::open(store, session.id()).await.unwrap();
            let there = again.preview(&recipe(), &target).await.unwrap().request().unwrap();
            assert_eq!(there.impact, next.impact, "{family}");
        }
    });
}

#[test]
fn h2_a_result_that_came_late_is_told_as_a_repair() {
    block_on(async {
        for family in Family::ALL {
            let target = target(family);
            let recipe = recipe().with_rule(PlacementRule::AfterSystem);
            let mut session = Session::create(memory().await, "").await.unwrap();
            session.append(Message::user("Which files?")).await.unwrap();
            let (call, result) = called("c1");
            session.append(call).await.unwrap();
            session.append(Message::user("Well?")).await.unwrap();
            sent(&mut session, &recipe, &target).await;
            session.append(result).await.unwrap();
            let impact = sent(&mut session, &recipe, &target).await.impact;
            let is_repair = matches!(impact.cause, BreakCause::Repaired { .. });
            assert!(is_repair, "{family}: {impact:?}");
        }
    });
}

fn reply(usage: Usage) -> Reply {
    let mut reply = Reply::new(Message::assistant("Done."), Finish::Stop);
    reply.usage = Some(usage);
    reply
}

#[test]
fn h2_a_miss_of_ours_is_told_from_one_of_theirs() {
    block_on(async {
        let target = target_of(Vendor::named("openai").unwrap(), "gpt-5");
        let recipe = recipe().with_rule(PlacementRule::AfterSystem);
        let text = "one word after another ".repeat(2_000);
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user(&text)).await.unwrap();
        let first = sent(&mut session, &recipe, &target).await.impact;
        let usage = Usage { prompt: 10_000, ..Usage::default() };
        assert_eq!(first.cost.as_ref().unwrap().read, 0);
        assert_eq!(first.verdict(usage), Some(Verdict::AsPredicted));
        session.take(reply(usage)).await.unwrap();
        session.append(Message::user("Go on.")).await.unwrap();
        let second = sent(&mut session, &recipe, &target).await.impact;
        let cost = second.cost.as_ref().unwrap();
        assert!((9_700..10_300).contains(&second.tokens), "{second:?}");
        assert!((9_600..=10_000).contains(&cost.read), "{second:?}");
        let read = |cache_read| Usage { prompt: 10_020, cache_read, ..Usage::default() };
        assert_eq!(second.verdict(read(9_984)), Some(Verdict::AsPredicted));
        assert_eq!(second.verdict(read(0)), Some(Verdict::TheirMiss));
        session.take(reply(read(9_984))).await.unwrap();
        session.append(Message::user("Go on.")).await.unwrap();
        let other = recipe.clone().with_system("And be brief.");
        let third = sent(&mut session, &other, &target).await.impact;
        let cost = third.cost.as_ref().unwrap();
        assert_eq!((cost.read, &third.cause), (0, &BreakCause::System));
        assert!(cost.price > 2.0 * cost.unbroken, "{cost:?}");
        assert_eq!(third.verdict(read(0)), Some(Verdict::OurMiss));
        assert_eq!(third.verdict(read(9_984)), Some(Verdict::More));
    });
}

#[test]
fn the_name_of_a_model_does_nothing_to_the_screen() {
    let cause = BreakCause::Model { from: "a\u{1b}[8mb".into(), to: "c".into() };
    assert!(!cause.to_string().contains('\u{1b}'), "{cause}");
}

#[test]
fn h2_context_that_leaves_what_is_settled_is_told_as_context() {
    block_on(async {
        for n in [4, 40] {
            let target = target(Family::OpenaiChat);
            let mut session = Session::create(memory().await, "").await.unwrap();
            let delta = recipe().with_rule(PlacementRule::Delta(24));
            session.append(Message::user("Mend the clock.")).await.unwrap();
            sent(&mut session, &delta, &target).await;
            let mut rounds = agent_session(2 * n + 40).into_iter().skip(2);
            for more in [2 * n, 2, 2] {
                for message in rounds.by_ref().take(more) {
                    session.append(message).await.unwrap();
                }
                sent(&mut session, &delta, &target).await;
            }
            let tail = recipe().with_rule(PlacementRule::Tail);
            let next = session.preview(&tail, &target).await.unwrap().request().unwrap();
            let cause = next.impact.cause;
            assert!(matches!(&cause, BreakCause::Context { .. }), "{n}: {cause:?}");
        }
    });
}

#[test]
fn h2_what_is_written_at_a_mark_is_what_the_next_request_reads_there() {
    block_on(async {
        for image_first in [true, false] {
            let mut target = target_of(Vendor::of(Family::Anthropic), "claude-sonnet-4-5");
            target.options.cache = CacheMarks::On;
            let ledger = Arc::new(Ledger::for_model("claude-sonnet-4-5"));
            let recipe = recipe().with_ledger(ledger);
            let picture = Image::base64("image/png", "iVBORw0KGgo=".repeat(8_000));
            let parts = vec![ContentPart::Text(Text::new("Look.")), picture.into()];
            let picture = Message::from(Body::User(Parts::new(parts).unwrap()));
            let long = |n: usize| Message::user(&format!("{n} {}", "word ".repeat(3_000)));
            let mut said = vec![picture, long(1)];
            if !image_first {
                said.reverse();
            }
            let mut session = Session::create(memory().await, "").await.unwrap();
            for message in said {
                session.append(message).await.unwrap();
                session.append(Message::assistant("I see.")).await.unwrap();
            }
            session.append(long(2)).await.unwrap();
            let mut written = None;
            for n in 3..6 {
                let cost = sent(&mut session, &recipe, &target).await.impact.cost.unwrap();
                if let Some(written) = written {
                    // Some tokens stand at the border of two messages.
                    assert!(cost.read.abs_diff(written) < 20, "{n}: {cost:?} after {written}");
                }
                written = Some(cost.read + cost.written);
                session.append(Message::assistant("I see.")).await.unwrap();
                session.append(long(n)).await.unwrap();
            }
        }
    });
}
