//! An encoder that a session keeps writes what one without a memory writes.

use std::sync::Arc;

use interleaf_model::{Entry, Message, Prompt, Provenance, Role};
use interleaf_samples::strategy::conversation;
use interleaf_wire::{CacheMarks, Family, Options, SessionEncoder, VENDORS, encode};
use proptest::prelude::*;
use proptest::sample::select;

fn entry(message: &Arc<Message>) -> Entry {
    let is_system = message.role() == Role::System;
    let provenance = if is_system { Provenance::System } else { Provenance::Original };
    Entry { message: message.clone(), provenance }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_session_writes_what_is_written_from_scratch(
        messages in conversation(1..24),
        vendor in select(VENDORS),
        cache in select(vec![CacheMarks::Off, CacheMarks::On]),
        unbound in select(vec![1_usize, 3, usize::MAX]),
    ) {
        let model = if vendor.family == Family::Gemini { "gemini-3-pro" } else { "a-model" };
        let mut options = Options::model(model);
        options.cache = cache;
        let unbound = messages.iter().skip(unbound - 1).step_by(unbound);
        options.unbound_thinking = unbound.map(|message| message.id.clone()).collect();
        let messages: Vec<Arc<Message>> = messages.into_iter().map(Arc::new).collect();
        let mut session = SessionEncoder::new();
        for end in 1..=messages.len() {
            let entries = messages[..end].iter().map(entry).collect();
            let Ok(prompt) = Prompt::check_for(crate::taking_blanks(), entries, Arc::new([])) else { continue };
            let kept = session.encode(&prompt, &vendor, &options).unwrap();
            let anew = encode(&prompt, &vendor, &options).unwrap();
            prop_assert_eq!(kept.to_bytes(), anew.to_bytes());
            prop_assert_eq!(kept.adjustments, anew.adjustments);
            prop_assert_eq!(kept.names, anew.names);
        }
    }
}
