//! B6: a request that breaks a law is never made.

use std::sync::Arc;

use interleaf_model::{ContextKind, Entry, Law, Message, Prompt, Provenance, Violation};

use crate::scene::view;

fn entries(text: &str) -> Vec<Entry> {
    let original = |message: Arc<Message>| Entry { message, provenance: Provenance::Original };
    view(text).into_iter().map(original).collect()
}

/// The entries, those with an id that starts with `context` or `summary` marked so.
fn marked(text: &str) -> Vec<Entry> {
    let mark = |mut entry: Entry| {
        let id = entry.message.id.as_str();
        if id.starts_with("context") {
            entry.provenance = Provenance::Context(ContextKind::Todo);
        } else if id.starts_with("summary") {
            entry.provenance = Provenance::Summary;
        }
        entry
    };
    entries(text).into_iter().map(mark).collect()
}

fn check(text: &str) -> Result<Prompt, Violation> {
    Prompt::check(marked(text), Arc::new([]))
}

fn breaks(law: Law, message: &str, text: &str) {
    let violation = check(text).unwrap_err();
    assert_eq!(violation.law, law, "{text}");
    let named = violation.message.as_ref().map_or("", |id| id.as_str());
    assert_eq!(named, message, "{text}");
    let said = violation.to_string();
    assert!(said.ends_with(&law.to_string()) && said.contains(message), "{said}");
}

#[test]
fn a_request_says_something() {
    breaks(Law::NotEmpty, "", "");
    breaks(Law::NotEmpty, "", "s rules");
    breaks(Law::NotEmpty, "", "s rules\ns{id=summary} before");
}

#[test]
fn system_messages_stand_at_the_head() {
    breaks(Law::SystemAtHead, "m1", "s one\ns two\nu three");
    breaks(Law::SystemAtHead, "m1", "s{id=summary} before\ns rules\nu three");
    breaks(Law::SystemAtHead, "summary2", "s one\ns{id=summary} a\ns{id=summary2} b\nu three");
    breaks(Law::SystemAtHead, "m2", "s one\nu two\ns three");
    assert!(check("s one\ns{id=summary} before\nu three").is_ok());
    assert!(check("s{id=summary} before\nu three").is_ok());
}

#[test]
fn a_user_stands_before_the_first_assistant() {
    breaks(Law::UserFirst, "m0", "a hello");
    breaks(Law::UserFirst, "m1", "s rules\na hello\nu hi");
    assert!(check("u{id=context} todo\na hello").is_ok());
}

#[test]
fn a_result_stands_in_the_block_of_its_call() {
    breaks(Law::ResultAfterCall, "m0", "t c1= head");
    breaks(Law::ResultAfterCall, "m1", "u hi\nt c1= nobody asked");
    breaks(Law::ResultAfterCall, "m3", "u hi\na [call c1 ls]\nt c1= one\nt c1= two");
}

#[test]
fn every_call_is_answered_at_once_and_in_order() {
    breaks(Law::EveryCallAnswered, "m1", "u hi\na [call c1 ls]");
    breaks(Law::EveryCallAnswered, "m1", "u hi\na [call c1 ls]\nu wait\nt c1= late");
    breaks(Law::EveryCallAnswered, "m1", "u hi\na [call c1 ls] [call c2 ls]\nt c2= b\nt c1= a");
    breaks(Law::EveryCallAnswered, "m1", "u hi\na [call c1 ls] [call c2 ls]\nt c1= a");
    breaks(Law::EveryCallAnswered, "m1", "u hi\na [call c1 ls]\nu{id=context} todo\nt c1= a");
}

#[test]
fn no_call_id_occurs_twice() {
    breaks(Law::UniqueCallIds, "m1", "u hi\na [call c ls] [call c ls]\nt c= a\nt c= b");
    breaks(Law::UniqueCallIds, "m3", "u hi\na [call c ls]\nt c= a\na [call c ls]\nt c= b");
}

#[test]
fn the_context_block_is_one_run_of_user_messages() {
    let stray = "u hi\nu{id=context1} todo\na ok\nu{id=context2} notes";
    breaks(Law::ContextTogether, "context2", stray);
    breaks(Law::ContextTogether, "context", "u hi\na{id=context} todo");
    let prompt = check("u hi\nu{id=context1} todo\nu{id=context2} notes\na ok").unwrap();
    assert_eq!(prompt.context(), Some(1..3));
}

#[test]
fn the_error_names_message_and_rule() {
    let violation = check("u hi\nt{id=lost} c1= nobody asked").unwrap_err();
    assert_eq!(
        violation.to_string(),
        "message 1 (lost): a tool result must be in the block of its call"
    );
    let error = crate::scene::refused(&crate::scene::input("s rules"));
    assert_eq!(
        error.to_string(),
        "the request would not be valid: \
         a request needs at least one message that is not a system message"
    );
}
