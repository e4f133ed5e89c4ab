//! Sessions that are compacted while they are asked: when it is due, and after an overflow.

use interleaf::Session;
use interleaf::assemble::Recipe;
use interleaf::compaction::Trigger;
use interleaf::conversation::PINNED;
use interleaf::model::Message;
use interleaf::wire::{ApiErrorKind, Family};
use interleaf_doubles::{Double, Fault, Planned, Settings};
use interleaf_transport::{
    Because, CompactedBecause, Compacting, ErrorKind, Limit, Retries, Timeouts,
};

use crate::compact::{at, policy, recipe, talk, worker};
use crate::families::{FAMILIES, builder, target, transport};
use crate::server::{Act, Server};

/// How many requests for a summary a double got.
fn n_summaries(double: &Double) -> usize {
    let requests = double.requests();
    let bodies = requests.iter().map(|exchange| exchange.body.to_string());
    bodies.filter(|body| body.contains("Answer with the summary alone")).count()
}

/// No budget: what is sent is only found too long by the API.
fn unbounded() -> Recipe {
    Recipe::new().with_system("You are a careful agent.")
}

#[tokio::test]
async fn live_row_20_a_request_that_overflows_is_compacted_once_sent_again_and_the_next_one_fits() {
    for (seed, family) in FAMILIES.into_iter().enumerate() {
        let settings = Settings::new().with_brain(worker).with_window(2_500);
        let double = Double::start(settings).await.unwrap();
        let target = at(&double, family);
        let transport = transport().compacting(Compacting::new(policy()));
        let (mut session, facts) = talk(seed, 16).await;
        let answer = transport.ask(&mut session, &unbounded(), &target).await.unwrap();
        assert_eq!(answer.reply.message.text(), "That is done.");
        let because: Vec<_> = answer.attempts.iter().map(|attempt| attempt.because).collect();
        assert_eq!(because, [Because::First, Because::Compacted], "{family}");
        let [done] = answer.compactions.as_slice() else { panic!("{:?}", answer.compactions) };
        assert_eq!(done.because, CompactedBecause::Overflow);
        let summary = session.active_summary().await.unwrap().unwrap().text;
        assert!(facts[0].iter().all(|fact| summary.contains(&**fact)), "{summary}");
        // Once for this overflow, and not again.
        session.append(Message::user("And then?")).await.unwrap();
        let answer = transport.ask(&mut session, &unbounded(), &target).await.unwrap();
        assert!(answer.compactions.is_empty() && answer.attempts.len() == 1, "{family}");
        assert_eq!(session.summaries().await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn live_row_20_an_api_that_finds_everything_too_long_is_asked_three_times_and_no_more() {
    let mut settings = Settings::new().with_brain(worker);
    settings.faults.push(Planned { nth: None, fault: Fault::Overflow });
    let double = Double::start(settings).await.unwrap();
    let target = at(&double, Family::Anthropic);
    let mut policy = policy();
    (policy.summary_tokens, policy.keep_turns) = (600, 8);
    policy.facts.clear();
    let transport = transport().compacting(Compacting::new(policy));
    let (mut session, _) = talk(1, 16).await;
    let error = transport.ask(&mut session, &unbounded(), &target).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Api(ApiErrorKind::TooLong { .. })), "{error}");
    assert!(error.to_string().contains("by our count it had "), "{error}");
    let because: Vec<_> = error.attempts().iter().map(|attempt| attempt.because).collect();
    assert_eq!(because, [Because::First, Because::Compacted, Because::Shortened]);
    // The writer gave no answer either: one digest was made.
    assert_eq!(error.compactions().len(), 1);
    assert_eq!(double.requests().len(), 4);
    assert_eq!(session.summaries().await.unwrap().len(), 1);
}

#[tokio::test]
async fn live_row_20_what_cannot_be_shortened_any_more_is_not_sent_a_third_time() {
    let mut settings = Settings::new().with_brain(worker);
    settings.faults.push(Planned { nth: None, fault: Fault::Overflow });
    let double = Double::start(settings).await.unwrap();
    let target = at(&double, Family::Anthropic);
    let transport = transport().compacting(Compacting::new(policy()));
    let (mut session, _) = talk(1, 16).await;
    let error = transport.ask(&mut session, &unbounded(), &target).await.unwrap_err();
    // After the compaction there is little but the summary.
    assert!(matches!(error.kind(), ErrorKind::Api(ApiErrorKind::TooLong { .. })), "{error}");
    let text = error.to_string();
    assert!(text.contains("the window leaves ") && text.contains("by our count"), "{text}");
    assert_eq!((error.attempts().len(), double.requests().len()), (2, 3));
}

#[tokio::test]
async fn live_row_20_where_tools_system_and_context_alone_do_not_fit_there_are_figures_and_no_call()
{
    let double = Double::start(Settings::new().with_brain(worker)).await.unwrap();
    let target = at(&double, Family::Anthropic);
    let transport = transport().compacting(Compacting::new(policy()));
    let (mut session, _) = talk(2, 16).await;
    let recipe = recipe(800).with_system("Take care of every detail. ".repeat(400));
    let error = transport.ask(&mut session, &recipe, &target).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Request);
    let text = error.to_string();
    assert!(text.contains("tools, system texts and context take "), "{text}");
    assert!(text.ends_with("a request may have 700"), "{text}");
    assert!(double.requests().is_empty());
}

