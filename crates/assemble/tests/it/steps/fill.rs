//! B10: what is kept fills the window.

use std::sync::Arc;

use hashbrown::HashSet;
use interleaf_assemble::{Budget, Ledger, Outcome, Recipe, Running};
use interleaf_model::{
    AssistantPart, Body, Message, MessageId, Parts, Prompt, Requirements, Role, ToolCall,
};
use interleaf_samples::shape::Shape;
use proptest::prelude::*;
use proptest::sample::select;

use crate::scene::words;

/// Less of a message is not worth showing.
const LEAST_SHOWN: u64 = 100;

/// What a message takes at least, if it is in a request at all.
fn least(message: &Arc<Message>, ledger: &Ledger) -> u64 {
    const CLEARED: u64 = 4 + 9;
    let whole = ledger.message(message);
    match &message.body {
        Body::Tool(_) => whole.min(CLEARED),
        Body::Assistant(parts) => {
            let abridged = |part: &AssistantPart| match part {
                AssistantPart::Call(call) => match call.arguments.abridged() {
                    Some(arguments) => AssistantPart::Call(ToolCall { arguments, ..call.clone() }),
                    None => part.clone(),
                },
                part => part.clone(),
            };
            let parts = Parts::new(parts.iter().map(abridged).collect()).unwrap();
            let body = Body::Assistant(parts);
            whole.min(ledger.message(&Arc::new(Message { body, ..Message::clone(message) })))
        }
        Body::User(_) | Body::System(_) => whole,
    }
}

/// What the newest step that is left out would take at least, with the words that it
/// answers.
fn newest_left_out(view: &[Arc<Message>], prompt: &Prompt, ledger: &Ledger) -> u64 {
    let prompt = prompt.whole();
    let shown: HashSet<&MessageId> = prompt.messages().map(|message| &message.id).collect();
    let Some(newest) = view.iter().rposition(|message| !shown.contains(&message.id)) else {
        return 0;
    };
    let opener = view[..=newest].iter().rposition(|message| message.role() != Role::Tool);
    let before = &view[..opener.unwrap_or(0)];
    let words = before.iter().rev().take_while(|message| message.role() == Role::User);
    let end = view[newest + 1..].iter().position(|message| message.role() != Role::Tool);
    let end = end.map_or(view.len(), |at| newest + 1 + at);
    let step = view[opener.unwrap_or(0)..end].iter().chain(words);
    step.map(|message| least(message, ledger)).sum()
}

/// What the newest step takes at least, with the user's latest words. Results that the model
/// has not seen are not cleared.
fn newest_step(view: &[Arc<Message>], ledger: &Ledger) -> u64 {
    let answered = view.iter().rposition(|message| message.role() == Role::Assistant);
    let latest = view.iter().rposition(|message| message.role() == Role::User);
    let words = latest.filter(|&at| Some(at) < answered).map(|at| &view[at]);
    let step = &view[answered.unwrap_or(0)..];
    let takes = |message: &Arc<Message>| match message.role() {
        Role::Tool => ledger.message(message).min(LEAST_SHOWN),
        Role::System | Role::User | Role::Assistant => least(message, ledger),
    };
    step.iter().chain(words).map(takes).sum()
}

/// After each round of a session, as much is shown as fits.
fn check(shape: Shape, percent: usize, offset: usize, window: u64) {
    const NOTICE: u64 = 13;
    let ledger = words();
    let budget = Budget::of_window(window);
    let recipe = Recipe::new().with_ledger(ledger.clone()).with_budget(budget);
    let mut running = Running::new();
    let (mut view, mut whole) = (Vec::new(), 0);
    for round in shape.sized_rounds(50, percent, offset) {
        for message in round.into_iter().map(Arc::new) {
            whole += ledger.message(&message);
            running.append(message.clone());
            view.push(message);
        }
        let Ok(assembly) = running.assemble(&recipe, Requirements::STRICT) else {
            assert!(newest_step(&view, &ledger) + NOTICE > budget.limit());
            continue;
        };
        let Outcome::Ready(prompt) = assembly.outcome else { panic!() };
        let total = assembly.report.tokens.unwrap().total();
        assert!(total <= budget.limit());
        let words = view.iter().rfind(|message| message.role() == Role::User).unwrap();
        assert!(prompt.whole().messages().any(|message| message.id == words.id));
        // A fifth is made free. What is shown in part is not cut to the token, and less than a
        // hundred tokens of a message are not worth showing.
        let slack = (budget.limit() / 20).max(LEAST_SHOWN);
        let filled = (budget.limit() * 4 / 5).saturating_sub(slack);
        let left_out = newest_left_out(&view, &prompt, &ledger);
        assert!(
            whole <= budget.limit() || total + left_out >= filled,
            "{}: {total}, and {left_out} left out last, of {filled}",
            shape.name()
        );
    }
}

#[test]
fn b10_a_tiny_window_is_filled_too() {
    check(Shape::LongRun, 26, 3, 955);
    check(Shape::GiantResults, 6, 0, 900);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn b10_what_was_left_out_would_not_have_fitted(
        shape in select(&Shape::ALL[..]), percent in 5_usize..300, offset in 0_usize..40,
        window in 900_u64..12_000,
    ) {
        check(shape, percent, offset, window);
    }
}
