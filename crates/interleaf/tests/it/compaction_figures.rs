//! What a compaction goes by is what is sent.

use interleaf::assemble::{Budget, Recipe};
use interleaf::model::{ContextKind, Message};
use interleaf::{Session, Target};

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
