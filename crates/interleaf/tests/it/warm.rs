//! What a request is expected to read is what the vendor's cache has of all that was sent.

use std::collections::HashMap;

use interleaf::assemble::{OpenBlock, PlacementRule, Recipe};
use interleaf::cache::{Cache, Match, Prompt, Rules, Stop, Used};
use interleaf::conversation::{Operation, Truncate};
use interleaf::model::{ContextKind, Message, Tool};
use interleaf::wire::{CacheMarks, Family, ToolChoice, Vendor};
use interleaf::{Request, Session, Target};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::{block_on, memory, target_of};

/// What one request is made with. Each may come back later.
#[derive(Debug, Clone)]
struct Turn {
    model: &'static str,
    system: &'static str,
    todo: &'static str,
    choice: Option<ToolChoice>,
    said: usize,
    /// Whether all but the last messages are hidden, and shown again.
    flips_view: bool,
    is_opened_anew: bool,
}

fn turn() -> impl Strategy<Value = Turn> {
    let model = select(vec!["a-model", "a-model", "b-model"]);
    let system = select(vec!["You mend clocks.", "You mend clocks.", "You mend bells, with care."]);
    let todo = select(vec!["1. look at the spring", "1. look at the hands", "2. oil the wheel"]);
    let choice = proptest::option::weighted(0.2, Just(ToolChoice::Required));
    let rare = || proptest::bool::weighted(0.15);
    (model, system, todo, choice, 0..3_usize, rare(), rare()).prop_map(
        |(model, system, todo, choice, said, flips_view, is_opened_anew)| Turn {
            model,
            system,
            todo,
            choice,
            said,
            flips_view,
            is_opened_anew,
        },
    )
}

fn recipe(turn: &Turn, rule: &PlacementRule) -> Recipe {
    let mut recipe = Recipe::new()
        .with_rule(rule.clone())
        .with_system(turn.system)
        .with_tools([Tool::new("look", "Looks at it.", json!({"type": "object"}))])
        .with_context(ContextKind::Role, "You work at night.")
        .with_context(ContextKind::Todo, turn.todo);
    recipe.open_block = OpenBlock::Mend;
    recipe
}

const MARK: &[u8] = br#","cache_control":{"type":"ephemeral"}"#;

/// Where the first bytes of a body end that a cache sees, with a mark after them.
fn in_body(body: &[u8], n_seen: usize) -> usize {
    let (mut at, mut n) = (0, 0);
    while at < body.len() {
        if body[at..].starts_with(MARK) {
            at += MARK.len();
        } else if n < n_seen {
            (at, n) = (at + 1, n + 1);
        } else {
            break;
        }
    }
    at
}

/// A body as a cache sees it, byte by byte: without marks, which are remembered by their place.
fn seen(body: &[u8]) -> Prompt {
    let (mut prompt, mut at) = (Prompt::new(), 0);
    while at < body.len() {
        if body[at..].starts_with(MARK) {
            prompt.mark(prompt.len());
            at += MARK.len();
            continue;
        }
        prompt.push(u64::from(body[at]) + 1, 1, Stop::Block);
        at += 1;
    }
    prompt
}

fn rules(name: &str) -> Rules {
    let mut rules = Rules::named(name).unwrap();
    (rules.minimum, rules.lifetime) = (0, None);
    match &mut rules.matches {
        Match::Prefix { step, .. } => *step = 1,
        // Bytes are no blocks.
        Match::Marks { lookback, .. } => *lookback = usize::MAX,
        _ => {}
    }
    rules
}

