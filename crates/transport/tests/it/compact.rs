//! Summaries over real connections: asked for, held against the contract, taken in (F1 to F5, H7).

use std::sync::Arc;

use interleaf::assemble::{Budget, Recipe};
use interleaf::compaction::{CompactionPolicy, FactRule, Refusal};
use interleaf::model::{Message, MessageId};
use interleaf::wire::{Auth, Family, Options, Vendor};
use interleaf::{Session, Target, store};
use interleaf_doubles::{Answer, Asked, Brain, Double, Fault, Settings, Summariser};
use interleaf_transport::{CompactedBecause, ErrorKind, Retries, WithoutModel};

use crate::families::{FAMILIES, KEY, builder, transport};

/// A model of this family at a double.
pub(crate) fn at(double: &Double, family: Family) -> Target {
    let url = match family {
        Family::OpenaiChat | Family::OpenaiResponses => format!("{}/v1", double.base_url()),
        Family::Gemini => format!("{}/v1beta", double.base_url()),
        Family::Anthropic | Family::Bedrock => double.base_url(),
    };
    let vendor = Vendor::of(family).clone().base_url(url.as_str());
    let vendor = match vendor.auth {
        Auth::AwsV4 => vendor.auth(Auth::Bearer),
        _ => vendor,
    };
    let model = match family {
        Family::Anthropic => "claude-sonnet-4-5",
        Family::Gemini => "gemini-2.5-pro",
        Family::Bedrock => "anthropic.claude-sonnet-4-5-20250929-v1:0",
        Family::OpenaiChat | Family::OpenaiResponses => "gpt-4.1",
    };
    Target::with_options(vendor, Options::model(model)).with_key(KEY)
}

/// A brain that summarises if it is asked to, and otherwise says that it is done.
pub(crate) fn worker(asked: &Asked) -> Answer {
    let is_summary = |text: &str| {
        text.contains("You write the summary") || text.contains("is to give way to a summary")
    };
    match asked.texts().into_iter().any(is_summary) {
        true => Summariser::new().answer(asked).unwrap(),
        false => Answer::text("That is done."),
    }
}

/// One turn of a talk, and what must survive of it: a path, a ticket, a number, a decision.
pub(crate) fn turn(seed: usize, n: usize) -> ([Message; 2], [String; 4]) {
    let (word, other) = (WORDS[seed % WORDS.len()], WORDS[(seed / 7 + n) % WORDS.len()]);
    let path = format!("src/{word}/{other}{n}.rs");
    let ticket = format!("{}-{}", word.to_uppercase(), seed % 900 + 100 + n);
    let number = format!("{}.{}", seed % 89 + 10 + n, n % 10);
    let decision = format!("the {other} of part {n} gets a cache, seed {seed}.");
    let asked = format!(
        "Please look at {path}, it is slow: see {ticket}. I measured {number} ms on my machine, \
         which is far more than we had before the change to the way it reads what it needs. {}",
        "Nobody knows why that is so, and it would be good to find out before the next release. "
            .repeat(4)
    );
    let said = format!(
        "I looked at it, and what takes the time is the reading of the same lines again and again.\n\
         Decision: {decision}\nThe tests pass, and nothing else had to change for it to work. {}",
        "What is read once is kept for the next time, and thrown away when the file changes. "
            .repeat(4)
    );
    ([Message::user(&asked), Message::assistant(&said)], [path, ticket, number, decision])
}

const WORDS: [&str; 11] = [
    "alarm", "bell", "clock", "drum", "engine", "fuse", "gate", "horn", "index", "junction", "key",
];

/// A session of many turns that ends with a question, and what must survive, turn by turn.
pub(crate) async fn talk(seed: usize, n_turns: usize) -> (Session, Vec<[String; 4]>) {
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store, "").await.unwrap();
    let (messages, facts): (Vec<_>, Vec<_>) = (0..n_turns).map(|n| turn(seed, n)).unzip();
    let messages = messages.into_iter().flatten().chain([Message::user("What is left to do?")]);
    let named = messages.enumerate().map(|(n, m)| Arc::new(m.with_id(MessageId::of_index(n))));
    session.append_all(named.collect::<Vec<_>>()).await.unwrap();
    (session, facts)
}

