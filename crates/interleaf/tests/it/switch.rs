//! What another model changes, what it costs, and when the change pays back.

use interleaf::assemble::{Amount, Budget, OpenBlock, Part, PlacementRule, Recipe, Share, Shares};
use interleaf::model::{ContextKind, Finish, Message, Reply, Usage, notation};
use interleaf::wire::{AdjustmentKind, CacheMarks};
use interleaf::{Price, Session, Switch, Target, now};
use interleaf_samples::generate::agent_session;
use proptest::prelude::*;

use crate::{block_on, memory};

fn target(vendor: &str, model: &str) -> Target {
    Target::new(vendor, model).unwrap().with_key("k")
}

fn recipe() -> Recipe {
    let mut recipe = Recipe::new().with_context(ContextKind::Todo, "1. look at the spring");
    recipe.open_block = OpenBlock::Mend;
    recipe
}

/// A session whose requests all went to one model.
async fn session(target: &Target, n_messages: usize) -> Session {
    let mut session = Session::create(memory().await, "").await.unwrap();
    for (n, message) in agent_session(n_messages).into_iter().enumerate() {
        session.append(message).await.unwrap();
        if n % 4 == 3 {
            session.request(&recipe(), target).await.unwrap();
        }
    }
    session
}

async fn switch(session: &mut Session, to: &Target) -> Switch {
    session.switch(&recipe(), to, None).await.unwrap()
}

#[test]
fn a_change_is_told_where_the_parts_share_a_budget() {
    block_on(async {
        let mut session = session(&target("openai", "gpt-5"), 20).await;
        let to = target("anthropic", "claude-sonnet-4-5");
        let plain = switch(&mut session, &to).await;
        let half = Share::new(None, Some(Amount::Percent(50)));
        let shared = recipe().with_shares(Shares::new().with(Part::Context, half));
        let shared = session.switch(&shared, &to, None).await.unwrap();
        assert_eq!(shared.to_string(), plain.to_string());
    });
}

#[test]
fn h9_a_change_of_model_is_told_and_nothing_is_noted() {
    block_on(async {
        let from = target("openai", "gpt-5");
        let mut session = session(&from, 60).await;
        let before = (session.head().clone(), session.conversation().clone());
        let mut to = target("anthropic", "claude-sonnet-4-5");
        to.options.cache = CacheMarks::On;
        let switch = switch(&mut session, &to).await;
        session.refresh().await.unwrap();
        assert_eq!((session.head().clone(), session.conversation().clone()), before);
        assert_eq!((switch.from.vendor.as_str(), switch.from.model.as_str()), ("openai", "gpt-5"));
        // What stays is read, and what goes is written anew.
        let (stay, go) = (switch.from.cost.unwrap(), switch.to.cost.unwrap());
        assert!(stay.read > stay.computed, "{stay:?}");
        assert_eq!(go.read, 0);
        assert!(go.written > 0 && go.price > 3.0 * stay.price, "{go:?}");
        let ratios: Vec<f64> = switch.pay_back.break_even.iter().map(|at| at.ratio).collect();
        assert!(ratios.is_sorted() && ratios[0] < 0.4, "{ratios:?}");
        assert!(ratios.iter().all(|ratio| *ratio < switch.pay_back.in_the_end));
    });
}

#[test]
fn h9_thinking_that_only_the_new_model_refuses_is_counted() {
    block_on(async {
        let from = target("deepseek", "deepseek-chat");
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("Mend the clock.")).await.unwrap();
        for n in 0..3 {
            let said = format!("a [think I look at wheel {n} first.] [call c{n} look]");
            let [said] = notation::parse(&said).unwrap().try_into().unwrap();
            let request = session.request(&recipe(), &from).await.unwrap().request().unwrap();
            let mut reply = Reply::new(said, Finish::ToolCalls);
            reply.request = request.number;
            session.take(reply).await.unwrap();
            let [result] =
                notation::parse(&format!("t c{n}= it turns")).unwrap().try_into().unwrap();
            session.append(result).await.unwrap();
        }
        let to = target("ollama", "llama");
        let there = switch(&mut session, &to).await;
        assert_eq!(there.losses.thinking.parts, 3);
        assert!((9..60).contains(&there.losses.thinking.tokens), "{:?}", there.losses);
        let is_thinking = |loss: &&interleaf::Loss| loss.kind == AdjustmentKind::ThinkingDropped;
        assert_eq!(there.losses.new.iter().find(is_thinking).unwrap().count, 3);
        // Between two that do not take it, nothing is lost.
        let elsewhere = target("groq", "llama");
        let both = session.switch(&recipe(), &to, Some(&elsewhere)).await.unwrap();
        assert_eq!(both.losses.thinking.parts, 0);
        assert_eq!(both.losses.both.iter().find(is_thinking).unwrap().count, 3);
        let back = session.switch(&recipe(), &from, Some(&to)).await.unwrap();
        assert_eq!(back.losses.regained.iter().find(is_thinking).unwrap().count, 3);
    });
}

