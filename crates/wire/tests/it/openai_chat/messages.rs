use proptest::prelude::*;

use super::{decode_messages, decode_request};
use interleaf_model::{Extra, Json, Message, Tool};
use interleaf_wire::{Family, Options, OwnFields, ToolChoice};
use interleaf_wire::{Number, ResponseFormat, ThinkingMode};

/// Reads one chat message and compares it with a message in the transcript's form.
#[track_caller]
fn check(chat: &str, expected: &str) {
    check_all(&format!("[{chat}]"), &[expected]);
}

#[track_caller]
fn check_all(chat: &str, expected: &[&str]) {
    let messages = decode_messages(chat).map_err(|e| e.to_string());
    let lines = messages.map(|list| list.iter().map(line).collect::<Vec<_>>());
    assert_eq!(lines, Ok(expected.iter().map(|&line| line.to_owned()).collect()));
}

fn line(message: &Message) -> String {
    serde_json::to_string(message).unwrap_or_default()
}

#[test]
fn each_role_becomes_its_body() {
    check_all(
        r#"[{"role":"system","content":"be brief"},
            {"role":"developer","content":"in English"},
            {"role":"user","content":"hi"},
            {"role":"assistant","content":"hello"},
            {"role":"tool","tool_call_id":"c1","content":"42"}]"#,
        &[
            r#"{"role":"system","parts":[{"type":"text","text":"be brief"}]}"#,
            r#"{"role":"system","parts":[{"type":"text","text":"in English"}],"extra":{"openai":{"role":"developer"}}}"#,
            r#"{"role":"user","parts":[{"type":"text","text":"hi"}]}"#,
            r#"{"role":"assistant","parts":[{"type":"text","text":"hello"}]}"#,
            r#"{"role":"tool","call":"c1","parts":[{"type":"text","text":"42"}]}"#,
        ],
    );
}

#[test]
fn missing_null_and_empty_content_is_an_empty_text() {
    for role in ["system", "user", "assistant"] {
        let expected = format!(r#"{{"role":"{role}","parts":[{{"type":"text","text":""}}]}}"#);
        for content in ["", r#","content":null"#, r#","content":"""#, r#","content":[]"#] {
            check(&format!(r#"{{"role":"{role}"{content}}}"#), &expected);
        }
    }
    check(
        r#"{"role":"tool","tool_call_id":"c1","content":null}"#,
        r#"{"role":"tool","call":"c1","parts":[{"type":"text","text":""}]}"#,
    );
}

#[test]
fn text_parts_stay_apart_and_keep_what_they_carry() {
    check(
        r#"{"role":"user","content":[{"type":"text","text":"a"},
            {"type":"text","text":"b","cache_control": {"type": "ephemeral"}}]}"#,
        r#"{"role":"user","parts":[{"type":"text","text":"a"},{"type":"text","text":"b","extra":{"openai":{"cache_control":{"type": "ephemeral"}}}}]}"#,
    );
}

#[test]
fn an_image_is_inline_or_an_address() {
    check(
        r#"{"role":"user","content":[
            {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}},
            {"type":"image_url","image_url":"https://a.example/x.png"},
            {"type":"image_url","image_url":{"url":"DATA:;base64,BBBB","format":"image/gif"},"n":1},
            {"type":"image_url","image_url":{"url":"data:image/svg+xml,%3Csvg%3E"}}]}"#,
        concat!(
            r#"{"role":"user","parts":["#,
            r#"{"type":"image","base64":"AAAA","media_type":"image/png","extra":{"openai":{"detail":"low"}}},"#,
            r#"{"type":"image","url":"https://a.example/x.png"},"#,
            r#"{"type":"image","base64":"BBBB","extra":{"openai":{"n":1,"image_url":{"format":"image/gif"}}}},"#,
            r#"{"type":"image","url":"data:image/svg+xml,%3Csvg%3E"}]}"#,
        ),
    );
}

