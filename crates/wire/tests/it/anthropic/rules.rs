//! Every rule has a body that breaks it and one that keeps it.

use std::fs;
use std::path::PathBuf;

use interleaf_wire::lint::{Rule, lint, rules};
use interleaf_wire::{Family, decode_request};

use super::{encode, prompt, text_of, vendor};

fn fixture(rule: &Rule, kind: &str) -> String {
    let name = rule.id.strip_prefix("anthropic/").unwrap();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/rules/anthropic");
    let path = folder.join(format!("{name}.{kind}.json"));
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn a_body_that_breaks_a_rule_is_found() {
    for rule in rules(Family::Anthropic) {
        let faults = lint(vendor(), &fixture(rule, "bad")).unwrap();
        assert!(faults.iter().any(|fault| fault.rule == rule), "{}: {faults:?}", rule.id);
    }
}

#[test]
fn a_body_that_breaks_a_rule_breaks_no_other() {
    for rule in rules(Family::Anthropic) {
        let faults = lint(vendor(), &fixture(rule, "bad")).unwrap();
        assert!(faults.iter().all(|fault| fault.rule == rule), "{}: {faults:?}", rule.id);
    }
}

#[test]
fn a_body_that_keeps_the_rules_is_clean() {
    for rule in rules(Family::Anthropic) {
        let faults = lint(vendor(), &fixture(rule, "good")).unwrap();
        assert!(faults.is_empty(), "{}: {faults:?}", rule.id);
    }
}

#[test]
fn a_place_is_a_pointer_into_the_body() {
    for rule in rules(Family::Anthropic) {
        let text = fixture(rule, "bad");
        let body: serde_json::Value = serde_json::from_str(&text).unwrap();
        for fault in lint(vendor(), &text).unwrap() {
            let parent = fault.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
            assert!(body.pointer(parent).is_some(), "{}: {}", rule.id, fault.pointer);
        }
    }
}

/// Histories that are broken are repaired before they are encoded, and a model is the caller's
/// to name; what is left to the encoder it mends.
#[test]
fn what_the_encoder_writes_of_a_bad_body_is_clean() {
    const NOT_ITS_OWN: [&str; 12] = [
        "body-form",
        "model",
        "setting-type",
        "messages-not-empty",
        "role",
        "content-form",
        "first-user",
        "call-ids-unique",
        "calls-answered",
        "results-first",
        "result-has-call",
        "one-result",
    ];
    for rule in rules(Family::Anthropic) {
        let name = rule.id.strip_prefix("anthropic/").unwrap();
        if NOT_ITS_OWN.contains(&name) {
            continue;
        }
        let request = decode_request(Family::Anthropic, &fixture(rule, "bad"));
        let Ok(request) = request else { panic!("{name}: {request:?}") };
        let prompt = prompt(request.messages, request.tools);
        let text = text_of(&encode(&prompt, vendor(), &request.options).unwrap());
        let faults = lint(vendor(), &text).unwrap();
        assert!(faults.is_empty(), "{name}: {faults:?}\n{text}");
    }
}
