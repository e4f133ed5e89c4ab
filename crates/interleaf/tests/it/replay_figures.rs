//! What a replay says of the cache is what was said of it when the requests were made.

use std::sync::Arc;

use interleaf::assemble::{Budget, Carrier, ContextText, Ledger, Recipe};
use interleaf::model::{ContextKind, Finish, Json, Message, Reply, Role, Tool, Usage};
use interleaf::replay::{PlayedRequest, Reading, Shares, Ways, run};
use interleaf::wire::CacheMarks;
use interleaf::{BreakCause, Cost, Impact, Session, Target};
use interleaf_samples::working_session::{Course, Step, working_session};

use crate::{block_on, memory};

const RULES: [&str; 6] =
    ["after_tool_result(3)", "after_system", "tail", "sticky(6)", "delta", "auto"];

/// A message has other bytes around its text in each form: where two requests part within one,
/// the tokens before that place may differ by this many.
const NEAR: u64 = 24;

fn steps() -> Vec<Step> {
    working_session(Course { n_requests: 24, change_every: 2, results: (100, 900) })
}

fn contexts(step: &Step) -> impl Iterator<Item = ContextText> {
    let kinds = [ContextKind::Role, ContextKind::Todo, ContextKind::Info, ContextKind::Notes];
    kinds.into_iter().zip(&step.context).map(|(kind, text)| ContextText::new(kind, text.as_str()))
}

fn recipe(rule: &str, step: &Step) -> Recipe {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;
    let tool = Tool::new("read_file", "Reads a file.", Json::parse(schema).unwrap());
    let tools: Arc<[Tool]> = [tool].into();
    let mut recipe = Recipe::new().with_rule(rule.parse().unwrap()).with_tools(tools);
    // With a budget, the session's own ledger counts, as it does in a replay.
    recipe = recipe.with_system("You mend programs.").with_budget(Budget::of_window(100_000));
    recipe.context.extend(contexts(step));
    recipe
}

/// The tokens of the longest message and text of the context.
fn longest(model: &str) -> u64 {
    let ledger = Ledger::for_model(model);
    let tokens = |message: &Message| ledger.message(&Arc::new(message.clone()));
    let of_step = |step: &Step| {
        let texts = contexts(step).map(|text| tokens(&Message::user(&text.text)));
        step.said.iter().map(tokens).chain(texts).max().unwrap()
    };
    steps().iter().map(of_step).max().unwrap()
}

/// What was said of each request when it was made, and what a replay says.
async fn both(rule: &str, to: &Target) -> Vec<(Impact, Reading)> {
    both_by(to, |step| recipe(rule, step)).await
}

async fn both_by(to: &Target, recipe: impl Fn(&Step) -> Recipe) -> Vec<(Impact, Reading)> {
    let mut session = Session::create(memory().await, "").await.unwrap();
    for step in steps() {
        for message in &step.said {
            // An answer that a session has taken is known to be the model's own.
            match message.role() {
                Role::Assistant => {
                    let reply = Reply::new(message.clone(), Finish::ToolCalls);
                    session.take(reply).await.unwrap();
                }
                _ => drop(session.append(message.clone()).await.unwrap()),
            }
        }
        session.request(&recipe(&step), to).await.unwrap();
    }
    let scripts = session.scripts(|| {}).await.unwrap();
    let mut ways = Ways::default();
    ways.rules = vec!["recorded".parse().unwrap()];
    let outcome = run(&scripts, &ways, &|| {}).unwrap();
    let told = session.explain(None, None, 99).await.unwrap();
    let played = outcome.sessions[0].plays[0].requests.iter();
    let played = played.map(|request| PlayedRequest::made(request).unwrap().clone());
    let told = told.into_iter().map(|told| told.impact.unwrap());
    let both: Vec<(Impact, Reading)> = told.zip(played).collect();
    assert_eq!(both.len(), 24);
    both
}