#[test]
fn a_file_is_inline_an_id_or_an_address() {
    check(
        r#"{"role":"user","content":[
            {"type":"file","file":{"file_data":"data:application/pdf;base64,JVBE","filename":"a.pdf"}},
            {"type":"file","file":{"file_data":"JVBE"}},
            {"type":"file","file":{"file_id":"file-1"}},
            {"type":"file","file":{"file_id":"https://a.example/b.pdf","format":"application/pdf"}},
            {"type":"file","file":{"file_url":"https://a.example/c.pdf"}}]}"#,
        concat!(
            r#"{"role":"user","parts":["#,
            r#"{"type":"file","base64":"JVBE","media_type":"application/pdf","name":"a.pdf"},"#,
            r#"{"type":"file","base64":"JVBE"},"#,
            r#"{"type":"file","owner":"openai","id":"file-1"},"#,
            r#"{"type":"file","url":"https://a.example/b.pdf","extra":{"openai":{"file":{"format":"application/pdf"}}}},"#,
            r#"{"type":"file","url":"https://a.example/c.pdf"}]}"#,
        ),
    );
}

#[test]
fn audio_is_a_file_with_a_media_type() {
    check(
        r#"{"role":"user","content":[
            {"type":"input_audio","input_audio":{"data":"UklG","format":"wav"}},
            {"type":"input_audio","input_audio":{"data":"SUQz","format":"mp3"}}]}"#,
        r#"{"role":"user","parts":[{"type":"file","base64":"UklG","media_type":"audio/wav"},{"type":"file","base64":"SUQz","media_type":"audio/mpeg"}]}"#,
    );
}

#[test]
fn parts_of_unknown_type_are_kept_as_they_came() {
    check(
        r#"{"role":"user","content":[{"type": "video_url", "video_url": {"url":"x", "fps": 1e0}}]}"#,
        r#"{"role":"user","parts":[{"type":"opaque","owner":"openai","value":{"type": "video_url", "video_url": {"url":"x", "fps": 1e0}}}]}"#,
    );
    check(
        r#"{"role":"system","content":[{"type":"image_url","image_url":{"url":"https://a.example/x"}}]}"#,
        r#"{"role":"system","parts":[{"type":"opaque","owner":"openai","value":{"type":"image_url","image_url":{"url":"https://a.example/x"}}}]}"#,
    );
}

#[test]
fn a_refusal_is_opaque_wherever_it_stands() {
    let expected = r#"{"role":"assistant","parts":[{"type":"opaque","owner":"openai","value":{"type":"refusal","refusal":"no"}}]}"#;
    check(r#"{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}"#, expected);
    check(r#"{"role":"assistant","content":null,"refusal":"no"}"#, expected);
}

#[test]
fn calls_follow_the_text_with_their_arguments_untouched() {
    check(
        r#"{"role":"assistant","content":"let me see","tool_calls":[
            {"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"path\": \".\", \"n\": 1e2}"}},
            {"id":"c2","type":"function","function":{"name":"ls","arguments":{"path": "."}}},
            {"id":"c3","function":{"name":"ls"}},
            {"id":"c4","type":"function","function":{"name":"ls","arguments":"{\"pa"}},
            {"id":"c5","type":"function","function":{"name":"ls","arguments":["."]}}]}"#,
        concat!(
            r#"{"role":"assistant","parts":[{"type":"text","text":"let me see"},"#,
            r#"{"type":"call","id":"c1","name":"ls","arguments":{"path": ".", "n": 1e2}},"#,
            r#"{"type":"call","id":"c2","name":"ls","arguments":{"path": "."}},"#,
            r#"{"type":"call","id":"c3","name":"ls","arguments":{}},"#,
            r#"{"type":"call","id":"c4","name":"ls","arguments_text":"{\"pa"},"#,
            r#"{"type":"call","id":"c5","name":"ls","arguments_text":"[\".\"]"}]}"#,
        ),
    );
}

#[test]
fn a_call_keeps_what_it_carries() {
    check(
        r#"{"role":"assistant","tool_calls":[
            {"id":"c1","type":"function","index":0,"function":{"name":"ls","arguments":"{}","strict":true},
             "provider_specific_fields":{"thought_signature":"c2ln","x":1}},
            {"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"},
             "provider_specific_fields":{"thought_signature":"c2ln"}}]}"#,
        concat!(
            r#"{"role":"assistant","parts":["#,
            r#"{"type":"call","id":"c1","name":"ls","arguments":{},"extra":{"google":{"thoughtSignature":"c2ln"},"#,
            r#""openai":{"index":0,"function":{"strict":true},"provider_specific_fields":{"x":1}}}},"#,
            r#"{"type":"call","id":"c2","name":"ls","arguments":{},"extra":{"google":{"thoughtSignature":"c2ln"}}}]}"#,
        ),
    );
}

