use interleaf_model::{AssistantPart, Body, Finish, Message, PartRef, Reply, Seal, Usage};
use interleaf_wire::{Delta, ErrorKind, NameMap, Options, StreamDecoder};

use super::{FAMILY, OWNER, body_of, encoded, exchange};
use crate::{decode_response, decode_stream};

const BOTH: [&str; 5] = ["tools", "text", "refusal", "cut-short", "hosted"];

fn whole(name: &str) -> Reply {
    decode_response(FAMILY, &exchange(&format!("{name}.json")), &NameMap::default()).unwrap()
}

fn streamed(name: &str) -> Reply {
    let recorded = exchange(&format!("{name}.sse"));
    decode_stream(FAMILY, recorded.as_bytes(), &NameMap::default()).unwrap()
}

#[test]
fn a_stream_says_what_the_whole_answer_says() {
    for name in BOTH {
        assert_eq!(streamed(name), whole(name), "{name}");
    }
}

#[test]
fn a_stream_may_be_cut_anywhere() {
    let recorded = exchange("cut-short.sse");
    let expected = whole("cut-short");
    for cut in 0..=recorded.len() {
        let (first, second) = recorded.as_bytes().split_at(cut);
        let mut decoder = StreamDecoder::new(FAMILY, NameMap::default());
        decoder.push(first).unwrap();
        decoder.push(second).unwrap();
        assert_eq!(decoder.finish().unwrap(), expected, "cut at {cut}");
    }
}

#[test]
fn a_stream_may_come_byte_by_byte() {
    for name in BOTH {
        let mut decoder = StreamDecoder::new(FAMILY, NameMap::default());
        for byte in exchange(&format!("{name}.sse")).bytes() {
            decoder.push(&[byte]).unwrap();
        }
        assert_eq!(decoder.finish().unwrap(), whole(name), "{name}");
    }
}