#[test]
fn h9_what_would_give_way_is_told_by_part_and_by_message() {
    block_on(async {
        let mut session = session(&target("openai", "gpt-5"), 60).await;
        let to = target("ollama", "llama");
        let whole = switch(&mut session, &to).await.fit;
        assert!(whole.fits && whole.gives_way.is_empty() && whole.refused.is_none());
        assert_eq!((whole.window, whole.reserve), (32_768, 4_096));
        assert!(whole.tokens.history > 0 && whole.tokens.context > 0);
        let total = whole.tokens.total();
        for (window, is_refused) in [(total, false), (total / 2, false), (40, true)] {
            let small = recipe().with_budget(Budget::of_window(window));
            let fit = session.switch(&small, &to, None).await.unwrap().fit;
            assert!(!fit.fits);
            assert_eq!(fit.tokens.total(), total, "what it would take is told whole");
            assert_eq!(fit.refused.is_some(), is_refused, "{fit:?}");
            assert_eq!(fit.gives_way.is_empty(), is_refused);
            assert!(fit.left.is_none_or(|left| left <= window - window / 8), "{fit:?}");
        }
    });
}

#[test]
fn h9_the_current_model_must_be_known() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("hello")).await.unwrap();
        let to = target("anthropic", "claude-sonnet-4-5");
        let error = session.switch(&recipe(), &to, None).await.unwrap_err();
        assert!(error.to_string().contains("no request was recorded"), "{error}");
        let from = target("openai", "gpt-5");
        let switch = session.switch(&recipe(), &to, Some(&from)).await.unwrap();
        assert_eq!(switch.pay_back.samples, 1);
    });
}

#[test]
fn h9_what_a_request_costs_at_the_current_model_goes_by_where_its_marks_were() {
    block_on(async {
        for (vendor, model) in [("anthropic", "claude-sonnet-4-5"), ("openai", "gpt-5.6")] {
            let mut from = target(vendor, model);
            from.options.cache = CacheMarks::On;
            let mut session = Session::create(memory().await, "").await.unwrap();
            let (text, mut paid) = ("A clock is mended by its spring. ", Vec::new());
            for n in 0..4 {
                session.append(Message::user(&text.repeat(30))).await.unwrap();
                let recipe = Recipe::new()
                    .with_system(text.repeat(200))
                    .with_rule(PlacementRule::Tail)
                    .with_context(ContextKind::Todo, format!("{n}. {}", text.repeat(30)));
                if n == 3 {
                    let to = target("openai", "gpt-5");
                    let switch = session.switch(&recipe, &to, Some(&from)).await.unwrap();
                    paid.push(switch.from.price());
                    let mean = paid[1..].iter().sum::<f64>() / 3.0;
                    let each = switch.pay_back.each_now;
                    assert!((each - mean).abs() < 2.0, "{model}: {each} and not {mean}, {paid:?}");
                    break;
                }
                let sent = session.record(&recipe, &from).await.unwrap().request().unwrap();
                paid.push(sent.impact.cost.unwrap().price);
                session.append(Message::assistant("Yes.")).await.unwrap();
            }
        }
    });
}