#[test]
fn a_custom_tool_is_called_with_text() {
    check(
        r#"{"role":"assistant","tool_calls":[
            {"id":"c1","type":"custom","custom":{"name":"sql","input":"SELECT 1"}},
            {"id":"c2","type":"custom","custom":{"name":"sql","input":"{\"a\":1}"}},
            {"id":"c3","type":"custom","custom":{"name":"sql","input":""}}]}"#,
        concat!(
            r#"{"role":"assistant","parts":["#,
            r#"{"type":"call","id":"c1","name":"sql","arguments_text":"SELECT 1","extra":{"openai":{"type":"custom"}}},"#,
            r#"{"type":"call","id":"c2","name":"sql","arguments":{"a":1},"extra":{"openai":{"type":"custom"}}},"#,
            r#"{"type":"call","id":"c3","name":"sql","arguments_text":"","extra":{"openai":{"type":"custom"}}}]}"#,
        ),
    );
}

#[test]
fn a_call_without_id_is_named_after_its_place() {
    check_all(
        r#"[{"role":"user","content":"go"},
            {"role":"assistant","tool_calls":[
                {"id":"c1","function":{"name":"a"}}, {"function":{"name":"b"}}, {"id":" ","function":{"name":"c"}}]}]"#,
        &[
            r#"{"role":"user","parts":[{"type":"text","text":"go"}]}"#,
            concat!(
                r#"{"role":"assistant","parts":[{"type":"call","id":"c1","name":"a","arguments":{}},"#,
                r#"{"type":"call","id":"call_1_1","name":"b","arguments":{}},"#,
                r#"{"type":"call","id":"call_1_2","name":"c","arguments":{}}]}"#,
            ),
        ],
    );
}

#[test]
fn a_function_message_answers_the_latest_call_of_its_name() {
    check_all(
        r#"[{"role":"assistant","content":null,"function_call":{"name":"ls","arguments":"{}"}},
            {"role":"function","name":"ls","content":"old"},
            {"role":"assistant","content":null,"function_call":{"name":"ls","arguments":"{}"}},
            {"role":"function","name":"ls","content":"new"},
            {"role":"function","name":"cat","content":"stray"}]"#,
        &[
            r#"{"role":"assistant","parts":[{"type":"call","id":"call_0_0","name":"ls","arguments":{}}]}"#,
            r#"{"role":"tool","call":"call_0_0","name":"ls","parts":[{"type":"text","text":"old"}]}"#,
            r#"{"role":"assistant","parts":[{"type":"call","id":"call_2_0","name":"ls","arguments":{}}]}"#,
            r#"{"role":"tool","call":"call_2_0","name":"ls","parts":[{"type":"text","text":"new"}]}"#,
            r#"{"role":"tool","call":"call_4_0","name":"cat","parts":[{"type":"text","text":"stray"}]}"#,
        ],
    );
}

#[test]
fn a_tool_result_has_a_name_a_status_and_parts() {
    check(
        r#"{"role":"tool","tool_call_id":"c1","name":"shot","is_error":true,"content":[
            {"type":"text","text":"cut off"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}"#,
        r#"{"role":"tool","call":"c1","name":"shot","error":true,"parts":[{"type":"text","text":"cut off"},{"type":"image","base64":"AAAA","media_type":"image/png"}]}"#,
    );
}

#[test]
fn thinking_stands_first_and_knows_its_producer() {
    check(
        r#"{"role":"assistant","content":"4","thinking_blocks":[
            {"type":"thinking","thinking":"2+2","signature":"c2ln"},
            {"type":"redacted_thinking","data":"ZW5j"},
            {"type":"thinking","thinking":"sum","signature":"gAAA","id":"rs_1"},
            {"type":"thinking","thinking":"hm"},
            {"type":"musing","n":1}]}"#,
        concat!(
            r#"{"role":"assistant","parts":["#,
            r#"{"type":"thinking","text":"2+2","signature":"c2ln"},"#,
            r#"{"type":"thinking","text":"","encrypted":"ZW5j","vendor":"anthropic"},"#,
            r#"{"type":"thinking","text":"sum","encrypted":"gAAA","vendor":"openai","extra":{"openai":{"id":"rs_1"}}},"#,
            r#"{"type":"thinking","text":"hm"},"#,
            r#"{"type":"opaque","owner":"anthropic","value":{"type":"musing","n":1}},"#,
            r#"{"type":"text","text":"4"}]}"#,
        ),
    );
}