async fn pinned_talk(n_pinned: u32) -> Session {
    let (mut session, _) = talk(3, 16).await;
    for index in 0..n_pinned {
        session.mark(index, PINNED).await.unwrap();
    }
    session
}

#[tokio::test]
async fn live_row_20_a_compaction_that_would_gain_next_to_nothing_is_not_begun() {
    let double = Double::start(Settings::new().with_brain(worker)).await.unwrap();
    let target = at(&double, Family::Anthropic);
    let mut policy = policy();
    (policy.summary_tokens, policy.when) = (100, Some(Trigger::Fill(0.1)));
    policy.facts.clear();
    let transport = transport().compacting(Compacting::new(policy));
    // All but the last two turns are pinned.
    let mut session = pinned_talk(30).await;
    for _ in 0..3 {
        transport.ask(&mut session, &recipe(8_000), &target).await.unwrap();
        session.append(Message::user("And then?")).await.unwrap();
    }
    assert_eq!((n_summaries(&double), double.requests().len()), (0, 3));
    // Where much can give way it is.
    let mut session = pinned_talk(2).await;
    let answer = transport.ask(&mut session, &recipe(8_000), &target).await.unwrap();
    assert_eq!(answer.compactions.len(), 1);
}

#[tokio::test]
async fn f1_a_session_is_compacted_before_the_request_when_the_policy_says_that_it_is_due() {
    let double = Double::start(Settings::new().with_brain(worker)).await.unwrap();
    let (target, writer) = (at(&double, Family::Anthropic), at(&double, Family::Gemini));
    let mut policy = policy();
    policy.when = Some(Trigger::Fill(0.8));
    let compacting = Compacting::new(policy).with_writer(writer);
    let transport = transport().compacting(compacting);
    let (mut session, _) = talk(4, 16).await;
    // Not yet.
    let asked = transport.ask(&mut session, &recipe(20_000), &target).await.unwrap();
    assert!(asked.compactions.is_empty());
    session.append(Message::user("And then?")).await.unwrap();
    let targets = std::slice::from_ref(&target);
    let recipe = recipe(5_000);
    let asking = transport.ask_streaming(&mut session, &recipe, targets).await.unwrap();
    assert_eq!(asking.compactions()[0].because, CompactedBecause::Due);
    let answer = asking.finish().await.unwrap();
    assert_eq!(&*answer.compactions[0].texts[0].vendor, "google");
    assert_eq!(n_summaries(&double), 1);
    // What is full is the next request, not the one before.
    session.append(Message::user("And then?")).await.unwrap();
    let answer = transport.ask(&mut session, &recipe, &target).await.unwrap();
    assert!(answer.compactions.is_empty());
    assert_eq!(n_summaries(&double), 1);
}

#[tokio::test]
async fn without_a_policy_a_request_that_is_too_long_is_an_error_as_it_was() {
    let settings = Settings::new().with_brain(worker).with_window(2_500);
    let double = Double::start(settings).await.unwrap();
    let target = at(&double, Family::Anthropic);
    let (mut session, _) = talk(5, 16).await;
    let error = transport().ask(&mut session, &unbounded(), &target).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Api(ApiErrorKind::TooLong { .. })), "{error}");
    assert_eq!(double.requests().len(), 1);
}

