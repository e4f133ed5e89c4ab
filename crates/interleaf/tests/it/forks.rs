//! A fork begins as its session does, and finds what that has in the vendor's cache.

use interleaf::assemble::{Agent, Budget, OpenBlock, PlacementRule, Recipe};
use interleaf::model::{ContextKind, Finish, Message, Reply, Tool, Usage};
use interleaf::wire::{AdjustmentKind, CacheMarks, Family, VENDORS, Vendor};
use interleaf::{Request, Session, Target, copy};
use interleaf_samples::generate::agent_session;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::{block_on, memory, target_of};

fn target(family: Family) -> Target {
    let mut target = target_of(Vendor::of(family), "a-model");
    target.session_cache_key = true;
    target
}

fn recipe(rule: PlacementRule) -> Recipe {
    let tool = |name: &str| Tool::new(name, "It helps.", json!({"type": "object"}));
    let mut recipe = Recipe::new()
        .with_rule(rule)
        .with_tools([tool("one"), tool("two")])
        .with_context(ContextKind::Todo, "1. look at the spring");
    recipe.open_block = OpenBlock::Mend;
    recipe
}

async fn sent(session: &mut Session, recipe: &Recipe, target: &Target) -> Request {
    session.request(recipe, target).await.unwrap().request().unwrap()
}

/// The name that a body tells the vendor's cache.
fn key(request: &Request) -> Option<String> {
    let body: Value = serde_json::from_slice(&request.body.to_bytes()).unwrap();
    body["prompt_cache_key"].as_str().map(str::to_owned)
}

/// A body, and where a text stands in it.
fn upto(request: &Request, text: &str) -> (String, usize) {
    let body = String::from_utf8(request.body.to_bytes()).unwrap();
    let at = body.find(text).unwrap();
    (body, at)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn h11_a_fork_has_the_bytes_marks_and_key_of_its_session_until_they_part(
        family in select(Family::ALL.as_slice()),
        cache in select(vec![CacheMarks::Off, CacheMarks::On]),
        rule in select(vec![
            PlacementRule::AfterToolResult(3),
            PlacementRule::Tail,
            PlacementRule::AfterSystem,
            PlacementRule::Sticky(8),
            PlacementRule::Delta(12),
            PlacementRule::Auto(8),
        ]),
        n_messages in 2..60_usize,
        n_after in 0..4_usize,
        opens in any::<bool>(),
    ) {
        block_on(async {
            let mut target = target(family);
            target.options.cache = cache;
            let recipe = recipe(rule);
            let store = memory().await;
            let mut session = Session::create(store.clone(), "").await.unwrap();
            for (n, message) in agent_session(n_messages).into_iter().enumerate() {
                session.append(message).await.unwrap();
                if n % 3 == 2 {
                    sent(&mut session, &recipe, &target).await;
                }
            }
            let mut fork = session.fork("a fork").await.unwrap();
            for _ in 0..n_after {
                fork = fork.fork("another").await.unwrap();
            }
            if opens {
                fork = Session::open(store, fork.id()).await.unwrap();
            }
            session.append(Message::user("now go left")).await.unwrap();
            fork.append(Message::user("now go wide")).await.unwrap();
            let read = |request: &Request| request.impact.cost.as_ref().map(|cost| cost.read);
            let found = fork.preview(&recipe, &target).await.unwrap().request().unwrap();
            let left = sent(&mut session, &recipe, &target).await;
            let wide = sent(&mut fork, &recipe, &target).await;
            // The fork finds as much as the session that goes on, and what that has left.
            assert_eq!(read(&left), read(&found));
            assert!(read(&wide) >= read(&found));
            let ((left_body, at), (wide_body, wide_at)) =
                (upto(&left, "left"), upto(&wide, "wide"));
            assert_eq!(&left_body[..at], &wide_body[..wide_at]);
            assert_eq!(key(&left), key(&wide));
            let own = Some(session.id().to_string());
            assert_eq!(key(&left), own.filter(|_| target.vendor.takes_cache_key()));
        });
    }
}

#[test]
fn h11_a_fork_counts_what_its_session_put_into_the_cache_after_it_was_made() {
    block_on(async {
        let recipe = recipe(PlacementRule::Tail);
        for (vendor, model) in [("openai", "gpt-5"), ("anthropic", "claude-sonnet-4-5")] {
            let mut target = Target::new(vendor, model).unwrap().with_key("k");
            target.options.cache = CacheMarks::On;
            let mut session = Session::create(memory().await, "").await.unwrap();
            session.append(Message::user("Begin.")).await.unwrap();
            sent(&mut session, &recipe, &target).await;
            session.append(Message::assistant(&"word ".repeat(9_000))).await.unwrap();
            let mut fork = session.fork("").await.unwrap();
            let mut of_fork = fork.fork("").await.unwrap();
            fork.append(Message::user("And now?")).await.unwrap();
            of_fork.append(Message::user("And then?")).await.unwrap();
            let cold = fork.preview(&recipe, &target).await.unwrap().request().unwrap();
            assert!(cold.impact.cost.unwrap().read < 1_000, "{vendor}");
            // The session goes on, and the cache learns the long answer.
            session.append(Message::user("Go on.")).await.unwrap();
            sent(&mut session, &recipe, &target).await;
            for fork in [&mut fork, &mut of_fork] {
                let warm = sent(fork, &recipe, &target).await;
                assert!(warm.impact.cost.as_ref().unwrap().read > 9_000, "{vendor}");
                let before = (warm.impact.against, warm.impact.of_session);
                assert_eq!(before, (Some(0), Some(session.id())));
                let told = fork.explain(None, warm.number, 1).await.unwrap().remove(0);
                let parting = fork.parting(&told).await.unwrap().unwrap();
                let old = String::from_utf8(session.rebuild(0).await.unwrap()).unwrap();
                assert!(old.contains(&format!("{}{}", parting.shared, parting.before)), "{old}");
                // What the fork has sent itself counts from then on.
                fork.append(Message::assistant("Done.")).await.unwrap();
                let next = sent(fork, &recipe, &target).await;
                assert!(
                    next.impact.cost.as_ref().unwrap().read > 9_000,
                    "{vendor} {:?} {:?}",
                    warm.impact,
                    next.impact
                );
            }
        }
    });
}