#[test]
fn reasoning_is_thinking_without_a_seal_unless_it_repeats_the_blocks() {
    for name in ["reasoning", "reasoning_content"] {
        check(
            &format!(r#"{{"role":"assistant","{name}":"hm","content":"4"}}"#),
            r#"{"role":"assistant","parts":[{"type":"thinking","text":"hm"},{"type":"text","text":"4"}]}"#,
        );
    }
    check(
        r#"{"role":"assistant","reasoning_content":"hm","content":"4","thinking_blocks":[
            {"type":"thinking","thinking":"hm","signature":"s"}]}"#,
        r#"{"role":"assistant","parts":[{"type":"thinking","text":"hm","signature":"s"},{"type":"text","text":"4"}],"extra":{"openai":{"reasoning_content":"hm"}}}"#,
    );
}

#[test]
fn a_message_keeps_its_id_its_instant_and_unknown_fields() {
    check(
        r#"{"id":"m7","created_at":"2026-11-15T12:00:00+02:00","role":"user","content":"hi","name":"Ada", "x" : [1, 2.0]}"#,
        r#"{"id":"m7","role":"user","at":"2026-11-15T10:00:00Z","parts":[{"type":"text","text":"hi"}],"extra":{"openai":{"name":"Ada","x":[1, 2.0]}}}"#,
    );
    check(
        r#"{"role":"user","content":"hi","timestamp":1763200800.25}"#,
        r#"{"role":"user","at":"2025-11-15T10:00:00.25Z","parts":[{"type":"text","text":"hi"}]}"#,
    );
    check(
        r#"{"role":"user","content":"hi","id":7,"timestamp":"noon","at":1763200800}"#,
        r#"{"role":"user","at":"2025-11-15T10:00:00Z","parts":[{"type":"text","text":"hi"}],"extra":{"openai":{"id":7,"timestamp":"noon"}}}"#,
    );
    // Milliseconds are no seconds: the instant would lie beyond the year 9999.
    check(
        r#"{"role":"user","content":"hi","timestamp":1763200800000}"#,
        r#"{"role":"user","parts":[{"type":"text","text":"hi"}],"extra":{"openai":{"timestamp":1763200800000}}}"#,
    );
}

#[test]
fn null_is_the_same_as_absent_for_fields_with_a_meaning() {
    check(
        r#"{"role":"assistant","content":"hi","tool_calls":null,"function_call":null,"refusal":null,"thinking_blocks":null}"#,
        r#"{"role":"assistant","parts":[{"type":"text","text":"hi"}]}"#,
    );
}

