//! The samples are what they say they are.

use std::collections::HashSet;

use interleaf_model::{Message, Origin, Role};
use interleaf_samples::generate::agent_session;
use interleaf_samples::strategy::{broken_conversation, conversation};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Whether every call has its result after it, in call order, and nothing else
/// breaks the rules of an agent's conversation.
fn is_valid(messages: &[Message]) -> bool {
    let mut call_ids = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut user_seen = false;
    for (i, message) in messages.iter().enumerate() {
        let fits = match message.role() {
            Role::System => i == 0,
            Role::User => open.is_empty() && !message.is_blank(),
            Role::Assistant => open.is_empty() && user_seen && !message.is_blank(),
            Role::Tool => {
                let call = message.as_result().map(|result| result.call.as_str());
                !open.is_empty() && Some(open.remove(0)) == call
            }
        };
        user_seen |= message.role() == Role::User;
        open.extend(message.calls().map(|call| call.id.as_str()));
        let is_new = message.calls().all(|call| call_ids.insert(call.id.as_str()));
        if !fits || !is_new || message.origin != Origin::Main {
            return false;
        }
    }
    open.is_empty()
}

proptest! {
    #[test]
    fn a_conversation_is_valid_and_as_long_as_asked(messages in conversation(0..60)) {
        prop_assert!(is_valid(&messages));
        prop_assert!(messages.len() < 60);
    }
}

#[test]
fn most_broken_conversations_are_broken() {
    let mut runner = TestRunner::deterministic();
    let strategy = broken_conversation(10..40);
    let n_broken =
        (0..200).filter(|_| !is_valid(&strategy.new_tree(&mut runner).unwrap().current())).count();
    assert!(n_broken > 150, "only {n_broken} of 200 are broken");
}

#[test]
fn a_session_is_valid_at_every_length() {
    for n_messages in 0..200 {
        let session = agent_session(n_messages);
        assert_eq!(session.len(), n_messages);
        assert!(is_valid(&session), "at {n_messages} messages");
    }
}

#[test]
fn the_texts_of_a_session_are_between_20_bytes_and_4_kb() {
    let session = agent_session(2_000);
    let sizes: Vec<usize> = session.iter().flat_map(Message::texts).map(str::len).collect();
    assert!(sizes.iter().all(|size| (20..=4_096).contains(size)));
    assert_eq!(sizes.iter().min(), Some(&20));
    assert!(sizes.iter().any(|&size| size >= 4_000));
}
