//! What a compaction goes by is what is sent.

use std::sync::Arc;

use interleaf::assemble::{Budget, Ledger, Recipe, TokenCounter};
use interleaf::compaction::{Compacted, Refusal, SummaryForm, Trigger};
use interleaf::model::{ContextKind, Message};
use interleaf::wire::CacheMarks;
use interleaf::{Session, Target};

use crate::compaction::{of, plan, recipe, small, talk, target};
use crate::{block_on, memory};

#[test]
fn f1_context_that_stays_shown_counts_towards_the_fill_of_the_window() {
    block_on(async {
        let target = Target::new("anthropic", "claude-sonnet-4-5").unwrap().with_key("k");
        for rule in ["tail", "delta", "auto"] {
            let mut session = Session::create(memory().await, "").await.unwrap();
            for number in 0..40 {
                let list: String =
                    (0..20).map(|n| format!("{n}. thing {}\n", n * number)).collect();
                let recipe = Recipe::new()
                    .with_rule(rule.parse().unwrap())
                    .with_budget(Budget::of_window(200_000))
                    .with_context(ContextKind::Todo, list);
                session
                    .append(Message::user(&format!("And now, for the {number}th?")))
                    .await
                    .unwrap();
                let figures = session.figures(&recipe, &target).await.unwrap();
                let request = session.request(&recipe, &target).await.unwrap().request().unwrap();
                let sent = request.report.tokens.as_ref().unwrap().total();
                // What is new of the context is not shown yet, and headings are not counted.
                assert!(figures.tokens.abs_diff(sent) < 400, "{rule} {number}: {figures} {sent}");
                session.append(Message::assistant("It is done.")).await.unwrap();
            }
        }
    });
}

#[test]
fn f3_a_model_that_writes_its_own_summary_gets_no_more_than_the_window_that_is_known() {
    block_on(async {
        let (policy, target) = (small(), target());
        let long = |n: usize| format!("{n} {}", "It is done, and it is well. ".repeat(200));
        let said = (0..12).flat_map(|n| [Message::user(&long(n)), Message::assistant(&long(n))]);
        let mut session = of(said.chain([Message::user("And now?")])).await;
        for window in [6_000, 12_000] {
            let recipe = recipe(window);
            let plan = plan(&mut session, &policy, window).await;
            let own = (&recipe, &target);
            let ask = session.compaction_request(&plan, &policy, own, &target).await.unwrap();
            let (tokens, limit) = (ask.request.impact.tokens, recipe.budget.unwrap().limit());
            assert_eq!(ask.form, SummaryForm::Transcript);
            assert!(tokens <= limit, "{tokens} of {limit}");
            assert!(tokens * 4 > limit, "{tokens} of {limit}");
        }
    });
}

/// Every letter is a token.
struct Letters;

impl TokenCounter for Letters {
    fn count(&self, text: &str) -> u64 {
        text.chars().count() as u64
    }

    fn name(&self) -> &str {
        "letters"
    }
}

#[test]
fn h7_a_summary_is_judged_by_what_counted_the_plan() {
    block_on(async {
        let mut policy = small();
        policy.summary_tokens = 300;
        let letters = Arc::new(Ledger::new(Arc::new(Letters)));
        let recipe = recipe(20_000).with_ledger(letters);
        let text = "All parts get a cache, and all of it is done. ".repeat(5);
        let text = text.trim();
        let mut session = of(talk(60)).await;
        let mut plan = session.compaction_now(&policy, &recipe, &target()).await.unwrap();
        let long = format!("{text} {text}");
        let refused = session.take_summary(&mut plan, &policy, &long).await.unwrap();
        let tokens = long.len() as u64;
        assert_eq!(refused, Compacted::Again(vec![Refusal::TooLong { tokens, most: 300 }]));
        let taken = session.take_summary(&mut plan, &policy, text).await.unwrap();
        let Compacted::Taken(report) = taken else { panic!("{taken:?}") };
        assert_eq!((report.before, report.after), (plan.covered, text.len() as u64));
        // So is a digest.
        let mut session = of(talk(60)).await;
        let plan = session.compaction_now(&policy, &recipe, &target()).await.unwrap();
        let report = session.compact_without_model(&plan, &policy).await.unwrap();
        let digest = session.active_summary().await.unwrap().unwrap().text;
        assert_eq!(report.after, digest.chars().count() as u64);
        assert!(report.after <= 300, "{report:?}");
    });
}

#[test]
fn f3_the_request_for_a_summary_finds_in_the_cache_what_the_next_request_finds() {
    block_on(async {
        for (vendor, model) in [("openai", "gpt-5"), ("anthropic", "claude-sonnet-4-5")] {
            let mut target = Target::new(vendor, model).unwrap().with_key("k");
            target.options.cache = CacheMarks::On;
            let (policy, recipe) = (small(), recipe(24_000));
            let mut session = of([Message::user("Begin.")]).await;
            session.record(&recipe, &target).await.unwrap();
            session.append_all(talk(60).into_iter().skip(1).map(Arc::new)).await.unwrap();
            let mut fork = session.fork("").await.unwrap();
            // What the session sends after the fork is in the cache of both.
            session.record(&recipe, &target).await.unwrap();
            let next = fork.preview(&recipe, &target).await.unwrap().request().unwrap();
            let found = next.impact.cost.unwrap().read;
            assert!(found > 5_000, "{vendor}: {found}");
            let plan = fork.compaction_now(&policy, &recipe, &target).await.unwrap();
            let own = (&recipe, &target);
            let ask = fork.summary_request(&plan, &policy, own, &target).await.unwrap();
            assert_eq!(ask.form, SummaryForm::Extended, "{vendor}: {:?}", ask.because);
            let read = ask.request.impact.cost.unwrap().read;
            assert!(read * 10 > found * 9, "{vendor}: {read} of {found}");
        }
    });
}

#[test]
fn f1_why_none_is_planned_is_told_where_one_is_due_and_where_none_is() {
    block_on(async {
        let mut policy = small();
        let said = (0..6).map(|n| Message::user(&format!("{n} {}", "It is done. ".repeat(40))));
        let mut session = of(said).await;
        let (recipe, target) = (recipe(100_000), target());
        policy.when = Some(Trigger::Messages(7));
        let none = session.no_compaction(&policy, &recipe, &target).await.unwrap().unwrap();
        assert_eq!(none.due, None);
        assert!(none.why.starts_with("no compaction is due: 6 messages, "), "{none:?}");
        policy.when = Some(Trigger::Messages(6));
        (policy.summary_tokens, policy.down_to) = (100_000, 1.0);
        assert!(session.compaction(&policy, &recipe, &target).await.unwrap().is_none());
        let none = session.no_compaction(&policy, &recipe, &target).await.unwrap().unwrap();
        assert_eq!(none.due, policy.when);
        assert!(none.why.starts_with("nothing can be summarised: "), "{none:?}");
    });
}