#[test]
fn a_request_keeps_its_other_fields_in_order() {
    let request = decode_request(
        r#"{"seed":7, "model":"m", "messages":[{"role":"user","content":"hi"}], "metadata" : { "a": 1.0 }, "n":null}"#,
    )
    .unwrap();
    assert_eq!(request.messages, [Message::user("hi")]);
    assert!(request.options.rest.is_of(Family::OpenaiChat));
    let rest: Vec<_> =
        request.options.rest.iter().map(|(name, json)| (name, json.as_str())).collect();
    assert_eq!(rest, [("seed", "7"), ("metadata", r#"{ "a": 1.0 }"#), ("n", "null")]);
}

#[test]
fn settings_are_read_beside_the_messages_and_below_params() {
    let settings = r#""max_tokens":100.0,"temperature":0.10,"top_p":1,"top_k":40.0,"stop":"END",
        "stream":true,"tool_choice":{"type":"function","function":{"name":"ls"}},
        "parallel_tool_calls":false,"thinking":{"type":"disabled"},
        "response_format":{"type":"json_object"},"prompt_cache_key":"k""#;
    let beside = format!(r#"{{"model":"m","messages":[],{settings}}}"#);
    let below = format!(r#"{{"model":"m","messages":[],"params":{{{settings}}}}}"#);
    let request = decode_request(&beside).unwrap();
    assert_eq!(decode_request(&below).unwrap(), request);
    let mut expected = Options::model("m");
    expected.max_tokens = Some(100);
    expected.temperature = Json::parse("0.10").ok().map(Number::from_json);
    expected.top_p = Json::parse("1").ok().map(Number::from_json);
    expected.top_k = Json::parse("40.0").ok().map(Number::from_json);
    expected.stop = vec!["END".to_owned()];
    expected.stream = true;
    expected.tool_choice = Some(ToolChoice::Tool("ls".into()));
    expected.parallel_tool_calls = Some(false);
    expected.thinking = Some(ThinkingMode::off());
    expected.response_format = Some(ResponseFormat::Json);
    expected.cache_key = Some("k".into());
    expected.rest = OwnFields::of(Family::OpenaiChat);
    assert_eq!(request.options, expected);
}

#[test]
fn functions_are_tools_and_all_else_belongs_to_the_vendor() {
    let request = decode_request(
        r#"{"messages":[],"tools":[
            {"type":"function","x":1,"function":{"name":"ls","description":"lists","parameters":{"type": "object"},"strict":true,"y":2}},
            {"type":"custom","custom":{"name":"sql"}},
            {"type":"web_search"}],
            "functions":[{"name":"old"}],"function_call":{"name":"old"}}"#,
    )
    .unwrap();
    let extra = Json::parse(r#"{"x":1,"function":{"y":2}}"#).unwrap();
    let ls = Tool {
        name: "ls".into(),
        description: Some("lists".into()),
        parameters: Json::parse(r#"{"type": "object"}"#).ok(),
        strict: Some(true),
        extra: Extra::of("openai".into(), extra).unwrap(),
    };
    let old = Tool {
        name: "old".into(),
        description: None,
        parameters: None,
        strict: None,
        extra: Extra::NONE,
    };
    assert_eq!(request.tools, [ls, old]);
    let hosted: Vec<_> =
        request.options.hosted_tools.iter().map(|t| (t.owner.as_str(), t.value.as_str())).collect();
    let custom = r#"{"type":"custom","custom":{"name":"sql"}}"#;
    assert_eq!(hosted, [("openai", custom), ("openai", r#"{"type":"web_search"}"#)]);
    assert_eq!(request.options.tool_choice, Some(ToolChoice::Tool("old".into())));
}

#[test]
fn a_choice_of_tools_without_a_neutral_word_stays_a_field() {
    let choice = r#"{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}"#;
    let body = format!(r#"{{"messages":[],"tool_choice":{choice}}}"#);
    let options = decode_request(&body).unwrap().options;
    assert_eq!(options.tool_choice, None);
    let kept = Json::parse(choice).unwrap();
    assert_eq!(options.rest, OwnFields::of(Family::OpenaiChat).with("tool_choice", kept));
    let words = [
        ("auto", ToolChoice::Auto),
        ("none", ToolChoice::None),
        ("required", ToolChoice::Required),
        ("any", ToolChoice::Required),
    ];
    for (word, choice) in words {
        let body = format!(r#"{{"messages":[],"tool_choice":"{word}"}}"#);
        assert_eq!(decode_request(&body).unwrap().options.tool_choice, Some(choice));
    }
}

proptest! {
#[test]
    fn every_call_result_and_text_arrives(
        turns in prop::collection::vec((".{0,20}", "[a-z]{1,8}", ".{0,20}"), 0..6),
    ) {
        let mut chat = Vec::new();
        for (i, (said, tool, answered)) in turns.iter().enumerate() {
            let id = format!("c{i}");
            chat.push(serde_json::json!({"role": "assistant", "content": said, "tool_calls": [
                {"id": id, "type": "function", "function": {"name": tool, "arguments": "{}"}}]}));
            chat.push(serde_json::json!({"role": "tool", "tool_call_id": id, "content": answered}));
        }
        let messages = decode_messages(&serde_json::Value::from(chat).to_string()).unwrap();
        let read: Vec<_> = messages
            .chunks(2)
            .map(|pair| {
                let call = pair[0].calls().next().unwrap();
                assert_eq!(call.id, pair[1].as_result().unwrap().call);
                (pair[0].text().into_owned(), call.name.to_string(), pair[1].text().into_owned())
            })
            .collect();
        prop_assert_eq!(read, turns);
    }
}