/// The first vendor finds a request too long, then gives no answer; the next one finds every
/// request too long.
#[tokio::test]
async fn each_target_has_its_own_tries_to_make_room_and_the_error_tells_only_its_own() {
    let mut settings = Settings::new().with_brain(worker);
    settings.faults.push(Planned { nth: Some(1), fault: Fault::Overflow });
    settings.faults.push(Planned { nth: None, fault: Fault::status(503) });
    let first = Double::start(settings).await.unwrap();
    let mut settings = Settings::new().with_brain(worker);
    settings.faults.push(Planned { nth: None, fault: Fault::Overflow });
    let second = Double::start(settings).await.unwrap();
    let writer = Double::start(Settings::new().with_brain(worker)).await.unwrap();
    let mut policy = policy();
    (policy.summary_tokens, policy.keep_turns) = (600, 8);
    policy.facts.clear();
    let compacting = Compacting::new(policy).with_writer(at(&writer, Family::Gemini));
    let transport = builder().retries(Retries::none()).build().unwrap().compacting(compacting);
    let (mut session, _) = talk(1, 16).await;
    let targets = [at(&first, Family::Anthropic), at(&second, Family::OpenaiChat)];
    let error = transport.ask_any(&mut session, &unbounded(), &targets).await.unwrap_err();
    let because: Vec<_> =
        error.attempts().iter().map(|attempt| (attempt.vendor.as_str(), attempt.because)).collect();
    let (own, other) = (&because[..2], &because[2..]);
    assert_eq!(own, [("anthropic", Because::First), ("anthropic", Because::Compacted)]);
    assert_eq!(other.len(), 3, "{because:?}");
    assert_eq!(
        (other[0], other[2]),
        (("openai", Because::FallBack), ("openai", Because::Shortened))
    );
    // As many figures as the second vendor refused requests.
    let text = error.to_string();
    let figures = text.split("by our count it had ").nth(1).unwrap();
    let figures = figures.split(')').next().unwrap();
    assert_eq!(figures.split(", ").count(), 3, "{text}");
    assert_eq!(text.contains("after a compaction"), other[1].1 == Because::Compacted, "{text}");
    let n_compacted = because.iter().filter(|(_, because)| *because == Because::Compacted).count();
    assert_eq!(error.compactions().len(), n_compacted);
}

#[tokio::test]
async fn where_nothing_could_be_compacted_nobody_is_told_of_a_compaction() {
    let mut settings = Settings::new().with_brain(worker);
    settings.faults.push(Planned { nth: None, fault: Fault::Overflow });
    let double = Double::start(settings).await.unwrap();
    let target = at(&double, Family::Anthropic);
    // One long turn after another, and a policy that keeps them all.
    let mut policy = policy();
    policy.keep_turns = 100;
    policy.facts.clear();
    let transport = transport().compacting(Compacting::new(policy));
    let (mut session, _) = talk(1, 16).await;
    let error = transport.ask(&mut session, &unbounded(), &target).await.unwrap_err();
    assert!(error.compactions().is_empty());
    let because: Vec<_> = error.attempts().iter().map(|attempt| attempt.because).collect();
    assert_eq!(because, [Because::First, Because::Shortened, Because::Shortened], "{error}");
    let text = error.to_string();
    assert!(text.contains("by our count it had ") && text.contains(", shortened "), "{text}");
    assert!(!text.contains("compaction"), "{text}");
}

#[tokio::test]
async fn the_limit_in_all_bounds_a_compaction_before_a_request_too_and_nothing_is_changed_then() {
    let silent = Server::start([Act::Silence]).await;
    let mut policy = policy();
    policy.when = Some(Trigger::Fill(0.8));
    let compacting = Compacting::new(policy).with_writer(target(Family::Gemini, &silent));
    let limits = Timeouts::default().total(std::time::Duration::from_millis(150));
    let transport = builder().timeouts(limits).build().unwrap().compacting(compacting);
    let double = Double::start(Settings::new().with_brain(worker)).await.unwrap();
    let target = at(&double, Family::Anthropic);
    let (mut session, _) = talk(4, 16).await;
    let error = transport.ask(&mut session, &recipe(5_000), &target).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(Limit::Total), "{error}");
    assert!(session.summaries().await.unwrap().is_empty(), "a digest took the place of a summary");
    assert!(double.requests().is_empty());
}
