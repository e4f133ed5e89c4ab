//! Compaction: what gives way, what stays, and what a summary must keep (F1 to F5, H7).

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf::assemble::{Budget, OpenBlock, Recipe};
use interleaf::compaction::{
    Compacted, Compaction, CompactionPolicy, FactRule, FactSource, Refusal, SparedCause,
    SummaryForm, Trigger,
};
use interleaf::conversation::{Operation, PINNED, Truncate};
use interleaf::model::{
    Arguments, AssistantPart, Blocks, Body, CallId, Extra, Message, MessageId, Parts, Role, Status,
    ToolCall, notation,
};
use interleaf::wire::{CacheMarks, Family, Vendor};
use interleaf::{Session, Target};
use interleaf_samples::generate::agent_session;
use interleaf_samples::strategy::broken_conversation;
use proptest::prelude::*;

use crate::{block_on, memory, pinned, target_of};

pub(crate) fn target() -> Target {
    target_of(Vendor::of(Family::Anthropic), "a-model")
}

pub(crate) fn recipe(window: u64) -> Recipe {
    let mut recipe = Recipe::new()
        .with_system("You are a careful agent.")
        .with_budget(Budget::of_window(window));
    recipe.open_block = OpenBlock::Mend;
    recipe
}

/// A policy for small windows, without facts.
pub(crate) fn small() -> CompactionPolicy {
    let mut policy = CompactionPolicy::default();
    (policy.summary_tokens, policy.facts) = (60, Vec::new());
    policy
}

pub(crate) async fn of(messages: impl IntoIterator<Item = Message>) -> Session {
    let mut session = Session::create(memory().await, "").await.unwrap();
    for (n, message) in messages.into_iter().enumerate() {
        let message = message.with_id(MessageId::new(format!("m{n}")));
        // What says nothing is refused.
        _ = session.append(message).await;
    }
    session
}

/// A talk in which every answer names a file and a decision.
pub(crate) fn talk(n: usize) -> Vec<Message> {
    let turn = |i: usize| {
        let asked = format!("Please look at src/part{i}.rs, it is slow. {}", "Why? ".repeat(30));
        let said = format!("Decision: part {i} gets a cache.\n{}", "It is done. ".repeat(30));
        [Message::user(&asked), Message::assistant(&said)]
    };
    let mut talk: Vec<Message> = (0..n).flat_map(turn).collect();
    talk.push(Message::user("And now?"));
    talk
}

pub(crate) async fn plan(
    session: &mut Session,
    policy: &CompactionPolicy,
    window: u64,
) -> Compaction {
    session.compaction_now(policy, &recipe(window), &target()).await.unwrap()
}

