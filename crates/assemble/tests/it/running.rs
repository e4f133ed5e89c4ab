//! Requests made from the end of a conversation are those made from the whole.

use std::sync::Arc;

use interleaf_assemble::{Context, Input, Outcome, Rule, Running, assemble};
use interleaf_model::{ContextKind, Message, MessageId, Prompt, notation};
use interleaf_samples::generate::agent_session;
use interleaf_samples::strategy::{broken_conversation, conversation};
use proptest::prelude::*;

fn named(messages: Vec<Message>) -> Vec<Arc<Message>> {
    let name = |(i, message): (usize, Message)| Arc::new(message.with_id(MessageId::of_index(i)));
    messages.into_iter().enumerate().map(name).collect()
}

fn printed(prompt: &Prompt) -> String {
    prompt.messages().map(|m| format!("{} {}\n", m.id, notation::print_line(m, 60))).collect()
}

/// Appends message by message and asks for a request after each of `stops`.
fn check(messages: &[Arc<Message>], input: &Input<'_>, every: usize) -> usize {
    let mut running = Running::new();
    let mut settled = 0;
    for (n, message) in messages.iter().enumerate() {
        running.append(message.clone());
        if n % every != 0 {
            continue;
        }
        let view = messages[..=n].to_vec();
        let whole = assemble(&Input { view, ..input.clone() });
        match (running.assemble(input), whole) {
            (Ok(running), Ok(whole)) => match (running.outcome, whole.outcome) {
                (Outcome::Ready(running), Outcome::Ready(whole)) => {
                    settled = running.settled().map_or(0, |settled| settled.len());
                    let running = running.whole();
                    assert_eq!(printed(&running), printed(&whole), "after {n}");
                    assert_eq!(running, whole, "after {n}");
                }
                (running, whole) => assert_eq!(running, whole),
            },
            (running, whole) => assert_eq!(running.err(), whole.err()),
        }
    }
    settled
}

fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        3 => (1..5_usize).prop_map(Rule::AfterToolResult),
        1 => (1..5_usize).prop_map(Rule::BeforeAssistant),
        1 => (0..9_usize).prop_map(Rule::FromEnd),
        1 => Just(Rule::Tail),
        1 => Just(Rule::AfterSystem),
    ]
}

fn input(rule: Rule, todo: &str) -> Input<'static> {
    let mut input = Input::default();
    input.settings.rule = rule;
    input.context = vec![Context::new(ContextKind::Todo, todo)];
    input
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_running_session_gives_the_requests_of_the_whole(
        messages in conversation(0..100), rule in rule(), todo in "[a-z]{0,3}",
    ) {
        check(&named(messages), &input(rule, &todo), 1);
    }

    #[test]
    fn a_broken_history_gives_the_requests_of_the_whole(
        messages in broken_conversation(0..90), rule in rule(), todo in "[a-z]{0,3}",
    ) {
        check(&named(messages), &input(rule, &todo), 3);
    }
}

#[test]
fn all_but_the_end_of_a_long_session_is_settled() {
    let messages = named(agent_session(400));
    for todo in ["one thing", ""] {
        let settled = check(&messages, &input(Rule::default(), todo), 7);
        assert!(settled > 300, "{settled} of 400 with {todo:?}");
    }
}
