//! How many tokens stand where in a request, as its impact tells.

use interleaf::assemble::{Budget, Recipe, Summary};
use interleaf::model::{Message, MessageId, Tool};
use interleaf::wire::{CacheMarks, Family};
use interleaf::{BreakCause, Session};
use serde_json::json;

use crate::impact::{sent, target};
use crate::{block_on, memory};

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
                    session.append(Message::assistant("an answer")).await.unwrap();
                }
                session.append(Message::user("And now?")).await.unwrap();
                let tool = Tool::new("look", words(20), json!({"type": "object"}));
                let recipe = Recipe::new()
                    .with_system(words(200))
                    .with_tools([tool])
                    .with_budget(Budget::of_window(1_000_000));
                sent(&mut session, &recipe, &target).await;
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
            }
        }
    });
}
