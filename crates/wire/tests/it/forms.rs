//! Conversations that mix the forms of several APIs, and bodies that are not sound.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_model::{Arguments, ContentPart, Message, Source};
use interleaf_wire::lint::lint;
use interleaf_wire::{ErrorKind, Family, Options, Vendor, decode_request, detect, encode};
use serde_json::{Value, json};

use super::openai_chat::prompt;

/// The body for an API, of messages in the form of chat.
fn written_body(family: Family, messages: &str) -> Value {
    let request = decode_request(Family::OpenaiChat, messages).unwrap();
    let prompt = prompt(&request.messages, request.tools);
    let written = encode(&prompt, Vendor::of(family), &Options::default()).unwrap();
    serde_json::from_slice(&written.to_bytes()).unwrap()
}

/// A call of the tool `f`, and its result, in the form of each family; `id` is the call's.
fn exchange(family: Family, id: &str) -> Vec<Value> {
    match family {
        Family::OpenaiChat => vec![
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}]}),
            json!({"role": "tool", "tool_call_id": id, "content": "found"}),
        ],
        Family::OpenaiResponses => vec![
            json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": id, "output": "found"}),
        ],
        Family::Anthropic => vec![
            json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": "f", "input": {}}]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": "found"}]}),
        ],
        Family::Gemini => vec![
            json!({"role": "model", "parts": [{"functionCall": {"id": id, "name": "f", "args": {}}}]}),
            json!({"role": "user", "parts": [
                {"functionResponse": {"id": id, "name": "f", "response": {"output": "found"}}}]}),
        ],
        Family::Bedrock => vec![
            json!({"role": "assistant", "content": [
                {"toolUse": {"toolUseId": id, "name": "f", "input": {}}}]}),
            json!({"role": "user", "content": [
                {"toolResult": {"toolUseId": id, "content": [{"text": "found"}]}}]}),
        ],
    }
}

fn counts(messages: &[Message]) -> (usize, usize) {
    let n_calls = messages.iter().map(|message| message.calls().count()).sum();
    let n_results = messages.iter().filter(|message| message.as_result().is_some()).count();
    (n_calls, n_results)
}

#[test]
fn a_list_in_two_forms_loses_no_call_and_no_result() {
    for first in Family::ALL {
        for second in Family::ALL {
            let list = [exchange(first, "c1"), exchange(second, "c2")].concat();
            let list = Value::from(list).to_string();
            let family = detect::request(&list).unwrap();
            match decode_request(family, &list) {
                Ok(request) => {
                    assert_eq!(counts(&request.messages), (2, 2), "{first} and {second}");
                }
                Err(error) => {
                    assert_ne!(first, second, "{error}");
                    assert!(!error.place().path.is_empty(), "{first} and {second}: {error}");
                }
            }
        }
    }
}

#[test]
fn a_list_with_a_system_message_is_known_by_its_parts() {
    for family in Family::ALL {
        let list = [vec![json!({"role": "system", "content": "be kind"})], exchange(family, "c1")];
        let list = Value::from(list.concat()).to_string();
        let seen = detect::request(&list).unwrap();
        if family == Family::Gemini {
            // Its contents have no role for it, and its words would be lost.
            let error = decode_request(seen, &list).unwrap_err();
            assert_eq!(error.place().path, "contents[0].content");
            continue;
        }
        let messages = decode_request(seen, &list).unwrap().messages;
        assert_eq!((counts(&messages), &*messages[0].text()), ((1, 1), "be kind"), "{family}");
    }
}