#[test]
fn h11_a_fork_counts_as_its_session_has_learned_to() {
    block_on(async {
        let recipe = recipe(PlacementRule::Tail).with_budget(Budget::of_window(1_000_000));
        let target = Target::new("anthropic", "claude-sonnet-4-5").unwrap().with_key("k");
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("Begin.")).await.unwrap();
        let mut early = session.fork("").await.unwrap();
        for n in 0..3 {
            session.append(Message::user(&format!("{n} {}", "word ".repeat(300)))).await.unwrap();
            let request = sent(&mut session, &recipe, &target).await;
            let prompt = request.report.tokens.unwrap().total() * 9 / 10;
            let mut reply = Reply::new(Message::assistant("Done."), Finish::Stop);
            reply.usage = Some(Usage { prompt, ..Usage::default() });
            session.take(reply).await.unwrap();
        }
        session.append(Message::user("And now?")).await.unwrap();
        let fork = session.fork("").await.unwrap();
        let mut of_fork = fork.fork("").await.unwrap();
        let mut opened = Session::open(session.store().clone(), fork.id()).await.unwrap();
        let rate = async |session: &mut Session| {
            let request = session.preview(&recipe, &target).await.unwrap().request().unwrap();
            request.report.tokens.unwrap().rate
        };
        let learned = rate(&mut session).await;
        for fork in [&mut of_fork, &mut opened] {
            assert_eq!(rate(fork).await, learned);
        }
        // What was answered after a fork was made is not in its past.
        assert!(rate(&mut early).await > learned);
    });
}

#[test]
fn h11_the_cache_key_is_the_sessions_by_itself_wherever_it_goes_on() {
    block_on(async {
        let (target, recipe) = (target(Family::OpenaiResponses), recipe(PlacementRule::Tail));
        let store = memory().await;
        let mut session = Session::create(store.clone(), "").await.unwrap();
        session.append(Message::user("hello")).await.unwrap();
        let own = session.id().to_string();
        assert_eq!(key(&sent(&mut session, &recipe, &target).await).unwrap(), own);
        let mut fork = session.fork_at(1, "").await.unwrap();
        assert_eq!(key(&sent(&mut fork, &recipe, &target).await).unwrap(), own);
        // In another store.
        let (there, id) = (memory().await, session.id());
        let mut reader = copy::Reader::whole(store, id).await.unwrap();
        let mut writer = copy::Writer::begin(there.clone(), reader.head.clone()).await.unwrap();
        for item in reader.page().await.unwrap() {
            writer = writer.item(item).await.unwrap();
        }
        writer.end().await.unwrap();
        let mut copied = Session::open(there, id).await.unwrap();
        assert_eq!(key(&sent(&mut copied, &recipe, &target).await).unwrap(), own);
        // A sub-agent begins otherwise.
        let scout = "scout".to_owned();
        let long = "a scout with a name that is longer than any key may be".to_owned();
        for (name, expected) in [(scout, Some(format!("{own}:scout"))), (long, None)] {
            let role = recipe.clone().with_context(ContextKind::Role, "You look.");
            let role = role.with_agent(Agent::Sub(name.as_str().into()));
            session.sub_agent(name.as_str()).append(Message::user("look")).await.unwrap();
            let key = key(&sent(&mut session, &role, &target).await).unwrap();
            assert!(key.starts_with(&own) && key.len() <= 64, "{key}");
            assert!(expected.is_none_or(|expected| key == expected), "{key}");
        }
    });
}

#[test]
fn h11_a_key_is_sent_where_it_is_taken_and_can_be_another_or_none() {
    block_on(async {
        let recipe = recipe(PlacementRule::Tail);
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("hello")).await.unwrap();
        for vendor in VENDORS {
            let mut target = target_of(vendor, "a-model");
            target.session_cache_key = true;
            let own = session.preview(&recipe, &target).await.unwrap().request().unwrap();
            let dropped = |request: &Request| {
                let mut dropped = request.adjustments();
                let is_key = |detail: &str| detail.contains("cache_key");
                dropped.any(|it| it.kind == AdjustmentKind::OptionDropped && is_key(&it.detail))
            };
            assert_eq!(key(&own).is_some(), vendor.takes_cache_key(), "{}", vendor.name);
            assert!(!dropped(&own), "{}: nobody asked for it", vendor.name);
            target.options.cache_key = Some("mine".into());
            let mine = session.preview(&recipe, &target).await.unwrap().request().unwrap();
            assert_eq!(key(&mine).as_deref() == Some("mine"), vendor.takes_cache_key());
            assert_eq!(dropped(&mine), !vendor.takes_cache_key(), "{}", vendor.name);
            (target.options.cache_key, target.session_cache_key) = (None, false);
            let none = session.preview(&recipe, &target).await.unwrap().request().unwrap();
            assert_eq!(key(&none), None, "{}", vendor.name);
        }
    });
}
