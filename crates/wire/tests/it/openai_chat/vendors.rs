use interleaf_wire::lint::lint;
use interleaf_wire::{AdjustmentKind, Family, VENDORS};

use super::{messages_of, rewritten, vendor};

/// A conversation that every vendor but OpenAI wants otherwise.
const BODY: &str = r#"{"model":"m","messages":[
    {"role":"system","content":"Be brief."},
    {"role":"system","content":"Be kind."},
    {"role":"user","content":"a"},
    {"role":"user","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},
    {"role":"assistant","content":"I look."},
    {"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[
        {"id":"call_1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
    {"role":"tool","tool_call_id":"call_1","content":"src"},
    {"role":"user","content":"d"},
    {"role":"assistant","content":null,"tool_calls":[
        {"id":"call_2","type":"function","function":{"name":"ls","arguments":"{}"}}]},
    {"role":"tool","tool_call_id":"call_2","content":"src"},
    {"role":"assistant","content":"Done."}]}"#;

#[track_caller]
fn check(name: &str, expected: &[&str]) {
    let (body, _) = rewritten(BODY, name);
    assert_eq!(messages_of(&body).lines().collect::<Vec<_>>(), expected);
    assert_eq!(lint(vendor(name), &body).unwrap(), []);
}

#[test]
fn openai_takes_it_nearly_as_it_is() {
    check(
        "openai",
        &[
            r#"{"role":"system","content":"Be brief."}"#,
            r#"{"role":"system","content":"Be kind."}"#,
            r#"{"role":"user","content":"a"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]}"#,
            r#"{"role":"assistant","content":"I look."}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"call_1","content":"src"}"#,
            r#"{"role":"user","content":"d"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_2","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"call_2","content":"src"}"#,
            r#"{"role":"assistant","content":"Done."}"#,
        ],
    );
}

#[test]
fn deepseek_gets_its_reasoning_back_beside_every_call() {
    check(
        "deepseek",
        &[
            r#"{"role":"system","content":"Be brief."}"#,
            r#"{"role":"system","content":"Be kind."}"#,
            r#"{"role":"user","content":"a"}"#,
            r#"{"role":"user","content":"b\nc"}"#,
            r#"{"role":"assistant","content":"I look."}"#,
            r#"{"role":"assistant","reasoning_content":"Hm.","content":"","tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"call_1","content":"src"}"#,
            r#"{"role":"user","content":"d"}"#,
            r#"{"role":"assistant","reasoning_content":"","content":"","tool_calls":[{"id":"call_2","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"call_2","content":"src"}"#,
            r#"{"role":"assistant","content":"Done."}"#,
        ],
    );
}

#[test]
fn mistral_gets_short_ids_a_bridge_and_a_prefix() {
    let (body, adjustments) = rewritten(BODY, "mistral");
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    let list = body["messages"].as_array().unwrap();
    let roles: Vec<_> = list.iter().map(|message| message["role"].as_str().unwrap()).collect();
    let expected =
        "system system user user assistant assistant tool assistant user assistant tool assistant";
    assert_eq!(roles.join(" "), expected);
    assert_eq!(list[7]["content"], "OK.");
    assert_eq!(list[5]["tool_calls"][0]["id"].as_str().map(str::len), Some(9));
    assert_eq!(list[5]["tool_calls"][0]["id"], list[6]["tool_call_id"]);
    assert_eq!(list[11]["prefix"], true);
    assert!(adjustments.iter().any(|it| it.kind == AdjustmentKind::TurnInserted));
}

#[test]
fn a_template_gets_one_system_message_and_strict_turns() {
    check(
        "vllm",
        &[
            r#"{"role":"system","content":"Be brief.\nBe kind."}"#,
            r#"{"role":"user","content":"a\nb\nc"}"#,
            r#"{"role":"assistant","reasoning_content":"Hm.","reasoning":"Hm.","content":"I look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"call_1","content":"src"}"#,
            r#"{"role":"assistant","content":"OK."}"#,
            r#"{"role":"user","content":"d"}"#,
            r#"{"role":"assistant","content":"","tool_calls":[{"id":"call_2","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"call_2","content":"src"}"#,
            r#"{"role":"assistant","content":"Done."}"#,
        ],
    );
}

#[test]
fn what_is_written_for_a_vendor_keeps_all_its_rules() {
    for vendor in VENDORS.iter().filter(|vendor| vendor.family == Family::OpenaiChat) {
        let (body, _) = rewritten(BODY, &vendor.name);
        assert_eq!(lint(vendor, &body).unwrap(), [], "{}", vendor.name);
    }
}

#[test]
fn thinking_is_switched_in_each_vendors_way() {
    let body =
        |params: &str| format!(r#"{{"messages":[{{"role":"user","content":"hi"}}],{params}}}"#);
    let off = body(r#""thinking":{"type":"disabled"}"#);
    let table = [
        ("deepseek", r#""thinking":{"type":"disabled"}"#),
        ("qwen", r#""enable_thinking":false"#),
        ("openai", r#""reasoning_effort":"none""#),
        ("groq", r#""reasoning_effort":"none""#),
    ];
    for (name, expected) in table {
        assert!(rewritten(&off, name).0.contains(expected), "{name}");
    }
    for model in ["gpt-4.1", "gpt-5", "o3", "gpt-6"] {
        let off = body(&format!(r#""thinking":{{"type":"disabled"}},"model":"{model}""#));
        let (openai, adjustments) = rewritten(&off, "openai");
        assert!(!openai.contains("thinking") && !openai.contains("effort"), "{openai}");
        assert_eq!(adjustments[0].kind, AdjustmentKind::OptionDropped);
    }
}

#[test]
fn thinking_switched_off_needs_no_reasoning_beside_calls() {
    let body = BODY.replacen("{", r#"{"thinking":{"type":"disabled"},"#, 1);
    let (body, _) = rewritten(&body, "kimi");
    assert!(!body.contains(r#""reasoning_content":"""#), "{body}");
    assert_eq!(lint(vendor("kimi"), &body).unwrap(), []);
}

#[test]
fn definitions_are_inlined_for_those_who_do_not_look_them_up() {
    let body = r##"{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f",
        "parameters":{"type":"object","properties":{"a":{"$ref":"#/$defs/a","description":"x"},"b":{"$ref":"#/$defs/b"}},
        "$defs":{"a":{"type":"string"},"b":{"type":"array","items":{"$ref":"#/$defs/b"}}}}}}]}"##;
    let (glm, adjustments) = rewritten(body, "glm");
    assert!(glm.contains(r#""a":{"type":"string","description":"x"}"#), "{glm}");
    assert!(!glm.contains("$"), "{glm}");
    assert_eq!(adjustments[0].kind, AdjustmentKind::SchemaChanged);
    assert!(rewritten(body, "openai").0.contains("$defs"));
}

#[test]
fn pictures_by_address_are_left_out_where_the_server_fetches_none() {
    let body = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"this?"},{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}]}]}"#;
    let (ollama, adjustments) = rewritten(body, "ollama");
    assert_eq!(adjustments[0].kind, AdjustmentKind::MediaDropped);
    assert_eq!(
        messages_of(&ollama),
        "{\"role\":\"user\",\"content\":\"this?\\n[image left out: it is at https://example.org/a.png, and pictures must be inline]\"}\n"
    );
}

#[test]
fn details_of_reasoning_go_back_with_it_to_the_one_who_takes_them() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","reasoning":"Hm.","reasoning_details":[{"type":"reasoning.text","index":0}],"content":"yes"}]}"#;
    let details = r#""reasoning_details":[{"type":"reasoning.text","index":0}]"#;
    let (openrouter, adjustments) = rewritten(body, "openrouter");
    assert!(openrouter.contains(r#""reasoning":"Hm.""#) && openrouter.contains(details));
    assert_eq!(adjustments, []);
    assert!(!rewritten(body, "openai").0.contains("reasoning"));
}
