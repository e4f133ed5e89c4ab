use std::fs;
use std::path::PathBuf;

use interleaf_wire::lint::{lint, rules};
use interleaf_wire::{Family, Vendor};

use super::vendor;

/// Whose body a fixture is, where it is not OpenAI's.
const VENDORS: &[(&str, &str)] = &[
    ("arguments", "vllm"),
    ("exact-call-id", "mistral"),
    ("forced-tool", "kimi"),
    ("one-system", "qwen"),
    ("developer-role", "deepseek"),
    ("alternation", "llama-cpp"),
    ("null-content", "lm-studio"),
    ("plain-content", "ollama"),
    ("user-after-result", "mistral"),
    ("late-system", "mistral"),
    ("first-message", "mistral"),
    ("last-message", "mistral"),
    ("silent-assistant", "mistral"),
    ("reasoning-lost", "deepseek"),
    ("reasoning-name", "vllm"),
    ("inline-image", "ollama"),
    ("inline-definitions", "glm"),
    ("known-fields", "groq"),
];

fn vendor_of(rule: &str) -> &'static Vendor {
    let own = VENDORS.iter().find(|(name, _)| *name == rule);
    vendor(own.map_or("openai", |(_, vendor)| vendor))
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/rules/openai-chat"))
}

fn short(id: &str) -> &str {
    id.strip_prefix("openai-chat/").unwrap()
}

/// The rules that a body breaks, and where.
fn found(vendor: &Vendor, body: &str) -> Vec<(String, String)> {
    let faults = lint(vendor, body).unwrap();
    faults.into_iter().map(|f| (short(f.rule.id).to_owned(), f.pointer)).collect()
}

#[test]
fn every_rule_has_a_body_that_breaks_only_it_and_one_that_keeps_it() {
    for rule in rules(Family::OpenaiChat) {
        let name = short(rule.id);
        let read = |kind: &str| {
            let path = folder().join(format!("{name}.{kind}.json"));
            fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        let vendor = vendor_of(name);
        let bad = found(vendor, &read("bad"));
        assert!(!bad.is_empty(), "{name}: nothing found");
        assert!(bad.iter().all(|(id, _)| id == name), "{name}: {bad:?}");
        assert_eq!(found(vendor, &read("good")), [], "{name}");
        assert!(rule.sentence.ends_with('.'), "{name}");
    }
}

#[test]
fn every_fixture_is_of_a_rule() {
    let names: Vec<_> = rules(Family::OpenaiChat).iter().map(|rule| short(rule.id)).collect();
    for file in fs::read_dir(folder()).unwrap() {
        let file = file.unwrap().file_name().into_string().unwrap();
        let name = file.split('.').next().unwrap();
        assert!(names.contains(&name), "{file}");
    }
}

#[test]
fn places_are_pointers_to_what_is_wrong() {
    let table = [
        (
            "openai",
            r#"{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[
                {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
                {"id":"b","type":"function","function":{"name":"f g","arguments":"{}"}}]},
                {"role":"user","content":"well?"},{"role":"tool","tool_call_id":"a","content":"1"}]}"#,
            vec![
                ("tool-name", "/messages/1/tool_calls/1/function/name"),
                ("unanswered-call", "/messages/1/tool_calls"),
                ("orphan-result", "/messages/3"),
            ],
        ),
        // The id of another vendor's call.
        (
            "mistral",
            r#"{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"","tool_calls":[
                {"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},
                {"role":"tool","tool_call_id":"call_1","content":"1"}]}"#,
            vec![("exact-call-id", "/messages/1/tool_calls/0/id")],
        ),
        (
            "openai",
            r#"{"model":"gpt-5.6","messages":[{"role":"user","content":"hi"}],
                "tools":[{"type":"function","function":{"name":"f"}}]}"#,
            vec![("effort-with-tools", "")],
        ),
        (
            "openai",
            r#"{"model":"gpt-6-astra","messages":[{"role":"user","content":"hi"}],"reasoning_effort":"none",
                "tools":[{"type":"function","function":{"name":"f"}}]}"#,
            vec![("effort-with-tools", "/tools")],
        ),
        (
            "openai",
            r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema",
                "json_schema":{"name":"x","strict":true,"schema":{"type":"object","additionalProperties":false,
                "properties":{"a":{"type":"object","properties":{"b":{"allOf":[]}},"required":["b"],
                "additionalProperties":false}},"required":["a"]}}}}"#,
            vec![(
                "strict-schema",
                "/response_format/json_schema/schema/properties/a/properties/b/allOf",
            )],
        ),
    ];
    for (name, body, expected) in table {
        let expected: Vec<_> =
            expected.into_iter().map(|(id, at)| (id.to_owned(), at.to_owned())).collect();
        assert_eq!(found(vendor(name), body), expected, "{body}");
    }
}