#[test]
fn f1_a_compaction_is_due_by_fill_tokens_or_messages_joined_by_and_and_or() {
    block_on(async {
        let mut session = of(talk(40)).await;
        let mut policy = small();
        let due = |json: &str| serde_json::from_str::<Trigger>(json).unwrap();
        for (when, is_due) in [
            (r#"{"fill": 0.5}"#, true),
            (r#"{"fill": 0.99}"#, false),
            (r#"{"messages": 81}"#, true),
            (r#"{"messages": 82}"#, false),
            (r#"{"tokens": 1000}"#, true),
            (r#"{"all": [{"fill": 0.5}, {"messages": 82}]}"#, false),
            (r#"{"any": [{"fill": 0.99}, {"messages": 81}]}"#, true),
        ] {
            policy.when = Some(due(when));
            let found = session.compaction(&policy, &recipe(12_000), &target()).await.unwrap();
            assert_eq!(found.is_some(), is_due, "{when}");
        }
        policy.when = None;
        assert_eq!(session.compaction(&policy, &recipe(100), &target()).await.unwrap(), None);
    });
}

#[test]
fn f2_the_oldest_turns_give_way_whole_and_what_may_not_stays() {
    block_on(async {
        let mut session = of(talk(40)).await;
        session.mark(4, PINNED).await.unwrap();
        let plan = plan(&mut session, &small(), 9_000).await;
        assert!(plan.n_messages > 10, "{plan:?}");
        assert_eq!(plan.spared.len(), 1);
        assert_eq!(plan.spared[0].message, MessageId::new("m4"));
        assert_eq!(plan.spared[0].cause, SparedCause::Pinned);
        // Turns are not cut: what stays begins with a user's words.
        let heard: Vec<_> = session.conversation().visible().cloned().collect();
        let last = heard.iter().rposition(|m| plan.covers.contains(&m.id)).unwrap();
        assert_eq!(heard[last + 1].role(), Role::User);
        assert!(!plan.covers.contains(&heard.last().unwrap().id));
        assert!(plan.after < plan.figures.tokens / 2, "{plan:?}");
    });
}

#[test]
fn f2_of_a_long_running_turn_the_oldest_finished_steps_give_way() {
    block_on(async {
        let mut session = of(agent_session(120).into_iter().filter(|m| {
            // One question, then work without end.
            m.role() != Role::User
        }))
        .await;
        let question = Message::user("Mend the clock.").with_id(MessageId::new("q"));
        session.append(question).await.unwrap();
        for (n, message) in agent_session(60).into_iter().enumerate() {
            if matches!(message.role(), Role::Assistant | Role::Tool) {
                let message = message.with_id(MessageId::new(format!("w{n}")));
                session.append(message).await.unwrap();
            }
        }
        let plan = plan(&mut session, &small(), 4_000).await;
        assert!(plan.covers.iter().any(|id| id.as_str().starts_with('w')), "{plan:?}");
        assert!(!plan.covers.contains(&MessageId::new("q")));
        let heard: Vec<_> = session.conversation().visible().cloned().collect();
        assert_whole_blocks(&heard, &plan.covers);
    });
}

/// No tool block is covered in part.
#[track_caller]
fn assert_whole_blocks(messages: &[Arc<Message>], covers: &BTreeSet<MessageId>) {
    for block in Blocks::find(messages.iter()).positions() {
        let n = block.iter().filter(|&&at| covers.contains(&messages[at].id)).count();
        assert!(n == 0 || n == block.len(), "{block:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn f2_whatever_was_said_nothing_goes_that_must_stay_and_the_request_after_it_is_valid(
        said in broken_conversation(0..40), pin in 0..40_usize, window in 300..6_000_u64,
        steps in 0..3_usize, turns in 0..2_usize, users in any::<bool>(),
    ) {
        block_on(async {
            let mut session = of(said).await;
            let n = session.conversation().log_len();
            prop_assume!(n > 0);
            session.mark((pin % n) as u32, PINNED).await.unwrap();
            let mut policy = small();
            (policy.keep_steps, policy.keep_turns, policy.keep_user_texts) = (steps, turns, users);
            let (recipe, target) = (recipe(window), target());
            let plan = session.compaction_now(&policy, &recipe, &target).await;
            // Where nothing can give way, the case is drawn again.
            prop_assume!(plan.is_ok());
            let mut plan = plan.unwrap();
            let heard: Vec<Arc<Message>> = session.conversation().visible()
                .filter(|m| m.origin == interleaf::model::Origin::Main).cloned().collect();
            let covers = plan.covers.clone();
            assert_whole_blocks(&heard, &covers);
            let is_covered = |message: &Arc<Message>| covers.contains(&message.id);
            let spoken = heard.iter().rev().find(|m| m.role() == Role::User && !m.is_blank());
            assert!(!spoken.is_some_and(is_covered));
            assert!(!heard.iter().any(|m| m.role() == Role::System && is_covered(m)));
            assert!(pinned(session.conversation()).is_disjoint(&covers));
            assert!(!users || !heard.iter().any(|m| m.role() == Role::User && is_covered(m)));
            let answered: BTreeSet<_> =
                heard.iter().filter_map(|m| m.as_result()).map(|r| r.call.clone()).collect();
            let open = heard.iter().filter(|m| m.calls().any(|c| !answered.contains(&c.id)));
            assert!(!open.clone().any(is_covered));
            let done = session.take_summary(&mut plan, &policy, "All went well.").await;
            let Compacted::Taken(report) = done.unwrap() else { panic!() };
            assert!(report.after < report.before);
            // What the plan takes is what assembly takes: all of it is gone, and nothing else.
            let mut free = recipe;
            free.budget = None;
            let next = session.preview(&free, &target).await.unwrap().request().unwrap();
            let body = String::from_utf8(next.body.to_bytes()).unwrap();
            assert!(body.contains("All went well."), "{body}");
            let faults = interleaf::wire::lint::lint(&target.vendor, &body).unwrap();
            assert!(faults.is_empty(), "{faults:?}");
            let dropped = next.report.findings().filter(|(_, finding)| {
                finding.cause == interleaf::assemble::Cause::Summarised
            });
            let n_dropped: usize = dropped.map(|(_, finding)| finding.count).sum();
            let spared: Vec<_> = next.report.findings().map(|(_, f)| format!("{:?} {:?} {}", f.kind, f.cause, f.message)).collect();
            assert_eq!(n_dropped, plan.n_messages, "{spared:#?} {covers:?}");
            Ok(())
        })?;
    }

    #[test]
    fn h7_a_summary_that_forgets_one_fact_is_refused_with_that_fact(
        n in 8..30_usize, forgotten in 0..1_000_usize, window in 1_500..4_000_u64,
    ) {
        block_on(async {
            let mut session = of(talk(n)).await;
            let mut policy = CompactionPolicy::default();
            policy.summary_tokens = 600;
            policy.facts.push(FactRule::new("part", r"part \d+").from(FactSource::Assistant));
            let mut plan = plan(&mut session, &policy, window).await;
            let covered = plan.messages().iter().filter(|m| m.role() == Role::User);
            let numbers: Vec<String> = covered.map(|m| {
                m.text().split("part").nth(1).unwrap().split('.').next().unwrap().to_owned()
            }).collect();
            let mut facts: Vec<String> = numbers.iter().flat_map(|i| [
                format!("src/part{i}.rs"), format!("part {i} gets a cache."),
            ]).collect();
            let lost = facts.remove(forgotten % facts.len());
            let text = facts.join("\n");
            let got = session.take_summary(&mut plan, &policy, &text).await.unwrap();
            let Compacted::Again(refused) = got else { panic!("{got:?}") };
            let [Refusal::Missing(missing)] = refused.as_slice() else { panic!("{refused:?}") };
            assert!(missing.iter().all(|fact| lost.contains(&*fact.text)), "{missing:?}");
            assert!(missing.iter().any(|fact| fact.text == lost), "{missing:?}");
            assert_eq!(session.active_summary().await.unwrap(), None);
            // The next request names it, and the whole text is taken in.
            let (recipe, target) = (recipe(window), target());
            let ask = session
                .compaction_request(&plan, &policy, (&recipe, &target), &target)
                .await
                .unwrap();
            let body = String::from_utf8(ask.request.body.to_bytes()).unwrap();
            assert!(body.contains("it leaves out these"), "{body}");
            let whole = format!("{text}\n{lost}");
            let got = session.take_summary(&mut plan, &policy, &whole).await.unwrap();
            assert!(matches!(got, Compacted::Taken(_)), "{got:?}");
            assert_eq!(&*session.active_summary().await.unwrap().unwrap().text, whole);
        });
    }
}

#[test]
fn f5_after_two_texts_that_lose_something_a_digest_that_loses_nothing_takes_their_place() {
    block_on(async {
        let mut session = of(talk(30)).await;
        let mut policy = CompactionPolicy::default();
        policy.summary_tokens = 900;
        let mut plan = plan(&mut session, &policy, 4_000).await;
        let first = session.take_summary(&mut plan, &policy, "Nothing.").await.unwrap();
        assert!(matches!(first, Compacted::Again(_)));
        let second = session.take_summary(&mut plan, &policy, " ").await.unwrap();
        let Compacted::Digest(report, why) = second else { panic!("{second:?}") };
        assert_eq!(why, [Refusal::Empty]);
        assert!(report.after < report.before);
        let text = session.active_summary().await.unwrap().unwrap().text;
        assert!(text.contains("put together without a model"), "{text}");
        for n in 0..plan.n_messages / 2 {
            assert!(text.contains(&format!("src/part{n}.rs")), "{text}");
            assert!(text.contains(&format!("part {n} gets a cache.")), "{text}");
        }
    });
}

#[test]
fn f4_a_text_that_is_blank_too_long_or_in_another_language_is_refused() {
    block_on(async {
        let mut session = of(talk(30)).await;
        let mut policy = small();
        policy.language = Some("de".into());
        let english = "The user wants a faster program, and the parts get a cache each. \
                       Nothing has been measured yet, but the first tests have passed.";
        for (text, why) in [
            ("  \n", "it says nothing".to_owned()),
            (english, "it is in English, not in German".to_owned()),
            (&"Der Nutzer möchte ein schnelleres Programm haben. ".repeat(20), String::new()),
        ] {
            let mut plan = plan(&mut session, &policy, 4_000).await;
            let got = session.take_summary(&mut plan, &policy, text).await.unwrap();
            let Compacted::Again(refused) = got else { panic!("{got:?}") };
            match why.as_str() {
                "" => assert!(matches!(refused[0], Refusal::TooLong { most: 60, .. })),
                why => assert_eq!(refused[0].to_string(), why),
            }
        }
        assert_eq!(session.active_summary().await.unwrap(), None);
    });
}

#[test]
fn f4_of_two_that_were_planned_at_once_one_is_taken_and_the_other_refused() {
    block_on(async {
        let store = memory().await;
        let mut session = Session::create(store.clone(), "").await.unwrap();
        session.append_all(talk(30).into_iter().map(Arc::new)).await.unwrap();
        let mut other = Session::open(store, session.id()).await.unwrap();
        let policy = small();
        let mut ours = plan(&mut session, &policy, 4_000).await;
        let mut theirs = plan(&mut other, &policy, 4_000).await;
        let text = "All parts get a cache.";
        session.take_summary(&mut ours, &policy, text).await.unwrap();
        other.take_summary(&mut theirs, &policy, "Another.").await.unwrap_err();
        other.refresh().await.unwrap();
        let late = other.take_summary(&mut theirs, &policy, "Another.").await;
        assert!(late.unwrap_err().to_string().contains("another summary was taken in"));
        assert_eq!(&*other.active_summary().await.unwrap().unwrap().text, text);
        assert_eq!(session.summaries().await.unwrap().len(), 1);
    });
}

#[test]
fn f4_what_was_hidden_since_the_plan_is_not_summarised() {
    block_on(async {
        let mut session = of(talk(30)).await;
        let policy = small();
        let mut plan = plan(&mut session, &policy, 4_000).await;
        let cut = Truncate { keep_last: Some(30), ..Truncate::default() };
        session.operate(Operation::Truncate(cut)).await.unwrap();
        let late = session.take_summary(&mut plan, &policy, "All went well.").await;
        assert!(late.unwrap_err().to_string().contains("no longer visible"));
    });
}

#[test]
fn f3_a_second_compaction_covers_what_the_first_did_and_reads_its_summary() {
    block_on(async {
        let mut session = of(talk(30)).await;
        let policy = small();
        let mut first = plan(&mut session, &policy, 4_000).await;
        let text = "The first parts get a cache.";
        session.take_summary(&mut first, &policy, text).await.unwrap();
        for message in talk(30) {
            session.append(message).await.unwrap();
        }
        let second = plan(&mut session, &policy, 4_000).await;
        assert!(second.covers.is_superset(&first.covers));
        assert!(second.n_messages < second.covers.len());
        let (recipe, target) = (recipe(4_000), target());
        let ask = session.compaction_request(&second, &policy, (&recipe, &target), &target).await;
        let body = String::from_utf8(ask.unwrap().request.body.to_bytes()).unwrap();
        assert!(body.contains("<earlier_summary>\\nThe first parts get a cache."), "{body}");
    });
}

#[test]
fn f3_the_request_goes_on_from_the_last_one_where_its_cache_is_cheaper() {
    block_on(async {
        let mut target = target_of(Vendor::of(Family::Anthropic), "claude-sonnet-4-5");
        target.options.cache = CacheMarks::On;
        let mut session = of(talk(60)).await;
        let (policy, recipe) = (small(), recipe(24_000));
        let plan = session.compaction_now(&policy, &recipe, &target).await.unwrap();
        let own = (&recipe, &target);
        let cold = session.compaction_request(&plan, &policy, own, &target).await.unwrap();
        assert_eq!(cold.form, SummaryForm::Transcript);
        session.record(&recipe, &target).await.unwrap();
        session.append(Message::assistant("Now it is fast.")).await.unwrap();
        session.append(Message::user("Thank you. What is left?")).await.unwrap();
        let sent = session.record(&recipe, &target).await.unwrap().request().unwrap();
        let plan = session.compaction_now(&policy, &recipe, &target).await.unwrap();
        let warm = session.compaction_request(&plan, &policy, own, &target).await.unwrap();
        assert_eq!(warm.form, SummaryForm::Extended);
        let cost = warm.request.impact.cost.as_ref().unwrap();
        assert!(
            cost.read * 10 > sent.impact.tokens * 9,
            "{:?} {:?}",
            sent.impact,
            warm.request.impact
        );
        assert!(cost.price < cold.request.impact.tokens as f64, "{cost:?}");
        // Another model has nothing in its cache.
        let other = target_of(Vendor::of(Family::OpenaiChat), "gpt-5");
        let ask = session.compaction_request(&plan, &policy, own, &other).await.unwrap();
        assert_eq!(ask.form, SummaryForm::Transcript);
        // It was only looked at: the session's next request is as if nobody had asked.
        let next = session.preview(&recipe, &target).await.unwrap().request().unwrap();
        assert_eq!(next.body.to_bytes(), sent.body.to_bytes());
    });
}

#[test]
fn what_cannot_fit_is_an_error_with_the_figures_and_no_request() {
    block_on(async {
        let mut session = of(talk(30)).await;
        for index in 0..40 {
            session.mark(index, PINNED).await.unwrap();
        }
        let error = session.compaction(&small(), &recipe(1_000), &target()).await.unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("no summary makes the request fit: tools, "), "{error}");
        assert!(error.ends_with("and the limit is 875"), "{error}");
    });
}

#[test]
fn f2_turns_with_the_words_of_the_current_request_stay_if_asked() {
    block_on(async {
        let mut said = talk(30);
        said[6] = Message::user("The grandfather clock has a pendulum of brass.");
        said.push(Message::user("What was the pendulum made of?"));
        let mut session = of(said).await;
        let mut policy = small();
        policy.keep_relevant = 1;
        let plan = plan(&mut session, &policy, 4_000).await;
        let spared: Vec<&str> = plan.spared.iter().map(|spared| spared.message.as_str()).collect();
        assert_eq!(spared, ["m6", "m7"]);
        assert_eq!(plan.spared[0].cause, SparedCause::Relevant);
    });
}

#[test]
fn h7_a_fact_is_not_kept_by_a_longer_one_with_the_same_letters() {
    block_on(async {
        let mut session = of(talk(30)).await;
        let mut policy = CompactionPolicy::default();
        policy.summary_tokens = 900;
        policy.facts = vec![FactRule::paths()];
        let mut plan = plan(&mut session, &policy, 4_000).await;
        let n = plan.n_messages / 2;
        let paths = |first: &str| {
            let rest = (1..n).map(|i| format!("src/part{i}.rs"));
            std::iter::once(first.to_owned()).chain(rest).collect::<Vec<_>>().join(", ")
        };
        for longer in ["src/part0.rs.bak", "lib/src/part0.rs", "src/part0.rst"] {
            let mut plan = plan.clone();
            let got = session.take_summary(&mut plan, &policy, &paths(longer)).await;
            let Compacted::Again(refused) = got.unwrap() else { panic!("{longer}") };
            let [Refusal::Missing(missing)] = refused.as_slice() else { panic!("{refused:?}") };
            assert_eq!((missing.len(), &*missing[0].text), (1, "src/part0.rs"));
        }
        let whole = paths("src/part0.rs:17");
        let got = session.take_summary(&mut plan, &policy, &whole).await.unwrap();
        assert!(matches!(got, Compacted::Taken(_)), "{got:?}");
    });
}

#[test]
fn h7_what_was_pinned_since_the_plan_stays_in_the_request_and_so_do_its_facts() {
    block_on(async {
        let mut session = of(talk(30)).await;
        let mut policy = CompactionPolicy::default();
        policy.summary_tokens = 900;
        policy.facts = vec![FactRule::paths()];
        let mut plan = plan(&mut session, &policy, 4_000).await;
        session.mark(0, PINNED).await.unwrap();
        let rest: Vec<_> = (1..plan.n_messages / 2).map(|i| format!("src/part{i}.rs")).collect();
        let got = session.take_summary(&mut plan, &policy, &rest.join(", ")).await;
        assert!(matches!(got.unwrap(), Compacted::Taken(_)));
        let next = session.preview(&recipe(40_000), &target()).await.unwrap().request().unwrap();
        let body = String::from_utf8(next.body.to_bytes()).unwrap();
        assert!(body.contains("Please look at src/part0.rs"), "{body}");
    });
}

#[test]
fn h7_a_pinned_message_that_no_request_shows_must_be_in_the_summary_word_for_word() {
    block_on(async {
        let mut said = talk(30);
        // A result without a call is in no request.
        said[5] = Message::tool(
            CallId::new("no-such-call").unwrap(),
            Status::Ok,
            "The boiler is at 81 degrees.",
        );
        let mut session = of(said).await;
        let policy = small();
        let mut plan = plan(&mut session, &policy, 4_000).await;
        assert!(plan.covers.contains(&MessageId::new("m5")));
        session.mark(5, PINNED).await.unwrap();
        let got = session.take_summary(&mut plan, &policy, "All went well.").await;
        let Compacted::Again(refused) = got.unwrap() else { panic!() };
        let [Refusal::Missing(missing)] = refused.as_slice() else { panic!("{refused:?}") };
        assert_eq!(&*missing[0].rule, "pinned message");
        let text = "All went well. The boiler is at 81 degrees.";
        let got = session.take_summary(&mut plan, &policy, text).await.unwrap();
        assert!(matches!(got, Compacted::Taken(_)), "{got:?}");
    });
}

#[test]
fn f3_a_request_that_leaves_out_what_is_to_be_summarised_is_not_gone_on_from() {
    block_on(async {
        let mut target = target_of(Vendor::of(Family::Anthropic), "claude-sonnet-4-5");
        target.options.cache = CacheMarks::On;
        let mut session = of(talk(60)).await;
        // The oldest turns do not fit this window.
        let (policy, recipe) = (small(), recipe(4_000));
        session.record(&recipe, &target).await.unwrap();
        session.append(Message::assistant("Now it is fast.")).await.unwrap();
        session.append(Message::user("Thank you. What is left?")).await.unwrap();
        session.record(&recipe, &target).await.unwrap();
        let plan = session.compaction_now(&policy, &recipe, &target).await.unwrap();
        let own = (&recipe, &target);
        let ask = session.compaction_request(&plan, &policy, own, &target).await.unwrap();
        assert_eq!(ask.form, SummaryForm::Transcript);
        let body = String::from_utf8(ask.request.body.to_bytes()).unwrap();
        assert!(body.contains("src/part0.rs"), "{body}");
    });
}

#[test]
fn facts_in_calls_are_read_without_the_escapes_of_json() {
    block_on(async {
        let mut said = talk(30);
        let arguments = Arguments::from_text(r#"{"text": "one\nsrc/two.rs\nthree"}"#);
        let call = ToolCall {
            id: CallId::new("c1").unwrap(),
            name: "write".into(),
            arguments,
            extra: Extra::NONE,
        };
        let done = call.result("done");
        let call = Parts::new(vec![AssistantPart::Call(call)]).unwrap();
        said[1] = Body::Assistant(call).into();
        said.insert(2, done);
        let mut session = of(said).await;
        let mut policy = small();
        policy.facts = vec![FactRule::paths().from(FactSource::Calls)];
        let mut plan = plan(&mut session, &policy, 4_000).await;
        let got = session.take_summary(&mut plan, &policy, "All went well.").await;
        let Compacted::Again(refused) = got.unwrap() else { panic!() };
        let [Refusal::Missing(missing)] = refused.as_slice() else { panic!("{refused:?}") };
        let texts: Vec<&str> = missing.iter().map(|fact| &*fact.text).collect();
        assert_eq!(texts, ["src/two.rs"]);
    });
}

#[test]
fn f1_where_tools_are_text_the_fill_is_that_of_the_text() {
    block_on(async {
        let said = "u Look.\n".to_owned()
            + &(0..40).map(|n| format!("a [call c{n} f]\nt c{n}= ok\n")).collect::<String>();
        let mut session = of(notation::parse(&said).unwrap()).await;
        let mut policy = small();
        policy.when = Some(Trigger::Tokens(1));
        let mut counted = async |target: &Target| {
            let plan = session.compaction_now(&policy, &recipe(8_000), target).await.unwrap();
            plan.figures.tokens
        };
        let native = counted(&target()).await;
        let mut text = target();
        text.text_tools = Some(true);
        // Each call and each result stands between tags.
        assert!(counted(&text).await > native + 40 * 10, "{native}");
    });
}

#[test]
fn f5_a_digest_of_a_digest_still_has_every_fact() {
    block_on(async {
        let mut session = of(talk(20)).await;
        let mut policy = CompactionPolicy::default();
        policy.summary_tokens = 1_500;
        for _ in 0..3 {
            let first = plan(&mut session, &policy, 4_000).await;
            session.compact_without_model(&first, &policy).await.unwrap();
            let text = session.active_summary().await.unwrap().unwrap().text;
            for n in 0..15 {
                assert!(text.contains(&format!("part {n} gets a cache.")), "{n}: {text}");
            }
            for n in 0..30 {
                session
                    .append(Message::user(&format!("Go on {n}. {}", "On. ".repeat(60))))
                    .await
                    .unwrap();
                session.append(Message::assistant("Well. ".repeat(60).as_str())).await.unwrap();
            }
        }
    });
}
