//! Marks for the cache, as the impact of a request tells of them.

use interleaf::assemble::{Budget, PlacementRule, Recipe, Summary};
use interleaf::cache::{Match, Rules};
use interleaf::conversation::{Operation, Replace, Truncate};
use interleaf::model::{ContextKind, Finish, Message, MessageId, Reply, Tool, Usage};
use interleaf::wire::{CacheMarks, Family};
use interleaf::{BreakCause, Session, Target};
use serde_json::json;

use crate::impact::{recipe, sent, target};
use crate::{block_on, memory};

#[test]
fn h2_marks_that_are_switched_on_in_mid_session_change_nothing_and_ones_switched_off_are_told() {
    block_on(async {
        for family in Family::ALL {
            let mut session = Session::create(memory().await, "").await.unwrap();
            session.append(Message::user("mend the clock")).await.unwrap();
            let mut target = target(family);
            sent(&mut session, &recipe(), &target).await;
            target.options.cache = CacheMarks::On;
            let marked = sent(&mut session, &recipe(), &target).await;
            assert_eq!(marked.impact.cause, BreakCause::Same, "{family:?}");
            target.options.cache = CacheMarks::Off;
            let unmarked = sent(&mut session, &recipe(), &target).await;
            let matches = target.rules().map(|rules| rules.matches);
            let told = match matches {
                Some(Match::Marks { implicit: false, .. }) => BreakCause::Marks,
                _ => BreakCause::Same,
            };
            assert_eq!(unmarked.impact.cause, told, "{family:?}");
        }
    });
}

#[test]
fn h2_a_request_without_marks_is_told_to_leave_nothing_where_marks_are_needed() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user(&"word ".repeat(9_000))).await.unwrap();
        for (family, vendor) in [(Family::Anthropic, "anthropic"), (Family::OpenaiChat, "openai")] {
            for marks in [CacheMarks::Off, CacheMarks::On] {
                let mut target = target(family);
                (target.cache_rules, target.options.cache) = (Rules::named(vendor), marks);
                let cost = sent(&mut session, &recipe(), &target).await.impact.cost.unwrap();
                let is_needed = family == Family::Anthropic && marks == CacheMarks::Off;
                assert_eq!(cost.unmarked, is_needed, "{family} {marks:?}");
                assert!(!cost.unmarked || cost.written == 0, "{family} {marks:?}");
                assert!(cost.unbroken <= cost.price, "{family} {marks:?} {cost:?}");
            }
        }
    });
}

/// A target whose cache goes by marks.
fn by_marks(family: Family) -> Target {
    let mut target = target(family);
    target.options.cache = CacheMarks::On;
    target.options.model = match family {
        Family::OpenaiChat | Family::OpenaiResponses => "gpt-5.6".into(),
        _ => "claude-sonnet-4-5".into(),
    };
    let bare = family == Family::Bedrock;
    target.cache_rules = bare.then(|| Rules::named("bedrock")).flatten();
    target
}

const MARKED: [Family; 4] =
    [Family::Anthropic, Family::Bedrock, Family::OpenaiChat, Family::OpenaiResponses];

fn words(n: usize) -> String {
    "A clock is mended by its spring. ".repeat(n)
}

#[test]
fn h2_a_marked_text_that_goes_on_is_another_block_and_is_not_read() {
    block_on(async {
        for family in MARKED {
            let target = by_marks(family);
            let mut session = Session::create(memory().await, "").await.unwrap();
            session.append(Message::user(&words(400))).await.unwrap();
            let plain = Recipe::new();
            sent(&mut session, &plain, &target).await;
            let longer = Message::user(&format!("{}And mend it.", words(400)));
            let replace = Replace { index: 0, message: longer, split_blocks: false };
            session.operate(Operation::Replace(replace)).await.unwrap();
            let cost = sent(&mut session, &plain, &target).await.impact.cost.unwrap();
            assert_eq!(cost.read, 0, "{family} {cost:?}");
        }
    });
}

#[test]
fn h2_what_stands_before_a_summary_at_the_head_is_read_up_to_its_mark() {
    block_on(async {
        for family in MARKED {
            let target = by_marks(family);
            let mut session = Session::create(memory().await, "").await.unwrap();
            for n in 0..4 {
                session.append(Message::user(&format!("question {n}"))).await.unwrap();
                session.append(Message::assistant("an answer")).await.unwrap();
            }
            session.append(Message::user("And now?")).await.unwrap();
            let recipe = Recipe::new().with_system(words(400));
            let whole = sent(&mut session, &recipe, &target).await.impact;
            let covers = (0..4).map(MessageId::of_index).collect();
            let text = "They asked four things.".into();
            let recipe = recipe.with_summary(Summary { text, start: "m3".into(), covers });
            let told = sent(&mut session, &recipe, &target).await.impact;
            assert_eq!(told.cause, BreakCause::Summary, "{family}");
            let cost = told.cost.unwrap();
            let near = cost.read + 200 > whole.tokens && cost.read <= whole.tokens;
            assert!(near, "{family} {cost:?} of {}", whole.tokens);
            let place = told.place.unwrap();
            assert!(place.byte >= told.byte.unwrap(), "{family} {place:?}");
            assert_eq!((place.message, place.is_head()), (1, false), "{family}");
            assert!(place.token + 200 > whole.tokens, "{family} {place:?}");
        }
    });
}