#[test]
fn a_result_without_the_id_of_its_call_answers_the_only_one_that_waits() {
    let without = |family: Family, id: &str| {
        let text = Value::from(exchange(family, id)).to_string();
        let named = ["tool_call_id", "call_id", "tool_use_id", "toolUseId", "id"];
        let end = text.rfind(&format!(r#":"{id}""#)).unwrap();
        let key = named.iter().find(|key| text[..end].ends_with(&format!("\"{key}\""))).unwrap();
        format!("{}\"was\":\"{id}\"{}", &text[..end - key.len() - 2], &text[end + id.len() + 3..])
    };
    for family in Family::ALL {
        let messages = decode_request(family, &without(family, "c1")).unwrap().messages;
        let calls: Vec<_> = messages.iter().flat_map(Message::calls).map(|call| &call.id).collect();
        let results: Vec<_> =
            messages.iter().filter_map(Message::as_result).map(|result| &result.call).collect();
        assert_eq!(calls, results, "{family}");
    }
    let two = json!([{"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "b", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "content": "whose?"}]);
    let error = decode_request(Family::OpenaiChat, &two.to_string()).unwrap_err();
    assert_eq!(error.place().path, "messages[1]");
}

#[test]
fn a_field_that_stands_twice_is_refused() {
    let bodies = [
        (Family::OpenaiChat, r#"{"messages":[{"role":"user","content":"a","content":"b"}]}"#),
        (Family::OpenaiChat, r#"[{"role":"user","content":"a","content":"b"}]"#),
        (Family::OpenaiResponses, r#"{"input":[{"role":"user","content":"a","content":"b"}]}"#),
        (Family::Anthropic, r#"{"messages":[{"role":"user","content":"a","content":"b"}]}"#),
        (Family::Gemini, r#"{"contents":[{"parts":[{"text":"a","text":"b"}]}]}"#),
        (Family::Bedrock, r#"{"messages":[{"role":"user","content":[{"text":"a","text":"b"}]}]}"#),
    ];
    for (family, body) in bodies {
        let error = decode_request(family, body).unwrap_err();
        assert!(error.message().starts_with("duplicate field"), "{family}: {error}");
    }
    let many: Vec<String> = (0..100).map(|i| format!(r#""field_{i}":{i}"#)).collect();
    let many = many.join(",");
    let body =
        |last: &str| format!(r#"{{"messages":[{{"role":"user","content":"a"}}],{many},{last}}}"#);
    assert!(decode_request(Family::OpenaiChat, &body(r#""other":1"#)).is_ok());
    let error = decode_request(Family::OpenaiChat, &body(r#""field_7":1"#)).unwrap_err();
    assert_eq!(error.message(), "duplicate field `field_7`");
}

#[test]
fn arguments_that_are_null_are_none() {
    let call = |arguments: &str| {
        format!(
            r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"id":"a","type":"function","function":{{"name":"f","arguments":{arguments}}}}}]}}]}}"#
        )
    };
    for arguments in ["null", r#""null""#, r#"" null ""#, r#""""#] {
        let request = decode_request(Family::OpenaiChat, &call(arguments)).unwrap();
        let call = request.messages[0].calls().next().unwrap();
        assert_eq!(call.arguments, Arguments::none(), "{arguments}");
    }
}

#[test]
fn bytes_that_are_no_base64_are_refused() {
    let bodies = [
        (
            Family::OpenaiChat,
            r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!!"}}]}]"#,
        ),
        (
            Family::OpenaiResponses,
            r#"[{"role":"user","content":[{"type":"input_file","file_data":"data:a/b;base64,!!"}]}]"#,
        ),
        (
            Family::Anthropic,
            r#"[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"!!"}}]}]"#,
        ),
        (Family::Gemini, r#"[{"parts":[{"inlineData":{"mimeType":"image/png","data":"!!"}}]}]"#),
        (
            Family::Bedrock,
            r#"[{"role":"user","content":[{"image":{"format":"png","source":{"bytes":"!!"}}}]}]"#,
        ),
    ];
    for (family, body) in bodies {
        let error = decode_request(family, body).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Rule, "{family}");
        assert_eq!(error.message(), "the bytes are not in base64", "{family}");
        // Either alphabet, padded or not, with line breaks or without.
        for good in ["QUJD", "QUI=", "QUI", "QU\\nJD", "-_-_"] {
            decode_request(family, &body.replace("!!", good)).unwrap();
        }
    }
}

#[test]
fn an_address_where_bytes_may_stand_is_an_address() {
    let body = r#"[{"role":"user","content":[
        {"type":"file","file":{"file_data":"gs://bucket/a.pdf","filename":"a.pdf"}}]}]"#;
    let messages = decode_request(Family::OpenaiChat, body).unwrap().messages;
    let parts = match &messages[0].body {
        interleaf_model::Body::User(parts) => parts,
        _ => unreachable!(),
    };
    let ContentPart::File(file) = &parts[0] else { unreachable!() };
    assert_eq!(file.source, Source::Url("gs://bucket/a.pdf".into()));
    let written = written_body(Family::Gemini, body);
    assert_eq!(written["contents"][0]["parts"][0]["fileData"]["fileUri"], "gs://bucket/a.pdf");
}

#[test]
fn a_failed_result_that_says_nothing_says_the_same_on_every_api() {
    for said in ["", "  "] {
        let body = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "a", "content": said, "is_error": true}]);
        for family in Family::ALL {
            let written = written_body(family, &body.to_string()).to_string();
            assert!(written.contains("the tool failed\""), "{family}: {written}");
        }
    }
}

#[test]
fn arguments_that_are_written_as_an_object_can_be_linted_however_deep_they_are() {
    for depth in [1, 99, 100, 101, 120, 122, 124, 126, 127, 200] {
        let arguments = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        let body = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}]},
            {"role": "tool", "tool_call_id": "a", "content": "x"}]);
        let request = decode_request(Family::OpenaiChat, &body.to_string()).unwrap();
        let prompt = prompt(&request.messages, request.tools);
        for family in Family::ALL {
            let written = encode(&prompt, Vendor::of(family), &Options::model("m")).unwrap();
            let written = String::from_utf8(written.to_bytes()).unwrap();
            assert_eq!(written.contains("raw_arguments"), depth > 100, "{family} {depth}");
            assert_eq!(lint(Vendor::of(family), &written).unwrap(), [], "{family} {depth}");
        }
    }
}

#[test]
fn words_in_another_apis_form_are_refused_and_never_dropped() {
    for family in [Family::OpenaiChat, Family::Anthropic] {
        for kind in ["input_text", "output_text"] {
            let body = json!([{"role": "user", "content": [{"type": kind, "text": "why?"}]}]);
            let refused = decode_request(family, &body.to_string()).unwrap_err().to_string();
            assert!(refused.contains("a conversation has one form"), "{family} {refused}");
        }
    }
}
