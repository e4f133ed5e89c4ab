//! Every rule has a body that breaks it and one that keeps it.

use std::sync::Arc;

use interleaf_model::{Entry, Prompt, Provenance};
use interleaf_wire::lint::{lint, rules};
use interleaf_wire::{Family, Vendor, decode_request, encode};

use super::{fixture, google};

/// The bodies of a rule, and who is asked about them.
fn fixtures(id: &str) -> (String, String, &'static Vendor) {
    let short = id.strip_prefix("gemini/").unwrap();
    let of = |kind| fixture(&format!("rules/gemini/{short}.{kind}.json"));
    let vendor = if short.starts_with("vertex-") { Vendor::named("vertex") } else { None };
    (of("bad"), of("good"), vendor.unwrap_or(google()))
}

#[test]
fn every_rule_finds_what_breaks_it_and_nothing_else() {
    for rule in rules(Family::Gemini) {
        let (bad, good, vendor) = fixtures(rule.id);
        let found: Vec<_> = lint(vendor, &bad).unwrap();
        let ids: Vec<&str> = found.iter().map(|fault| fault.rule.id).collect();
        assert!(ids.contains(&rule.id), "{}: {ids:?}", rule.id);
        assert!(ids.iter().all(|id| *id == rule.id), "{}: {ids:?}", rule.id);
        assert_eq!(lint(vendor, &good).unwrap(), [], "{}", rule.id);
        for fault in found {
            let body: serde_json::Value = serde_json::from_str(&bad).unwrap();
            // The place is in the body, or is what the body misses.
            let outer = fault.pointer.rsplit_once('/').map_or("", |(outer, _)| outer);
            assert!(body.pointer(outer).is_some(), "{}: {}", rule.id, fault.pointer);
        }
    }
}

#[test]
fn rules_have_names_of_their_own() {
    let mut ids: Vec<&str> = rules(Family::Gemini).iter().map(|rule| rule.id).collect();
    let n_rules = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), n_rules);
}

#[test]
fn a_body_that_breaks_a_rule_is_mended_by_reading_and_writing_it() {
    let mut broken = Vec::new();
    for rule in rules(Family::Gemini) {
        let (bad, _, vendor) = fixtures(rule.id);
        let Ok(request) = decode_request(Family::Gemini, &bad) else {
            broken.push(rule.id);
            continue;
        };
        let entry =
            |message| Entry { message: Arc::new(message), provenance: Provenance::Original };
        let entries = request.messages.into_iter().map(entry).collect();
        let Ok(prompt) = Prompt::check_for(crate::taking_blanks(), entries, request.tools.into())
        else {
            broken.push(rule.id);
            continue;
        };
        let Ok(encoded) = encode(&prompt, vendor, &request.options) else {
            broken.push(rule.id);
            continue;
        };
        let body = String::from_utf8(encoded.to_bytes()).unwrap();
        assert_eq!(lint(vendor, &body).unwrap(), [], "{}: {body}", rule.id);
    }
    // These need the repair of the history, or cannot be read at all.
    assert_eq!(
        broken,
        [
            "gemini/contents",
            "gemini/file-data",
            "gemini/call-order",
            "gemini/response-order",
            "gemini/response-count",
            "gemini/response-in-user-turn",
            "gemini/function-count",
            "gemini/setting-type",
        ]
    );
}

#[test]
fn contents_of_one_role_are_one_turn() {
    let body = r#"{"contents": [
        {"role": "user", "parts": [{"text": "Read both."}]},
        {"role": "model", "parts": [
            {"functionCall": {"name": "read", "args": {"path": "a"}}},
            {"functionCall": {"name": "read", "args": {"path": "b"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"output": "1"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"output": "2"}}}]},
        {"role": "user", "parts": [{"text": "Which is larger?"}]}]}"#;
    assert_eq!(lint(google(), body).unwrap(), []);
}

#[test]
fn signatures_are_asked_for_only_since_the_user_last_spoke() {
    let call = |signature: &str| {
        format!(
            r#"{{"role": "model", "parts": [{{"functionCall": {{"name": "f", "args": {{}}}}{signature}}}]}},
               {{"role": "user", "parts": [{{"functionResponse": {{"name": "f", "response": {{}}}}}}]}}"#
        )
    };
    let signed = call(r#", "thoughtSignature": "QUJD""#);
    let body = |model: &str, last: &str| {
        format!(
            r#"{{"model": "{model}", "contents": [
                {{"role": "user", "parts": [{{"text": "one"}}]}}, {},
                {{"role": "model", "parts": [{{"text": "done"}}]}},
                {{"role": "user", "parts": [{{"text": "two"}}]}}, {signed}, {last}]}}"#,
            call("")
        )
    };
    let pointers = |body: &str| -> Vec<String> {
        lint(google(), body).unwrap().into_iter().map(|fault| fault.pointer).collect()
    };
    assert_eq!(pointers(&body("gemini-3-pro", &signed)), [""; 0]);
    assert_eq!(pointers(&body("gemini-3-pro", &call(""))), ["/contents/7/parts/0"]);
    assert_eq!(pointers(&body("gemini-2.5-pro", &call(""))), [""; 0]);
}