#[test]
fn h2_what_messages_that_are_gone_have_cost_is_told_also_where_marks_decide() {
    block_on(async {
        for family in MARKED {
            let target = by_marks(family);
            let mut session = Session::create(memory().await, "").await.unwrap();
            for n in 0..6 {
                session.append(Message::user(&format!("{n} {}", words(60)))).await.unwrap();
                session.append(Message::assistant(&words(60))).await.unwrap();
            }
            session.append(Message::user("And now?")).await.unwrap();
            let recipe = Recipe::new().with_system(words(200));
            sent(&mut session, &recipe, &target).await;
            let cut = Truncate { remove_first: Some(4), ..Truncate::default() };
            session.operate(Operation::Truncate(cut)).await.unwrap();
            let cost = sent(&mut session, &recipe, &target).await.impact.cost.unwrap();
            assert!(cost.price > 2.0 * cost.unbroken, "{family} {cost:?}");
        }
    });
}

#[test]
fn h2_a_session_whose_marks_are_switched_off_still_shares_all_that_it_sent() {
    block_on(async {
        for family in [Family::OpenaiChat, Family::OpenaiResponses] {
            let mut target = by_marks(family);
            let mut session = Session::create(memory().await, "").await.unwrap();
            session.append(Message::user(&words(400))).await.unwrap();
            session.append(Message::assistant("Yes.")).await.unwrap();
            session.append(Message::user("And now?")).await.unwrap();
            let recipe = Recipe::new().with_system(words(100));
            let before = sent(&mut session, &recipe, &target).await.impact;
            target.options.cache = CacheMarks::Off;
            let same = sent(&mut session, &recipe, &target).await.impact;
            let cost = same.cost.unwrap();
            let all = (BreakCause::Same, same.tokens, 0);
            assert_eq!((same.cause, cost.read, cost.written), all, "{family}");
            session.append(Message::assistant("No.")).await.unwrap();
            session.append(Message::user("Why?")).await.unwrap();
            let told = sent(&mut session, &recipe, &target).await.impact;
            assert_eq!(told.cause, BreakCause::Appended, "{family}");
            let cost = told.cost.unwrap();
            assert!(cost.read * 100 > before.tokens * 97, "{family} {cost:?} of {}", before.tokens);
            assert!((cost.price - cost.unbroken).abs() < 1.0, "{family} {cost:?}");
        }
    });
}

#[test]
fn h2_tools_that_a_body_has_after_its_system_text_are_put_before_it() {
    block_on(async {
        let mut target = target(Family::Gemini);
        target.options.model = "gemini-2.5-pro".into();
        let with = |n: usize| {
            let tool = |n| Tool::new(format!("tool{n}"), "It helps.", json!({"type": "object"}));
            Recipe::new().with_system(words(400)).with_tools((0..n).map(tool).collect::<Vec<_>>())
        };
        for [before, after] in [[0, 1], [1, 2], [1, 0]] {
            let mut session = Session::create(memory().await, "").await.unwrap();
            session.append(Message::user("mend the clock")).await.unwrap();
            sent(&mut session, &with(before), &target).await;
            let told = sent(&mut session, &with(after), &target).await.impact;
            assert!(matches!(told.cause, BreakCause::Tools { .. }), "{before} {after}");
            let read = told.cost.unwrap().read;
            assert_eq!((told.place.unwrap().token, read), (0, 0), "{before} {after}");
        }
    });
}

#[test]
fn h2_what_is_not_for_the_model_does_not_move_the_place_in_the_head() {
    block_on(async {
        for family in [Family::Anthropic, Family::OpenaiChat, Family::Gemini] {
            let mut target = target(family);
            let mut session = Session::create(memory().await, "").await.unwrap();
            session.append(Message::user("mend the clock")).await.unwrap();
            let with = |text: &str| Recipe::new().with_system(format!("{}{text}", words(50)));
            sent(&mut session, &with("Be quick."), &target).await;
            target.options.max_tokens = Some(90);
            let request = sent(&mut session, &with("Be slow."), &target).await;
            assert_eq!(request.impact.cause, BreakCause::System, "{family}");
            let body = String::from_utf8(request.body.to_bytes()).unwrap();
            let place = request.impact.place.unwrap();
            let rest = &body[place.byte as usize..];
            assert!(rest.starts_with("slow."), "{family} {}", &rest[..30]);
        }
    });
}