/// Holds the figures of a vendor's requests against each other by every rule, and gives how
/// many tokens are read in all.
async fn check(to: &Target, check: impl Fn(&Impact, &Cost, &Reading)) -> u64 {
    let mut read = 0;
    for rule in RULES {
        for (number, (impact, played)) in both(rule, to).await.iter().enumerate() {
            let told = impact.cost.as_ref().unwrap();
            let name = &to.vendor.name;
            println!("{name}, {rule}, request {number}: {told:?} and {played:?}");
            assert_eq!(played.tokens, impact.tokens);
            assert_eq!(told.read + told.computed, impact.tokens);
            check(impact, told, played);
            read += played.read;
        }
    }
    read
}

#[test]
fn h3_a_replay_as_it_was_recorded_reads_what_was_to_be_read_where_nothing_is_marked() {
    block_on(async {
        for (vendor, model, keeps_answers) in [
            ("openai", "gpt-5", false),
            ("openai", "gpt-5.6", false),
            ("google", "gemini-2.5-pro", false),
            ("deepseek", "deepseek-chat", true),
            // What stands side by side is one text here.
            ("llama-cpp", "a-model", true),
        ] {
            let to = Target::new(vendor, model).unwrap().with_key("k");
            let longest = longest(model);
            let read = check(&to, |impact, told, played| {
                assert_eq!(played.written, told.written);
                match impact.cause.breaks() {
                    // The answer is a message in one, and in the other a stretch of bytes among
                    // which tokens are taken to be spread evenly: they may fall into two steps
                    // of the cache.
                    false if keeps_answers => {
                        assert!(played.read.abs_diff(told.read) <= told.step.max(longest / 8));
                    }
                    false => assert_eq!(played.read, told.read),
                    // Both count the beginning of the message in which two requests part: one in
                    // the API's form, the other in ours.
                    true => {
                        assert!(played.read.abs_diff(told.read) <= told.step + NEAR);
                    }
                }
            });
            assert!(read.await > 100_000, "{vendor}");
        }
    });
}

#[test]
fn h3_a_replay_as_it_was_recorded_reads_nothing_where_marks_are_heeded_and_none_was_sent() {
    block_on(async {
        let to = Target::new("anthropic", "claude-sonnet-4-5").unwrap().with_key("k");
        let read = check(&to, |_, told, played| {
            assert_eq!((played.read, played.written), (told.read, told.written));
        });
        assert_eq!(read.await, 0);
    });
}

#[test]
fn h3_a_replay_as_it_was_recorded_reads_about_what_was_to_be_read_at_marks() {
    block_on(async {
        for (vendor, model) in [
            ("anthropic", "claude-sonnet-4-5"),
            ("openai", "gpt-5.6"),
            ("openai-responses", "gpt-5.6"),
        ] {
            let mut to = Target::new(vendor, model).unwrap().with_key("k");
            to.options.cache = CacheMarks::On;
            let minimum = 1_024;
            let read = check(&to, |impact, told, played| {
                // An impact knows the byte of a mark, and takes the tokens before it to be
                // spread evenly: near the shortest prefix that is kept, one may write and the
                // other not.
                let near = (impact.tokens / 20).max(1);
                let is_short = |n: u64| n == 0 || n < minimum + near;
                let (a, b) = (told.read + told.written, played.read + played.written);
                if !(is_short(a) && is_short(b)) {
                    assert!(a.abs_diff(b) <= near, "kept: {a} and {b}");
                    assert!(told.read.abs_diff(played.read) <= near);
                }
            });
            assert!(read.await > 100_000, "{vendor}");
        }
    });
}

