//! A session's requests are those made from scratch, byte for byte, on every API.

use std::sync::Arc;

use interleaf::assemble::{Outcome, Recipe, View, assemble};
use interleaf::model::{ContextKind, Message, MessageId, Requirements};
use interleaf::wire::{CacheMarks, Family, Options, Vendor, encode};
use interleaf::{Next, Requests};
use interleaf_samples::generate::agent_session;
use interleaf_samples::strategy::{broken_conversation, conversation};
use proptest::prelude::*;

fn named(messages: Vec<Message>) -> Vec<Arc<Message>> {
    let name = |(i, message): (usize, Message)| Arc::new(message.with_id(MessageId::of_index(i)));
    messages.into_iter().enumerate().map(name).collect()
}

fn check(messages: &[Arc<Message>], family: Family, cache: CacheMarks, every: usize) {
    let vendor = Vendor::of(family);
    let options = Options { model: "gemini-3-pro".into(), cache, ..Options::default() };
    let mut requests = Requests::new();
    for (n, message) in messages.iter().enumerate() {
        requests.append(message.clone());
        if n % every != 0 {
            continue;
        }
        let todo = format!("{n} things to do");
        let view = View::of(messages[..=n].iter().cloned());
        let recipe = Recipe::new().with_context(ContextKind::Todo, todo);
        let Ok(assembly) = assemble(&view, &recipe, Requirements::STRICT, None) else { continue };
        let Outcome::Ready(prompt) = assembly.outcome else { continue };
        let scratch = encode(&prompt, vendor, &options).unwrap();
        let next = requests.next(&recipe, vendor, &options).unwrap();
        let Next::Send { body, .. } = next else { panic!("it waits") };
        assert_eq!(
            String::from_utf8(body.to_bytes()).unwrap(),
            String::from_utf8(scratch.to_bytes()).unwrap(),
            "{family} after {n}"
        );
    }
}

fn family() -> impl Strategy<Value = Family> {
    proptest::sample::select(Family::ALL.as_slice())
}

fn cache() -> impl Strategy<Value = CacheMarks> {
    prop_oneof![Just(CacheMarks::Off), Just(CacheMarks::On)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_session_sends_the_bytes_of_a_request_made_from_scratch(
        messages in conversation(0..100), family in family(), cache in cache(),
    ) {
        check(&named(messages), family, cache, 3);
    }

    #[test]
    fn so_does_a_session_with_a_broken_history(
        messages in broken_conversation(0..80), family in family(), cache in cache(),
    ) {
        check(&named(messages), family, cache, 5);
    }
}

#[test]
fn a_long_session_sends_the_bytes_of_a_request_made_from_scratch() {
    let messages = named(agent_session(300));
    for family in Family::ALL {
        check(&messages, family, CacheMarks::On, 11);
    }
}