#[test]
fn h9_the_answers_before_a_fork_count_after_it() {
    block_on(async {
        let mut session = session(&target("openai", "gpt-5"), 12).await;
        let last = session.head().next_request - 1;
        let usage = Usage { prompt: 5_000, completion: 700, ..Usage::default() };
        session.note_usage(last, usage).await.unwrap();
        let mut fork = session.fork("").await.unwrap().fork("").await.unwrap();
        // What is said in the first session after that is no part of the fork.
        session.request(&recipe(), &target("openai", "gpt-5")).await.unwrap();
        let usage = Usage { prompt: 5_000, completion: 9_000, ..Usage::default() };
        session.note_usage(last + 1, usage).await.unwrap();
        let switch = switch(&mut fork, &target("deepseek", "deepseek-chat")).await;
        assert_eq!(switch.pay_back.answer, Some(700));
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn h9_it_pays_back_when_less_has_been_paid(
        now_in in 0.1..20.0_f64,
        new_in in 0.01..20.0_f64,
        outputs in (0.0..80.0_f64, 0.0..80.0_f64),
        answers in prop::option::of(1..4_000_u64),
    ) {
        block_on(async {
            let from = target("anthropic", "claude-opus-4-6");
            let mut session = session(&from, 12).await;
            if let Some(completion) = answers {
                let last = session.head().next_request - 1;
                let usage = Usage { prompt: 5_000, completion, ..Usage::default() };
                session.note_usage(last, usage).await.unwrap();
            }
            let switch = switch(&mut session, &target("deepseek", "deepseek-chat")).await;
            assert_eq!(switch.pay_back.answer, answers);
            let (now, new) = (Price { input: now_in, output: outputs.0 }, Price { input: new_in, output: outputs.1 });
            let money = switch.pay_back.clone().priced(now, new).money.unwrap();
            let paid_now = |n: u64| money.first_now + (n - 1) as f64 * money.each_now;
            let paid_new = |n: u64| money.first_new + (n - 1) as f64 * money.each_new;
            let first = (1..5_000).find(|&n| paid_new(n) < paid_now(n));
            assert_eq!(first, money.requests.filter(|n| *n < 5_000), "{money:?}");
            // The same in parts of the price, where answers cost nothing.
            let (now, new) = (Price { output: 0.0, ..now }, Price { output: 0.0, ..new });
            let prompts = switch.pay_back.clone().priced(now, new).money.unwrap();
            for at in &switch.pay_back.break_even {
                let pays = prompts.requests.is_some_and(|n| n <= at.requests);
                let margin = (new_in / now_in - at.ratio).abs();
                assert!(margin < 1e-9 || pays == (new_in / now_in < at.ratio), "{at:?} {prompts:?}");
            }
        });
    }
}

#[test]
fn h11_warmth_is_that_of_the_last_request_at_the_same_model() {
    block_on(async {
        let mut target = target("anthropic", "claude-sonnet-4-5");
        target.options.cache = CacheMarks::On;
        let mut session = session(&target, 60).await;
        let at = now().unwrap();
        let warmth = session.warmth(None, &target, at).await.unwrap().unwrap();
        assert_eq!(warmth.request + 1, session.head().next_request);
        let keep = warmth.warmth.keep_alive.unwrap();
        assert_eq!((keep.every, keep.from), (270, 300));
        assert!(warmth.to_string().contains("a small request every 4 min 30 s costs"), "{warmth}");
        // The API's own count is the better one.
        let usage =
            Usage { prompt: 9_000, cache_read: 6_000, cache_write: 2_000, ..Usage::default() };
        session.note_usage(warmth.request, usage).await.unwrap();
        let told = session.warmth(None, &target, at).await.unwrap().unwrap();
        assert_eq!((told.warmth.tokens, told.warmth.cold), (8_000, 10_000.0));
        // What stands after the mark is computed by a small request too.
        let keep = told.warmth.keep_alive.unwrap();
        assert_eq!((keep.cost, keep.most), (800.0 + 1_000.0, Some(5)));
        let later =
            interleaf::model::Timestamp::from_microseconds(at.as_microseconds() + 400_000_000);
        let later = session.warmth(None, &target, later.unwrap()).await.unwrap().unwrap();
        assert_eq!((later.warmth.left, later.warmth.keep_alive), (Some(0), None));
        assert!(later.to_string().starts_with("gone: kept for 5 min, last used"), "{later}");
        let asked = std::mem::replace(&mut target.options.model, "claude-opus-4-6".into());
        assert_eq!(session.warmth(None, &target, at).await.unwrap(), None);
        target.options.model = asked;
        assert_eq!(session.warmth(Some(&"scout".into()), &target, at).await.unwrap(), None);
    });
}

#[test]
fn h9_marks_are_asked_of_the_new_model_and_the_current_one_goes_on_as_it_did() {
    block_on(async {
        let from = target("anthropic", "claude-sonnet-4-5");
        let mut session = session(&from, 120).await;
        let mut to = target("anthropic", "claude-opus-4-1");
        let plain = switch(&mut session, &to).await;
        to.options.cache = CacheMarks::On;
        let marked = switch(&mut session, &to).await;
        assert_eq!(marked.from.cost, plain.from.cost);
        assert!(marked.from.cost.unwrap().unmarked);
        assert!(marked.to.cost.unwrap().written > 0);
    });
}

#[test]
fn h9_two_models_of_one_vocabulary_are_counted_at_one_rate_and_another_rate_is_told() {
    block_on(async {
        let from = target("anthropic", "claude-sonnet-4-5");
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user(&"one word after another ".repeat(900))).await.unwrap();
        let recipe = Recipe::new().with_budget(Budget::of_window(1_000_000));
        for _ in 0..4 {
            let request = session.request(&recipe, &from).await.unwrap().request().unwrap();
            let prompt = request.report.tokens.unwrap().total() * 9 / 10;
            let mut reply = Reply::new(Message::assistant("Done."), Finish::Stop);
            reply.usage = Some(Usage { prompt, ..Usage::default() });
            session.take(reply).await.unwrap();
            session.append(Message::user("Go on.")).await.unwrap();
        }
        for (vendor, model, is_akin) in [
            ("anthropic", "claude-sonnet-4-6", true),
            ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", true),
            ("anthropic", "claude-3-5-haiku-20241022", true),
            ("anthropic", "claude-opus-4-7", false),
            ("google", "gemini-2.5-pro", false),
        ] {
            let switch = switch(&mut session, &target(vendor, model)).await;
            let (now, new) = (&switch.from, &switch.to);
            assert_eq!(now.counter, new.counter);
            assert_eq!(now.rate == new.rate, is_akin, "{model} {:?} {:?}", now.rate, new.rate);
            assert_eq!(switch.to_string().contains("may be the counting"), !is_akin, "{switch}");
        }
    });
}