#[test]
fn h3_context_that_a_message_carries_is_told_as_context_with_all_its_tokens() {
    block_on(async {
        for (vendor, model) in [
            ("google", "gemini-2.5-pro"),
            ("openai", "gpt-5"),
            ("openai-responses", "gpt-5"),
            ("llama-cpp", "a-model"),
        ] {
            let to = Target::new(vendor, model).unwrap().with_key("k");
            // What a message takes beside its text; a text that another message carries takes none.
            let ledger = Ledger::for_model(model);
            let text = Arc::new(Message::user("text"));
            let border = ledger.message(&text) - ledger.carried(&text);
            for rule in ["after_tool_result(3)", "tail", "sticky(6)", "auto"] {
                let attached = |step: &Step| recipe(rule, step).with_carrier(Carrier::Attached);
                let alone = both(rule, &to).await;
                let carried = both_by(&to, attached).await;
                for ((impact, played), (_, alone)) in carried.iter().zip(&alone) {
                    let told = impact.cost.as_ref().unwrap();
                    let row = format!("{vendor} {rule}: {told:?} and {played:?}");
                    assert_eq!(played.tokens, impact.tokens, "{row}");
                    assert!(played.shares.context.keys().eq(alone.shares.context.keys()), "{row}");
                    for (kind, tokens) in &alone.shares.context {
                        let without = tokens - played.shares.context[kind];
                        assert!(without.is_multiple_of(border), "{without} of {kind}: {row}");
                    }
                    let Shares { user, assistant, results, context, .. } = &played.shares;
                    let said = user + assistant + results + context.values().sum::<u64>();
                    let head = played.system + played.tools + played.summary;
                    assert_eq!(head + said, played.tokens, "{row}");
                    assert_eq!(played.shares.results, alone.shares.results, "{row}");
                    assert!(played.read.abs_diff(told.read) <= told.step + NEAR, "{row}");
                }
            }
        }
    });
}

#[test]
fn h3_a_system_text_that_changes_in_its_middle_is_read_up_to_there() {
    block_on(async {
        let to = Target::new("google", "gemini-2.5-pro").unwrap().with_key("k");
        let recipe = |step: &Step| {
            let (before, after) = ("You mend programs. ".repeat(2_000), "Be brief. ".repeat(500));
            let said = step.said.len() + step.context[1].len();
            let system = format!("{before} It is {said}. {after}");
            let mut recipe = Recipe::new().with_system(system);
            recipe.budget = Some(Budget::of_window(100_000));
            recipe
        };
        let mut n_parted = 0;
        for (impact, played) in both_by(&to, recipe).await {
            let told = impact.cost.as_ref().unwrap();
            assert!(played.read.abs_diff(told.read) <= NEAR, "{told:?} and {played:?}");
            if matches!(impact.cause, BreakCause::System) {
                assert!(played.read > 5_000, "{played:?}");
                n_parted += 1;
            }
        }
        assert!(n_parted > 4);
    });
}

#[test]
fn h3_the_same_tools_have_the_same_tokens_in_every_request_whatever_the_count_learned_meanwhile() {
    block_on(async {
        let to = Target::new("anthropic", "claude-sonnet-4-5").unwrap().with_key("k");
        let schema = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;
        let tool = Tool::new("read_file", "Reads a file.", Json::parse(schema).unwrap());
        let mut session = Session::create(memory().await, "").await.unwrap();
        for (number, step) in steps().iter().enumerate() {
            for message in &step.said {
                session.append(message.clone()).await.unwrap();
            }
            let recipe = recipe("tail", step).with_tools(Arc::from([tool.clone()]));
            let ledger = session.ledger("claude-sonnet-4-5").await.unwrap();
            let recipe = recipe.with_system("You mend clocks.").with_ledger(ledger);
            let made = session.request(&recipe, &to).await.unwrap().request().unwrap();
            let prompt = made.report.tokens.as_ref().unwrap().total() * 3 / 2;
            let usage = Usage { prompt, completion: 1, ..Usage::default() };
            session.note_usage(number as u64, usage).await.unwrap();
        }
        let scripts = session.scripts(|| {}).await.unwrap();
        let rates: Vec<_> = scripts[0].turns.iter().map(|turn| turn.rate).collect();
        assert!(rates.windows(2).any(|two| two[0] != two[1]), "{rates:?}");
        let mut ways = Ways::default();
        ways.rules = vec!["recorded".parse().unwrap(), "tail".parse().unwrap()];
        for play in &run(&scripts, &ways, &|| {}).unwrap().sessions[0].plays {
            let made = play.requests.iter().map(|request| request.made().unwrap());
            let heads: Vec<_> = made.map(|made| (made.tools, made.system)).collect();
            assert!(heads.iter().all(|head| *head == heads[0]), "{}: {heads:?}", play.rule);
        }
    });
}
