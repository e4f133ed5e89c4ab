//! How many tokens stand where in a request, as its impact tells.

use interleaf::assemble::{Budget, PlacementRule, Recipe, Summary};
use interleaf::model::{ContextKind, Finish, Message, MessageId, Reply, Tool, Usage};
use interleaf::wire::{CacheMarks, Family, Vendor};
use interleaf::{BreakCause, Session, Verdict};
use serde_json::json;

use crate::impact::{sent, target};
use crate::{block_on, memory, target_of};

fn words(n: usize) -> String {
    "A clock is mended by its spring. ".repeat(n)
}

/// A text that has many more tokens to the byte than words have.
fn figures(n: usize) -> String {
    (0..n)
        .map(|n| format!("{:08x} {}.{} ", n * 2_654_435_761_usize % 4_294_967_291, n, n * 7))
        .collect()
}

#[test]
fn h2_what_stands_before_a_summary_at_the_head_is_counted_apart_from_it() {
    block_on(async {
        for family in Family::ALL {
            for cache in [CacheMarks::Off, CacheMarks::On] {
                let mut target = target(family);
                target.options.cache = cache;
                let mut session = Session::create(memory().await, "").await.unwrap();
                for n in 0..4 {
                    session.append(Message::user(&format!("question {n}"))).await.unwrap();
                    session.append(Message::assistant(&words(100))).await.unwrap();
                }
                session.append(Message::user("And now?")).await.unwrap();
                let tool = Tool::new("look", words(20), json!({"type": "object"}));
                let recipe = Recipe::new()
                    .with_system(words(200))
                    .with_tools([tool])
                    .with_budget(Budget::of_window(1_000_000));
                let before = sent(&mut session, &recipe, &target).await.impact;
                let number = session.head().next_request - 1;
                let usage = Usage { prompt: before.tokens, ..Usage::default() };
                session.note_usage(number, usage).await.unwrap();
                let covers = (0..4).map(MessageId::of_index).collect();
                let summary = Summary { text: figures(300).into(), start: "m3".into(), covers };
                let recipe = recipe.with_summary(summary);
                let request = sent(&mut session, &recipe, &target).await;
                assert_eq!(request.impact.cause, BreakCause::Summary, "{family}");
                let tokens = request.report.tokens.unwrap();
                // Gemini has its tools after the system text.
                let tools = if family == Family::Gemini { 0 } else { tokens.tools };
                let token = request.impact.place.unwrap().token;
                assert_eq!(token, tools + tokens.system, "{family} {cache:?} {tokens:?}");
                if family == Family::OpenaiChat {
                    let cost = request.impact.cost.unwrap();
                    let whole = token - token % cost.step;
                    assert_eq!(cost.read, whole, "{cache:?} {tokens:?}");
                }
            }
        }
    });
}

/// Answers a request as an API does that counts this many tokens up to its end, and these up to
/// its last mark.
async fn answer(session: &mut Session, prompt: u64, marked: u64) -> Usage {
    let mut reply = Reply::new(Message::assistant(&words(3)), Finish::Stop);
    let usage = Usage { prompt, completion: 40, cache_write: marked, ..Usage::default() };
    reply.usage = Some(usage);
    session.take(reply).await.unwrap();
    usage
}

#[test]
fn h2_a_read_that_ends_where_the_api_has_counted_is_predicted_as_it_counted() {
    block_on(async {
        for (vendor, model) in [("openai", "gpt-5.6"), ("anthropic", "claude-sonnet-4-5")] {
            for rule in [PlacementRule::Delta(100), PlacementRule::Tail] {
                let mut target = target_of(Vendor::named(vendor).unwrap(), model);
                target.options.cache = CacheMarks::On;
                let mut session = Session::create(memory().await, "").await.unwrap();
                let mut last: Option<Usage> = None;
                for n in 0..5_u64 {
                    session.append(Message::user(&format!("{n} {}", figures(20)))).await.unwrap();
                    let recipe = Recipe::new()
                        .with_system(words(300))
                        .with_rule(rule.clone())
                        .with_context(ContextKind::Todo, format!("{n}. {}", words(2)))
                        .with_budget(Budget::of_window(1_000_000));
                    let impact = sent(&mut session, &recipe, &target).await.impact;
                    let cost = impact.cost.as_ref().unwrap();
                    // Its count is another at each place.
                    let prompt = impact.tokens * 9 / 8 + n * n;
                    let marked = (cost.read + cost.written) * 10 / 9;
                    let is_end = vendor == "openai";
                    let usage = Usage { prompt, ..Usage::default() };
                    if let Some(last) = last.filter(|_| !is_end || rule != PlacementRule::Tail) {
                        let told = if is_end { last.prompt } else { last.cache_write };
                        assert_eq!(impact.predicted(usage), Some(told), "{model} {rule} {n}");
                    }
                    last = Some(answer(&mut session, prompt, marked).await);
                }
            }
        }
    });
}

