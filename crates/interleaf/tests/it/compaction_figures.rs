//! What a compaction goes by is what is sent.

use interleaf::assemble::{Budget, Recipe};
use interleaf::compaction::SummaryForm;
use interleaf::model::{ContextKind, Message};
use interleaf::{Session, Target};

use crate::compaction::{of, plan, recipe, small, target};
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