#[test]
fn h2_what_an_estimate_has_learned_does_not_change_what_part_is_read() {
    block_on(async {
        for (family, marks) in
            [(Family::Anthropic, CacheMarks::On), (Family::Gemini, CacheMarks::Off)]
        {
            for times in [0.4, 2.5] {
                let mut parts = Vec::new();
                for learns in [false, true] {
                    let mut target = target(family);
                    target.options.cache = marks;
                    let names = (family == Family::Anthropic).then_some("anthropic");
                    target.cache_rules = Rules::named(names.unwrap_or("gemini"));
                    let recipe = Recipe::new()
                        .with_system(words(800))
                        .with_budget(Budget::of_window(1_000_000));
                    let mut session = Session::create(memory().await, "").await.unwrap();
                    let mut reads = Vec::new();
                    for n in 0..8 {
                        session
                            .append(Message::user(&format!("{n} {}", words(300))))
                            .await
                            .unwrap();
                        let impact = sent(&mut session, &recipe, &target).await.impact;
                        reads.push(impact.cost.unwrap().read as f64 / impact.tokens as f64);
                        let factor = if learns { times } else { 1.0 };
                        let prompt = (impact.tokens as f64 * factor) as u64;
                        let mut reply = Reply::new(Message::assistant("Done."), Finish::Stop);
                        reply.usage = Some(Usage { prompt, completion: 3, ..Usage::default() });
                        session.take(reply).await.unwrap();
                    }
                    parts.push(reads);
                }
                let near = parts[0].iter().zip(&parts[1]).all(|(a, b)| (a - b).abs() < 0.02);
                assert!(near, "{family} at {times}: {parts:.3?}");
            }
        }
    });
}

/// What each request of a session is expected to read, of which these have marks.
async fn reads(family: Family, marks: &str) -> Vec<u64> {
    let mut target = by_marks(family);
    let mut session = Session::create(memory().await, "").await.unwrap();
    let mut reads = Vec::new();
    for (n, mark) in marks.chars().enumerate() {
        target.options.cache = if mark == '+' { CacheMarks::On } else { CacheMarks::Off };
        session.append(Message::user(&format!("{n} {}", words(40)))).await.unwrap();
        let recipe = Recipe::new()
            .with_system(words(150))
            .with_rule(PlacementRule::Tail)
            .with_context(ContextKind::Todo, format!("{n}. {}", words(5)))
            .with_budget(Budget::of_window(1_000_000));
        let impact = sent(&mut session, &recipe, &target).await.impact;
        let read = impact.cost.unwrap().read;
        assert!(impact.place.is_none_or(|place| read <= place.token), "{family} {marks} {n}");
        reads.push(read);
        session.append(Message::assistant("Yes.")).await.unwrap();
    }
    reads
}

#[test]
fn h2_marks_that_are_switched_on_or_off_do_not_move_what_earlier_ones_have_written() {
    block_on(async {
        for family in MARKED {
            let is_implicit = matches!(family, Family::OpenaiChat | Family::OpenaiResponses);
            let always = reads(family, "++++++++++").await;
            for marks in ["+++---+++", "++-+--+-+", "---+++---", "+--++----"] {
                let mut left = 0;
                for (n, read) in reads(family, marks).await.into_iter().enumerate() {
                    let is_marked = marks[n..].starts_with('+');
                    let looks = is_marked || is_implicit;
                    assert_eq!(read, if looks { left } else { 0 }, "{family} {marks} {n}");
                    // What is written at a mark is what the next one would read.
                    left = if is_marked { always[n + 1] } else { left };
                }
            }
        }
    });
}

#[test]
fn h2_marks_that_are_switched_on_late_change_nothing_in_a_long_session() {
    block_on(async {
        for family in MARKED {
            let mut target = by_marks(family);
            let mut session = Session::create(memory().await, "").await.unwrap();
            for _ in 0..80 {
                session.append(Message::user(&words(1))).await.unwrap();
                session.append(Message::assistant("Yes.")).await.unwrap();
            }
            session.append(Message::user("And now?")).await.unwrap();
            let matches = target.rules().map(|rules| rules.matches);
            let off = match matches {
                Some(Match::Marks { implicit: false, .. }) => BreakCause::Marks,
                _ => BreakCause::Same,
            };
            for (cache, cause) in [
                (CacheMarks::Off, BreakCause::First),
                (CacheMarks::On, BreakCause::Same),
                (CacheMarks::Off, off),
            ] {
                target.options.cache = cache;
                let impact = sent(&mut session, &Recipe::new(), &target).await.impact;
                assert_eq!(impact.cause, cause, "{family} {cache:?}");
            }
        }
    });
}

#[test]
fn h2_what_marks_that_were_switched_off_cost_is_a_miss_of_ours() {
    block_on(async {
        let mut target = by_marks(Family::Anthropic);
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user(&words(800))).await.unwrap();
        let plain = Recipe::new();
        sent(&mut session, &plain, &target).await;
        session.append(Message::assistant("Done.")).await.unwrap();
        session.append(Message::user("And now?")).await.unwrap();
        target.options.cache = CacheMarks::Off;
        let impact = sent(&mut session, &plain, &target).await.impact;
        let cost = impact.cost.clone().unwrap();
        assert_eq!((&impact.cause, cost.read), (&BreakCause::Marks, 0));
        assert!(cost.unbroken * 4.0 < cost.price, "{cost:?}");
        let usage = Usage { prompt: impact.tokens, ..Usage::default() };
        assert_eq!(impact.verdict(usage), Some(interleaf::Verdict::OurMiss));
    });
}