#[test]
fn an_answer_with_calls() {
    let reply = whole("tools");
    assert_eq!(reply.finish, Finish::ToolCalls);
    assert_eq!(reply.id.as_deref(), Some("resp_0a"));
    let usage = Usage {
        prompt: 900,
        cache_read: 768,
        cache_write: 64,
        completion: 120,
        reasoning: 80,
        ..Usage::default()
    };
    assert_eq!(reply.usage, Some(usage));
    let calls: Vec<_> = reply
        .message
        .calls()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()))
        .collect();
    assert_eq!(
        calls,
        [
            ("call_ls", "list_files", r#"{"path":"src"}"#),
            ("call_read", "read_file", r#"{"path":"src/main.rs","lines":[1,20]}"#),
        ]
    );
    let Some(PartRef::Thinking(thinking)) = reply.message.parts().next() else {
        panic!("no thought comes first")
    };
    assert_eq!(
        &*thinking.text,
        "**Looking around**\n\nThe folder first.**Then the file**\n\nIt may be long."
    );
    assert_eq!(thinking.seal, Some(Seal::Encrypted("gAAAAABoQk9-_A==".into())));
    assert_eq!(thinking.producer.as_ref().unwrap().vendor.as_str(), OWNER);
}

#[test]
fn the_other_ends_of_an_answer() {
    assert_eq!(whole("text").finish, Finish::Stop);
    assert_eq!(whole("text").message.text(), "Two sources agree. 日本語も。\nA third does not.");
    assert_eq!(whole("cut-short").finish, Finish::Length);
    assert_eq!(whole("refusal").finish, Finish::ContentFilter);
}

#[test]
fn deltas_tell_the_same_as_the_reply() {
    let mut decoder = StreamDecoder::new(FAMILY, NameMap::default());
    let deltas = decoder.push(exchange("tools.sse").as_bytes()).unwrap();
    let (mut text, mut thought, mut calls, mut arguments) =
        (String::new(), String::new(), Vec::new(), String::new());
    for delta in &deltas {
        match delta {
            Delta::Text { text: more, .. } => text.push_str(more),
            Delta::Thinking { text: more, .. } => thought.push_str(more),
            Delta::Call { id, name, .. } => calls.push((id.as_str(), name.as_str())),
            Delta::Arguments { text: more, .. } => arguments.push_str(more),
            _ => {}
        }
    }
    assert_eq!(text, "I look at the folder — größer als gedacht.");
    assert!(thought.starts_with("**Looking around**"));
    assert_eq!(calls, [("call_ls", "list_files"), ("call_read", "read_file")]);
    assert_eq!(arguments, r#"{"path":"src"}{"path":"src/main.rs","lines":[1,20]}"#);
    assert_eq!(deltas.last(), Some(&Delta::Finish(Finish::ToolCalls)));
}

#[test]
fn an_event_of_unknown_type_is_handed_on() {
    let mut decoder = StreamDecoder::new(FAMILY, NameMap::default());
    let deltas = decoder.push(b"data: {\"type\":\"response.humming\",\"x\":1}\n\n").unwrap();
    let data = r#"{"type":"response.humming","x":1}"#.to_owned();
    assert_eq!(deltas, [Delta::Unknown { event: "response.humming".to_owned(), data }]);
}

#[test]
fn items_without_an_event_of_their_own_are_taken_from_the_end_or_from_their_pieces() {
    let from_end =
        r#"data: {"type":"response.completed","response":{"status":"completed","output":[
        {"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}}"#
            .replace('\n', "");
    let from_pieces = concat!(
        r#"data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f"}}"#,
        "\n\n",
        r#"data: {"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":"}"#,
        "\n\n",
        r#"data: {"type":"response.function_call_arguments.delta","output_index":0,"delta":"1}"}"#,
        "\n\n",
        r#"data: {"type":"response.completed","response":{"status":"completed","output":[]}}"#,
        "\n\n",
    );
    let read = |text: &str| decode_stream(FAMILY, text.as_bytes(), &NameMap::default()).unwrap();
    assert_eq!(read(&from_end).message.text(), "hi");
    let reply = read(from_pieces);
    let call = reply.message.calls().next().unwrap();
    assert_eq!((call.id.as_str(), call.arguments.as_str()), ("c", r#"{"a":1}"#));
    assert_eq!(reply.finish, Finish::ToolCalls);
}

#[test]
fn failures_are_told_in_the_words_of_the_api() {
    let stream = |name: &str| {
        let recorded = exchange(name);
        let error = decode_stream(FAMILY, recorded.as_bytes(), &NameMap::default()).unwrap_err();
        (error.kind(), error.message().to_owned())
    };
    let api = |text: &str| (ErrorKind::Api, text.to_owned());
    assert_eq!(stream("failed.sse"), api("server_error: The model had an error."));
    assert_eq!(stream("rate-limit.sse"), api("rate_limit_exceeded: Slow down."));
    assert_eq!(stream("broken-off.sse").0, ErrorKind::Cut);
    let refused = exchange("refused.json");
    let error = decode_response(FAMILY, &refused, &NameMap::default()).unwrap_err();
    let text = "invalid_request_error: No tool output found for function call call_ls.";
    assert_eq!((error.kind(), error.message().to_owned()), api(text));
    let running = r#"{"status":"in_progress","output":[]}"#;
    let error = decode_response(FAMILY, running, &NameMap::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cut);
}

#[test]
fn a_corrupt_event_is_an_error_with_its_bytes() {
    for event in ["{\"type\":", "[1]", "{\"type\":\"response.output_item.done\"}", "nonsense"] {
        let mut decoder = StreamDecoder::new(FAMILY, NameMap::default());
        let error = decoder.push(format!("data: {event}\n\n").as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{event}");
        assert!(error.message().ends_with(event), "{error}");
    }
}

/// An answer goes back as the items that it came in.
#[test]
fn an_answer_goes_back_item_by_item() {
    for (name, model) in [("tools", "gpt-5"), ("text", "gpt-4o"), ("hosted", "gpt-5")] {
        let reply = whole(name);
        let mut messages = vec![Message::user("go")];
        let results = reply.message.calls().map(|call| call.id.clone()).collect::<Vec<_>>();
        messages.push(reply.message);
        messages.extend(results.into_iter().map(|id| Message::tool(id, Default::default(), "ok")));
        messages.push(Message::user("on"));
        let options = Options::model(model);
        let encoded = encoded(messages, &options);
        assert_eq!(encoded.adjustments, [], "{name}");
        let body: serde_json::Value = serde_json::from_str(&body_of(&encoded)).unwrap();
        let came: serde_json::Value =
            serde_json::from_str(&exchange(&format!("{name}.json"))).unwrap();
        let came = came["output"].as_array().unwrap();
        let sent = &body["input"].as_array().unwrap()[1..=came.len()];
        assert_eq!(sent, came.as_slice(), "{name}");
    }
}

/// A custom tool's result is written as one, though the result does not say so.
#[test]
fn the_result_of_a_custom_call_is_a_custom_output() {
    let reply = whole("hosted");
    let id = reply.message.calls().next().unwrap().id.clone();
    let messages =
        vec![Message::user("go"), reply.message, Message::tool(id, Default::default(), "1")];
    let body = body_of(&encoded(messages, &Options::default()));
    let output = r#"{"type":"custom_tool_call_output","call_id":"call_sql","output":"1"}"#;
    assert!(body.contains(output), "{body}");
}

#[test]
fn without_its_thought_an_item_loses_its_id() {
    let mut message = whole("tools").message;
    if let Body::Assistant(parts) = &mut message.body {
        let kept = parts.iter().filter(|part| !matches!(part, AssistantPart::Call(_))).cloned();
        *parts = interleaf_model::Parts::new(kept.collect()).unwrap();
    }
    let messages = vec![Message::user("go"), message, Message::user("on")];
    let other_model = Options::model("gpt-6");
    let body = body_of(&encoded(messages, &other_model));
    assert!(!body.contains("rs_0a1") && !body.contains("msg_0a2"), "{body}");
    assert!(body.contains(r#""phase":"commentary""#), "{body}");
}