pub(crate) fn policy() -> CompactionPolicy {
    let mut policy = CompactionPolicy::default();
    policy.summary_tokens = 1_500;
    policy.facts.extend([FactRule::ids(), FactRule::numbers()]);
    policy
}

pub(crate) fn recipe(window: u64) -> Recipe {
    Recipe::new().with_system("You are a careful agent.").with_budget(Budget::of_window(window))
}

#[tokio::test]
async fn h7_of_200_sessions_whose_summariser_forgets_one_thing_every_loss_is_found() {
    let (transport, policy, recipe) = (transport(), policy(), recipe(2_000));
    let mut found = 0;
    for seed in 0..200 {
        let (mut session, facts) = talk(seed, 8 + seed % 3).await;
        // Of a turn that gives way, each kind of fact in its turn.
        let lost = facts[seed % 7][seed % 4].clone();
        let brain = Summariser::new().forgetting(&*lost);
        let double = Double::start(Settings::new().with_brain(brain)).await.unwrap();
        let target = at(&double, FAMILIES[seed % FAMILIES.len()]);
        let own = (&recipe, &target);
        let done = transport.compact(&mut session, &policy, own, &target).await.unwrap();
        for text in &done.texts {
            let names = |refusal: &Refusal| match refusal {
                Refusal::Missing(missing) => missing.iter().any(|fact| fact.text == lost),
                _ => false,
            };
            found += usize::from(text.refused.iter().any(names));
        }
        // It was asked twice; then a digest that has it took the summary's place.
        assert_eq!(double.requests().len(), 2, "{seed}");
        let second = double.requests()[1].body.to_string();
        assert!(second.contains("it leaves out these"), "{second}");
        assert!(matches!(done.without_model, Some(WithoutModel::Refused(_))), "{seed}: {done}");
        let summary = session.active_summary().await.unwrap().unwrap().text;
        assert!(summary.contains(&lost), "{seed}: {lost:?} is not in {summary}");
        assert!(summary.contains("put together without a model"), "{summary}");
        double.stop().await;
    }
    assert_eq!(found, 400, "a loss was not found");
}

#[tokio::test]
async fn f3_compaction_is_one_call_on_every_api_and_a_summary_that_keeps_all_is_taken_at_once() {
    for (seed, family) in FAMILIES.into_iter().enumerate() {
        let double = Double::start(Settings::new().with_brain(Summariser::new())).await.unwrap();
        let (mut session, facts) = talk(seed, 14).await;
        // The session's own model is another vendor's.
        let target = at(&double, FAMILIES[(seed + 1) % FAMILIES.len()]);
        let (policy, recipe, writer) = (policy(), recipe(2_000), at(&double, family));
        let own = (&recipe, &target);
        let done = transport().compact(&mut session, &policy, own, &writer).await.unwrap();
        assert!(done.without_model.is_none(), "{family}: {:?}", done.without_model);
        let [text] = done.texts.as_slice() else { panic!("{family}: {:?}", done.texts) };
        assert_eq!((&*text.vendor, text.attempts.len()), (&*writer.vendor.name, 1));
        let spent = done.spent().unwrap();
        assert!(spent.sent() > 500 && spent.output > 50, "{family}: {spent:?}");
        assert!(done.report.after < done.report.before);
        let next = session.preview(&recipe, &target).await.unwrap().request().unwrap();
        let body = String::from_utf8(next.body.to_bytes()).unwrap();
        assert!(next.report.tokens.unwrap().total() < done.plan.figures.tokens);
        for fact in facts.iter().flatten() {
            assert!(body.contains(&**fact), "{family}: {fact:?} is not in {body}");
        }
    }
}

#[tokio::test]
async fn f5_where_the_writer_gives_no_answer_a_digest_with_a_notice_takes_its_place() {
    for fault in [Fault::status(500), Fault::status(400), Fault::Overflow] {
        let settings = Settings::new().with_brain(Summariser::new());
        let double = Double::start(settings.with_fault(1, fault.clone())).await.unwrap();
        let (mut session, facts) = talk(3, 14).await;
        let (policy, recipe) = (policy(), recipe(2_000));
        let target = at(&double, Family::Anthropic);
        let transport = builder().retries(Retries::none()).build().unwrap();
        let own = (&recipe, &target);
        let done = transport.compact(&mut session, &policy, own, &target).await.unwrap();
        let Some(WithoutModel::Failed(why)) = &done.without_model else { panic!("{done}") };
        assert!(why.contains("HTTP "), "{why}");
        assert_eq!(done.texts[0].attempts.len(), 1);
        let summary = session.active_summary().await.unwrap().unwrap().text;
        assert!(summary.contains("put together without a model"), "{summary}");
        assert!(facts[0].iter().all(|fact| summary.contains(&**fact)), "{summary}");
    }
}

