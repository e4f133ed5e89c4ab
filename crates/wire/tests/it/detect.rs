//! Which API a text belongs to.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use interleaf_model::{Message, Role};
use interleaf_wire::{Family, decode_request, decode_tools, detect};
use serde_json::Value;

/// The recorded texts of a family whose names end so.
fn recorded(family: Family, ending: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/exchanges");
    let files = std::fs::read_dir(folder.join(family.as_str())).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let paths = paths.filter(|path| path.to_str().is_some_and(|path| path.ends_with(ending)));
    paths.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn a_list_of_messages_is_known_by_its_parts() {
    let table: [(&str, Family); 10] = [
        (r#"[{"role":"user","content":"hi"}]"#, Family::OpenaiChat),
        (
            r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a/b"}}]}]"#,
            Family::OpenaiChat,
        ),
        (
            r#"[{"role":"tool","tool_call_id":"c","content":[{"type":"document"}]}]"#,
            Family::OpenaiChat,
        ),
        (
            r#"[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]"#,
            Family::OpenaiResponses,
        ),
        (r#"[{"type":"message","role":"user","content":"hi"}]"#, Family::OpenaiResponses),
        (
            r#"[{"role":"user","content":"hi"},{"type":"compaction","encrypted_content":"x"}]"#,
            Family::OpenaiResponses,
        ),
        (
            r#"[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}]"#,
            Family::Anthropic,
        ),
        (
            r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]"#,
            Family::Anthropic,
        ),
        (r#"[{"role":"model","parts":[{"text":"hi"}]}]"#, Family::Gemini),
        (r#"[{"role":"user","content":[{"text":"hi"}]}]"#, Family::Bedrock),
    ];
    for (list, family) in table {
        assert_eq!(detect::request(list), Some(family), "{list}");
        assert!(decode_request(family, list).is_ok(), "{list}");
    }
}

#[test]
fn recorded_requests_are_known_and_so_are_their_lists_alone() {
    let mut n_lists = 0;
    for family in Family::ALL {
        for (path, body) in recorded(family, ".request.json") {
            assert_eq!(detect::request(&body), Some(family), "{path:?}");
            let value: Value = serde_json::from_str(&body).unwrap();
            let mut lists = ["messages", "contents", "input"].into_iter();
            let list = lists.find_map(|name| value.get(name)).unwrap().to_string();
            assert_eq!(detect::request(&list), Some(family), "{path:?}");
            let is_said = |message: &Message| message.role() != Role::System;
            let of_body = decode_request(family, &value.to_string()).unwrap().messages;
            let of_list = decode_request(family, &list).unwrap().messages;
            let texts = |messages: &[Message]| -> Vec<String> {
                messages.iter().filter(|m| is_said(m)).map(|m| m.text().into_owned()).collect()
            };
            assert_eq!(texts(&of_body), texts(&of_list), "{path:?}");
            n_lists += 1;
        }
    }
    assert!(n_lists >= 5);
}

#[test]
fn recorded_answers_and_streams_are_known() {
    for family in Family::ALL {
        let is_error = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            ["error", "failed", "refused.json", "rate-limit"].iter().any(|it| name.starts_with(it))
        };
        let mut wholes = recorded(family, ".json");
        wholes.retain(|(path, text)| {
            let path = path.to_str().unwrap_or_default();
            !path.ends_with(".request.json") && !text.trim_start().starts_with('[')
        });
        for (path, text) in wholes.into_iter().filter(|(path, _)| !is_error(path)) {
            assert_eq!(detect::answer(&text), Some(family), "{path:?}");
        }
        for (path, text) in recorded(family, ".sse").into_iter().filter(|(p, _)| !is_error(p)) {
            assert_eq!(detect::stream(text.as_bytes()), Some(family), "{path:?}");
        }
    }
    assert_eq!(detect::stream(b"data: {\"choices\":[]}\r\r"), Some(Family::OpenaiChat));
    assert_eq!(detect::stream(b"\0\0\0\x10"), Some(Family::Bedrock));
    assert_eq!(detect::stream(b"data: 1\n\n"), None);
}

#[test]
fn an_error_is_known_by_its_form() {
    let table = [
        (r#"{"type":"error","error":{"type":"api_error","message":"no"}}"#, Family::Anthropic),
        (r#"{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}"#, Family::Gemini),
        (r#"{"error":{"message":"no","type":"x","code":null}}"#, Family::OpenaiChat),
    ];
    for (text, family) in table {
        assert_eq!(detect::answer(text), Some(family), "{text}");
    }
}

#[test]
fn a_tool_is_known_by_its_form_and_read_alone() {
    let tools = [
        (Family::OpenaiChat, r#"{"type":"function","function":{"name":"f"}}"#),
        (Family::OpenaiResponses, r#"{"type":"function","name":"f"}"#),
        (Family::Anthropic, r#"{"name":"f","input_schema":{"type":"object"}}"#),
        (Family::Gemini, r#"{"functionDeclarations":[{"name":"f"}]}"#),
        (Family::Bedrock, r#"{"toolSpec":{"name":"f","inputSchema":{"json":{}}}}"#),
    ];
    for (family, tool) in tools {
        assert_eq!(detect::tool(tool), Some(family), "{tool}");
        let (tools, hosted) = decode_tools(family, &format!("[{tool}]")).unwrap();
        assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["f"]);
        assert!(hosted.is_empty());
    }
    assert_eq!(detect::tool(r#"{"name":"f","parameters":{}}"#), None);
}

#[test]
fn what_is_no_request_is_not_taken_for_one() {
    for text in ["{}", r#"{"model":"m"}"#, "7", r#""hi""#] {
        assert_eq!(detect::request(text), None, "{text}");
    }
}

#[test]
fn the_name_of_a_model_decides_where_the_form_does_not() {
    let table = [
        (
            r#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"q"}]}"#,
            Family::Anthropic,
        ),
        (
            r#"{"model":"gpt-4o","messages":[{"role":"user","content":"q"}],
             "tools":[{"name":"ls","input_schema":{"type":"object"}}]}"#,
            Family::OpenaiChat,
        ),
        (
            r#"{"model":"x","messages":[{"role":"user","content":"q"}],
             "tools":[{"name":"ls","input_schema":{"type":"object"}}]}"#,
            Family::Anthropic,
        ),
        // The form contradicts the name.
        (
            r#"{"model":"claude-sonnet-4-5","messages":[{"role":"system","content":"s"},{"role":"user","content":"q"}]}"#,
            Family::OpenaiChat,
        ),
        (
            r#"{"model":"claude-sonnet-4-5","max_completion_tokens":9,"messages":[{"role":"user","content":"q"}]}"#,
            Family::OpenaiChat,
        ),
        (
            r#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"q"}],
             "tools":[{"type":"function","function":{"name":"ls"}}]}"#,
            Family::OpenaiChat,
        ),
        (
            r#"{"model":"gpt-4o","system":"s","messages":[{"role":"user","content":"q"}]}"#,
            Family::Anthropic,
        ),
        // Whoever serves a model under a name of their own speaks what they speak.
        (
            r#"{"model":"anthropic/claude-sonnet-4.5","messages":[{"role":"user","content":"q"}]}"#,
            Family::OpenaiChat,
        ),
    ];
    for (body, family) in table {
        assert_eq!(detect::request(body), Some(family), "{body}");
    }
}