#[test]
fn h2_reads_that_are_told_in_steps_are_predicted_in_steps_of_the_apis_own_count() {
    block_on(async {
        let target = target_of(Vendor::named("openai").unwrap(), "gpt-5");
        let mut session = Session::create(memory().await, "").await.unwrap();
        let recipe = Recipe::new().with_budget(Budget::of_window(1_000_000));
        let mut last = 0;
        for n in 0..6 {
            session.append(Message::user(&format!("{n} {}", words(190 + n)))).await.unwrap();
            let impact = sent(&mut session, &recipe, &target).await.impact;
            let step = impact.cost.as_ref().unwrap().step;
            assert!(step > 1);
            if n > 0 {
                let usage = Usage { prompt: impact.tokens + step, ..Usage::default() };
                assert_eq!(impact.predicted(usage), Some(last), "{n} {impact:?}");
            }
            // It counts a little more than we do, so that the prompt reaches the next step.
            last = impact.tokens.next_multiple_of(step);
            answer(&mut session, last + 3, 0).await;
        }
    });
}

#[test]
fn h2_the_least_that_a_cache_keeps_is_of_the_tokens_that_the_api_counts() {
    block_on(async {
        for (times, is_kept) in [(0.9, false), (1.1, true)] {
            let target = target_of(Vendor::named("google").unwrap(), "gemini-2.5-pro");
            let mut session = Session::create(memory().await, "").await.unwrap();
            let recipe = Recipe::new().with_budget(Budget::of_window(1_000_000));
            // By our count it is a little more than 2,048 tokens, or a little less.
            let n = if is_kept { 185 } else { 210 };
            session.append(Message::user(&words(n))).await.unwrap();
            let first = sent(&mut session, &recipe, &target).await.impact.tokens;
            let prompt = (first as f64 * times) as u64;
            assert!((first >= 2_048) != (prompt >= 2_048), "{first} {prompt}");
            answer(&mut session, prompt, 0).await;
            session.append(Message::user("And now?")).await.unwrap();
            let cost = sent(&mut session, &recipe, &target).await.impact.cost.unwrap();
            assert_eq!(cost.read > 0, is_kept, "{prompt} {cost:?}");
        }
    });
}

#[test]
fn h2_what_the_api_says_that_it_did_not_write_is_not_expected_to_be_read() {
    block_on(async {
        // The minimum is 4,096 tokens; the second prompt is as long, but not up to its mark.
        for prompt in [3_900, 4_110] {
            let mut target = target_of(Vendor::named("anthropic").unwrap(), "claude-haiku-4-5");
            target.options.cache = CacheMarks::On;
            let mut session = Session::create(memory().await, "").await.unwrap();
            let budget = Budget::of_window(1_000_000);
            let recipe = Recipe::new().with_budget(budget).with_system(words(20));
            session.append(Message::user(&words(400))).await.unwrap();
            let first = sent(&mut session, &recipe, &target).await.impact;
            let cost = first.cost.as_ref().unwrap();
            assert!((4_096..5_000).contains(&cost.written), "{cost:?}");
            let usage = answer(&mut session, prompt, 0).await;
            assert_eq!(first.verdict(usage), Some(Verdict::LessWritten), "{first:?}");
            let whole = Usage { cache_write: prompt * cost.written / first.tokens, ..usage };
            assert_eq!(first.verdict(whole), Some(Verdict::AsPredicted));
            session.append(Message::user("And now?")).await.unwrap();
            let second = sent(&mut session, &recipe, &target).await.impact;
            assert_eq!(second.cost.as_ref().unwrap().read, 0, "{second:?}");
            let usage = Usage { prompt: prompt + 60, ..Usage::default() };
            assert_ne!(second.verdict(usage), Some(Verdict::TheirMiss), "{second:?}");
            answer(&mut session, prompt + 60, 0).await;
            session.append(Message::user("And then?")).await.unwrap();
            let third = sent(&mut session, &recipe, &target).await.impact;
            assert_eq!(third.cost.unwrap().read, 0);
        }
    });
}

#[test]
fn h2_a_model_that_comes_back_after_many_requests_to_others_finds_what_it_had() {
    block_on(async {
        let models = [
            ('g', "google", "gemini-2.5-pro"),
            ('r', "openai-responses", "gpt-5"),
            ('o', "openai", "gpt-5"),
            ('a', "anthropic", "claude-sonnet-4-5"),
        ];
        for order in ["grooooooog", "grgrooooooooogr", "garoooooooogar"] {
            let mut session = Session::create(memory().await, "").await.unwrap();
            session.append(Message::user(&words(600))).await.unwrap();
            let recipe = Recipe::new().with_budget(Budget::of_window(1_000_000));
            let mut known = Vec::new();
            for (n, name) in order.chars().enumerate() {
                let (_, vendor, model) = models.iter().find(|model| model.0 == name).unwrap();
                let mut target = target_of(Vendor::named(vendor).unwrap(), model);
                target.options.cache = CacheMarks::On;
                let cost = sent(&mut session, &recipe, &target).await.impact.cost.unwrap();
                assert_eq!(cost.read > 3_000, known.contains(&name), "{order} {n} {cost:?}");
                known.push(name);
                session.append(Message::assistant("It is done.")).await.unwrap();
                session.append(Message::user("Go on.")).await.unwrap();
            }
        }
    });
}