async fn sent(session: &mut Session, recipe: &Recipe, target: &Target) -> Request {
    session.record(recipe, target).await.unwrap().request().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn h2_a_request_is_expected_to_read_what_the_cache_has_of_all_that_was_sent(
        family in select(vec![Family::OpenaiChat, Family::Anthropic]),
        rule in select(vec![
            PlacementRule::AfterToolResult(3),
            PlacementRule::Tail,
            PlacementRule::AfterSystem,
        ]),
        turns in proptest::collection::vec(turn(), 1..8),
    ) {
        block_on(async {
            let store = memory().await;
            let mut session = Session::create(store.clone(), "").await.unwrap();
            session.append(Message::user("Which clock is it?")).await.unwrap();
            let (name, marks) = match family {
                Family::Anthropic => ("anthropic", CacheMarks::On),
                _ => ("gemini", CacheMarks::Off),
            };
            let mut caches: HashMap<(&str, bool), Cache> = HashMap::new();
            let mut earlier: Vec<((&str, bool), Vec<u8>)> = Vec::new();
            for (n, turn) in turns.iter().enumerate() {
                let mut turn = turn.clone();
                if family == Family::Anthropic {
                    // The mark after the tools is not counted: one system text throughout.
                    turn.system = "You mend clocks.";
                }
                let turn = &turn;
                for said in 0..turn.said {
                    let text = format!("It is the {n}th clock, on shelf {said}, and it is slow.");
                    session.append(Message::assistant("I see.")).await.unwrap();
                    session.append(Message::user(&text)).await.unwrap();
                }
                if turn.flips_view {
                    let cut = Truncate { keep_last: Some(1), ..Truncate::default() };
                    session.operate(Operation::Truncate(cut)).await.unwrap();
                }
                if turn.is_opened_anew {
                    session = Session::open(store.clone(), session.id()).await.unwrap();
                }
                let mut target = target_of(Vendor::of(family), turn.model);
                (target.options.cache, target.cache_rules) = (marks, Some(rules(name)));
                target.options.tool_choice = turn.choice.clone();
                let request = sent(&mut session, &recipe(turn, &rule), &target).await;
                let body = request.body.to_bytes();
                let key = (turn.model, turn.choice.is_some());
                let cache = caches.entry(key).or_insert_with(|| Cache::new(rules(name)));
                let most = cache.request(&seen(&body), 0);
                // The last four requests are remembered in any case.
                let mut recent = Cache::new(rules(name));
                for (_, body) in earlier.iter().rev().take(4).rev().filter(|(k, _)| *k == key) {
                    recent.request(&seen(body), 0);
                }
                let least = recent.preview(&seen(&body), 0);
                earlier.push((key, body.clone()));
                let cost = request.impact.cost.as_ref().unwrap();
                // Where nothing counts tokens, they are spread evenly over the bytes: those of
                // the head, and those of the turns.
                let list = request.body.outline.list.clone();
                let rate = |bytes: usize| (bytes as u64 * 250).div_ceil(1000);
                let total = rate(body.len());
                let head = rate(list.start);
                let in_list = (total - head) as f64 / (list.len() as f64);
                let tokens = |used: Used| match in_body(&body, used.read as usize) {
                    // The mark of the head stands right before its last brackets.
                    read if read < list.start && read + 40 > list.start => head as f64,
                    read if read < list.start => head as f64 * read as f64 / list.start as f64,
                    read => head as f64 + in_list * ((read - list.start) as f64).min(list.len() as f64),
                };
                let (least, most, read) = (tokens(least), tokens(most), cost.read as f64);
                let is_right = least - 16.0 < read && read < most + 16.0;
                assert!(is_right, "request {n}: {cost:?}, {least} to {most}: {:?}", request.impact);
            }
        });
    }
}

#[test]
fn h2_a_text_that_comes_back_is_read_where_it_was_read_before() {
    block_on(async {
        for todo in [["one", "two"], ["two", "one"]] {
            let target = Target::new("openai", "gpt-5").unwrap();
            let mut session = Session::create(memory().await, "").await.unwrap();
            session.append(Message::user(&"word ".repeat(20_000))).await.unwrap();
            let with = |text: &str| {
                let rule = PlacementRule::AfterSystem;
                Recipe::new().with_rule(rule).with_context(ContextKind::Todo, text)
            };
            let first = sent(&mut session, &with(todo[0]), &target).await.impact.cost.unwrap();
            assert_eq!(first.read, 0);
            let other = sent(&mut session, &with(todo[1]), &target).await.impact.cost.unwrap();
            assert_eq!(other.read, 0);
            let again = sent(&mut session, &with(todo[0]), &target).await.impact;
            let cost = again.cost.as_ref().unwrap();
            assert!(cost.read * 100 > again.tokens * 99, "{again:?}");
        }
    });
}

#[test]
fn h2_a_model_that_is_asked_again_after_another_reads_what_it_was_sent() {
    block_on(async {
        let store = memory().await;
        let mut session = Session::create(store.clone(), "").await.unwrap();
        session.append(Message::user(&"word ".repeat(20_000))).await.unwrap();
        let target = |vendor: &str, model: &str| Target::new(vendor, model).unwrap();
        let (one, two) = (target("openai", "gpt-5"), target("google", "gemini-2.5-pro"));
        sent(&mut session, &Recipe::new(), &one).await;
        for n in 0..12 {
            let cost = sent(&mut session, &Recipe::new(), &two).await.impact.cost.unwrap();
            assert_eq!(cost.read > 0, n > 0, "{n}: {cost:?}");
            session.append(Message::assistant("Go on.")).await.unwrap();
            session.append(Message::user("And now?")).await.unwrap();
        }
        let mut again = Session::open(store, session.id()).await.unwrap();
        let opened = again.preview(&Recipe::new(), &one).await.unwrap().request().unwrap().impact;
        let impact = sent(&mut session, &Recipe::new(), &one).await.impact;
        assert_eq!(opened, impact);
        let cost = impact.cost.as_ref().unwrap();
        assert!(cost.read * 10 > impact.tokens * 9, "{impact:?}");
    });
}