#[tokio::test]
async fn a_writer_without_a_key_is_an_error_and_nothing_changes() {
    let double = Double::start(Settings::new()).await.unwrap();
    let (mut session, _) = talk(4, 14).await;
    let (policy, recipe) = (policy(), recipe(2_000));
    let target = at(&double, Family::Anthropic);
    let mut writer = target.clone();
    (writer.key, writer.vendor.key_variable) = (None, "INTERLEAF_TEST_NO_SUCH_KEY".into());
    let own = (&recipe, &target);
    let error = transport().compact(&mut session, &policy, own, &writer).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key, "{error}");
    assert_eq!(session.active_summary().await.unwrap(), None);
}

#[tokio::test]
async fn a_summary_that_was_cut_off_is_asked_for_again() {
    let settings = Settings::new().with_brain(Summariser::new());
    let double = Double::start(settings.with_fault(1, Fault::Truncate)).await.unwrap();
    let (mut session, _) = talk(5, 14).await;
    let (mut policy, recipe) = (policy(), recipe(2_000));
    policy.facts.clear();
    let target = at(&double, Family::OpenaiChat);
    let own = (&recipe, &target);
    let done = transport().compact(&mut session, &policy, own, &target).await.unwrap();
    assert_eq!(done.texts[0].refused, [Refusal::CutOff]);
    assert!(done.texts[1].refused.is_empty() && done.without_model.is_none(), "{done}");
}

#[tokio::test]
async fn f4_a_paid_summary_is_taken_though_somebody_says_something_while_it_is_written() {
    let double = Double::start(Settings::new().with_brain(Summariser::new())).await.unwrap();
    let (mut session, _) = talk(7, 14).await;
    let mut elsewhere = Session::open(session.store().clone(), session.id()).await.unwrap();
    let (policy, recipe, target) = (policy(), recipe(2_000), at(&double, Family::Anthropic));
    let own = (&recipe, &target);
    let plan = session.compaction_now(&policy, &recipe, &target).await.unwrap();
    elsewhere.append(Message::user("Hurry up.")).await.unwrap();
    let how = (&policy, CompactedBecause::Asked);
    let done = transport().carry_out(&mut session, plan, how, own, &target).await.unwrap();
    assert!(done.without_model.is_none() && done.texts.len() == 1, "{done}");
    assert_eq!(session.conversation().log().last().unwrap().text(), "Hurry up.");
    assert!(session.active_summary().await.unwrap().is_some());
}

#[tokio::test]
async fn f4_of_two_nodes_that_compact_at_once_one_wins_and_the_other_is_told() {
    let double = Double::start(Settings::new().with_brain(Summariser::new())).await.unwrap();
    let (mut ours, _) = talk(6, 14).await;
    let mut theirs = Session::open(ours.store().clone(), ours.id()).await.unwrap();
    let (policy, recipe) = (policy(), recipe(2_000));
    let target = at(&double, Family::Anthropic);
    let (transport, own) = (transport(), (&recipe, &target));
    let (first, second) = tokio::join!(
        transport.compact(&mut ours, &policy, own, &target),
        transport.compact(&mut theirs, &policy, own, &target),
    );
    let (won, lost) = match (first, second) {
        (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (won, lost),
        (a, b) => panic!("{a:?} {b:?}"),
    };
    assert!(won.without_model.is_none());
    assert_eq!(lost.session().unwrap().kind(), interleaf::ErrorKind::Conflict, "{lost}");
    assert_eq!(lost.lost_summaries().len(), 1);
    assert!(lost.to_string().contains("; the summary is lost; it cost "), "{lost}");
    let summaries = ours.summaries().await.unwrap();
    assert_eq!(summaries.len(), 1, "{summaries:?}");
}
