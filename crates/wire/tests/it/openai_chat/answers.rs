use std::fs;
use std::path::PathBuf;

use crate::{decode_response, decode_stream};
use interleaf_model::{Arguments, AssistantPart, Finish, Reply, Usage};
use interleaf_wire::{Decoder, Delta, Error, ErrorKind, Family, NameMap, StreamDecoder};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/exchanges/openai-chat"))
}

/// The names of the recorded streams.
pub(crate) fn streams() -> Vec<String> {
    let files = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let sse = files.filter(|path| path.extension().is_some_and(|end| end == "sse"));
    let mut names: Vec<_> =
        sse.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

pub(crate) fn recorded(name: &str) -> Vec<u8> {
    fs::read(folder().join(name)).unwrap()
}

fn whole(name: &str) -> Result<Reply, Error> {
    let text = String::from_utf8(recorded(&format!("{name}.json"))).unwrap();
    decode_response(Family::OpenaiChat, &text, &NameMap::default())
}

pub(crate) fn streamed(bytes: &[u8]) -> Result<Reply, Error> {
    decode_stream(Family::OpenaiChat, bytes, &NameMap::default())
}

fn deltas(name: &str) -> Vec<Delta> {
    let mut decoder = StreamDecoder::new(Family::OpenaiChat, NameMap::default());
    decoder.push(&recorded(&format!("{name}.sse"))).unwrap()
}

/// The parts in the transcript's form, one per line.
fn lines(reply: &Reply) -> Vec<String> {
    let message: serde_json::Value = serde_json::to_value(&reply.message).unwrap();
    message["parts"].as_array().unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn a_streamed_answer_is_the_same_as_the_whole_one() {
    for name in streams() {
        let whole = whole(&name);
        let streamed = streamed(&recorded(&format!("{name}.sse")));
        if name != "error" {
            assert!(whole.is_ok(), "{name}: {whole:?}");
            assert_eq!(streamed, whole, "{name}");
        }
    }
}

#[test]
fn a_text_comes_with_what_it_cost() {
    let reply = whole("text").unwrap();
    assert_eq!(reply.message.text(), "Überall, 漢字 und 👩‍💻:\n\tein \"Zitat\".");
    assert!(reply.message.extra.is_empty());
    assert_eq!(reply.finish, Finish::Stop);
    assert_eq!(reply.id.as_deref(), Some("chatcmpl-1"));
    assert_eq!(reply.model.as_deref(), Some("gpt-4.1-2025-04-14"));
    let usage = Usage {
        prompt: 1200,
        cache_read: 1024,
        cache_write: 0,
        completion: 30,
        reasoning: 0,
        ..Usage::default()
    };
    assert_eq!(reply.usage, Some(usage));
}

#[test]
fn calls_are_put_together_by_their_index() {
    let reply = whole("calls").unwrap();
    assert_eq!(
        lines(&reply),
        [
            r#"{"type":"text","text":"Let me look."}"#,
            r#"{"type":"call","id":"call_a","name":"read_file","arguments":{"path":"a b\n"}}"#,
            r#"{"type":"call","id":"call_b","name":"list","arguments":{}}"#,
        ]
    );
    let arguments: Vec<_> =
        reply.message.calls().map(|call| call.arguments.as_str().to_owned()).collect();
    assert_eq!(arguments, [r#"{"path": "a b\n"}"#, "{}"]);
    assert_eq!(reply.finish, Finish::ToolCalls);
    let begun: Vec<_> = deltas("calls")
        .into_iter()
        .filter_map(|delta| match delta {
            Delta::Call { id, name, .. } => Some((id, name)),
            _ => None,
        })
        .collect();
    let expected = [("call_a", "read_file"), ("call_b", "list")];
    assert_eq!(begun, expected.map(|(id, name)| (id.to_owned(), name.to_owned())));
}

#[test]
fn reasoning_is_thinking_under_any_of_its_names() {
    let thought = |name: &str| match &whole(name).unwrap().message.body {
        interleaf_model::Body::Assistant(parts) => match &parts[0] {
            AssistantPart::Thinking(thinking) => thinking.text.to_string(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    for name in ["reasoning", "reasoning-details", "thinking-part"] {
        assert_eq!(thought(name), "2 and 2 is 4.", "{name}");
        assert_eq!(whole(name).unwrap().message.text(), "4", "{name}");
    }
    let usage = whole("reasoning").unwrap().usage.unwrap();
    assert_eq!((usage.prompt, usage.cache_read, usage.reasoning), (100, 64, 25));
    let extra = whole("reasoning-details").unwrap().message.extra;
    let details = extra.get("openai").unwrap().to_value();
    assert_eq!(details["reasoning_details"][0]["signature"], "c2ln");
}

#[test]
fn a_refusal_is_an_opaque_part() {
    let refusal = r#"{"type":"opaque","owner":"openai","value":{"type":"refusal","refusal":"I cannot help with that."}}"#;
    assert_eq!(lines(&whole("refusal").unwrap()), [refusal]);
}

#[test]
fn a_custom_call_has_text_and_the_old_form_no_id() {
    let reply = whole("custom-call").unwrap();
    let call = reply.message.calls().next().unwrap();
    assert_eq!(call.arguments, Arguments::Invalid("SELECT 1".into()));
    assert_eq!(call.extra.get("openai").unwrap().as_str(), r#"{"type":"custom"}"#);
    assert_eq!(reply.finish, Finish::Length);

    let reply = whole("function-call").unwrap();
    let call = reply.message.calls().next().unwrap();
    assert_eq!((call.id.as_str(), call.name.as_str()), ("call_bce83799895e6cbe", "list"));
    assert_eq!(reply.finish, Finish::ToolCalls);
}

#[test]
fn pieces_without_a_handle_begin_a_call_with_a_new_id_or_name() {
    let chunk = |calls: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{calls}]}}}}]}}\n\n"
        )
    };
    let stream = |chunks: &[&str]| {
        let chunks: String = chunks.iter().map(|calls| chunk(calls)).collect();
        let reply = streamed(format!("{chunks}data: [DONE]\n\n").as_bytes()).unwrap();
        let calls = reply
            .message
            .calls()
            .map(|call| format!("{} {} {}", call.id, call.name, call.arguments.as_str()));
        calls.collect::<Vec<_>>()
    };
    // One index for all, as some servers have it.
    let same_index = [
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#,
        r#"{"index":0,"id":"a","function":{"arguments":"}"}}"#,
        r#"{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}"#,
    ];
    assert_eq!(stream(&same_index), ["a f {}", "b g {}"]);
    let no_index = [
        r#"{"id":"a","function":{"name":"f","arguments":"{"}}"#,
        r#"{"function":{"arguments":"}"}}"#,
        r#"{"id":"b","function":{"name":"g","arguments":{"x":1}}}"#,
    ];
    assert_eq!(stream(&no_index), ["a f {}", r#"b g {"x":1}"#]);
    let no_id = [
        r#"{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":"{}"}}"#,
    ];
    assert_eq!(stream(&no_id), ["call_1b48ead7c010ced9 f {}", "call_1077470af5af6793 f {}"]);
}

#[test]
fn an_error_is_told_in_the_words_of_the_api() {
    let told = |reply: Result<Reply, Error>| {
        let error = reply.unwrap_err();
        (error.kind(), error.message().to_owned())
    };
    let words = |text: &str| (ErrorKind::Api, text.to_owned());
    assert_eq!(told(whole("error")), words("invalid_api_key: Incorrect API key provided."));
    let expected = words("server_error: The server had an error while processing your request.");
    assert_eq!(told(streamed(&recorded("error.sse"))), expected);
    let other_forms = [
        (r#"{"object":"error","message":"no","code":3230}"#, "3230: no"),
        (r#"{"error":"no"}"#, "no"),
        (r#"{"error":{"code":7}}"#, "7: the API answered with an error and no message"),
        (r#"{"detail":[{"msg":"no"}]}"#, "no"),
        (r#"{"choices":[{"index":0,"error":{"message":"no"}}]}"#, "no"),
    ];
    for (text, expected) in other_forms {
        let reply = decode_response(Family::OpenaiChat, text, &NameMap::default());
        assert_eq!(told(reply), words(expected), "{text}");
    }
}

#[test]
fn a_stream_is_whole_by_its_end_marker_or_by_the_reason_why_it_stops() {
    let bytes = recorded("text.sse");
    let text = String::from_utf8(bytes).unwrap();
    let no_marker = text.replace("data: [DONE]", "");
    assert_eq!(streamed(no_marker.as_bytes()), streamed(text.as_bytes()));
    let no_reason = no_marker.replace(r#""finish_reason":"stop""#, r#""finish_reason":null"#);
    assert_eq!(streamed(no_reason.as_bytes()).unwrap_err().kind(), ErrorKind::Cut);
    let empty_reason = no_marker.replace(r#""finish_reason":"stop""#, r#""finish_reason":"""#);
    assert_eq!(streamed(empty_reason.as_bytes()).unwrap_err().kind(), ErrorKind::Cut);
}

#[test]
fn an_unknown_event_is_handed_on_and_a_corrupt_one_is_an_error_with_its_bytes() {
    let mut decoder = StreamDecoder::new(Family::OpenaiChat, NameMap::default());
    let deltas = decoder.push(b"event: ping\ndata: {\"a\":1}\n\ndata: 7\n\n").unwrap();
    let unknown =
        |event: &str, data: &str| Delta::Unknown { event: event.to_owned(), data: data.to_owned() };
    assert_eq!(deltas, [unknown("ping", r#"{"a":1}"#), unknown("", "7")]);
    for data in [r#"{"choices":[{"#, r#"{"choices":[{"delta":{"content":5}}]}"#] {
        let mut decoder = StreamDecoder::new(Family::OpenaiChat, NameMap::default());
        let error = decoder.push(format!("data: {data}\n\n").as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains(data), "{error}");
    }
}

#[test]
fn usage_is_counted_alike_for_all() {
    let usage = |usage: &str| {
        let text = format!(r#"{{"choices":[{{"message":{{"content":"x"}}}}],"usage":{usage}}}"#);
        decode_response(Family::OpenaiChat, &text, &NameMap::default()).unwrap().usage
    };
    let expected = Usage {
        prompt: 9,
        cache_read: 4,
        cache_write: 0,
        completion: 7,
        reasoning: 5,
        ..Usage::default()
    };
    // Reasoning beside the completion, and the cache without details.
    let apart = r#"{"prompt_tokens":9,"completion_tokens":2,"total_tokens":16,"cached_tokens":4,
        "completion_tokens_details":{"reasoning_tokens":5}}"#;
    assert_eq!(usage(apart), Some(expected));
    assert_eq!(usage("null"), None);
}

#[test]
fn an_empty_call_of_another_form_beside_the_real_one_is_no_call() {
    let none = r#"{"name":"","arguments":""}"#;
    let empty = r#"{"name":"","input":""}"#;
    let table = [
        (format!(r#""content":"4","function_call":{none}"#), vec![]),
        (r#""content":"4","function_call":{},"tool_calls":[]"#.to_owned(), vec![]),
        (
            format!(
                r#""tool_calls":[{{"index":0,"id":"a","type":"function","function":{{"name":"ls","arguments":"{{}}"}},"custom":{empty}}}],"function_call":{none}"#
            ),
            vec![("a", "ls", "{}")],
        ),
        (
            format!(
                r#""tool_calls":[{{"index":0,"id":"a","function":{{"name":"ls","arguments":"{{}}"}},"custom":{empty}}}]"#
            ),
            vec![("a", "ls", "{}")],
        ),
        (
            format!(
                r#""tool_calls":[{{"index":0,"id":"a","type":"custom","function":{none},"custom":{{"name":"sql","input":"SELECT 1"}}}}]"#
            ),
            vec![("a", "sql", "SELECT 1")],
        ),
    ];
    for (fields, expected) in table {
        let choice = |place: &str| {
            format!(
                r#"{{"choices":[{{"index":0,"{place}":{{"role":"assistant",{fields}}},"finish_reason":"stop"}}]}}"#
            )
        };
        let whole =
            decode_response(Family::OpenaiChat, &choice("message"), &NameMap::default()).unwrap();
        let in_pieces = streamed(format!("data: {}\n\n", choice("delta")).as_bytes()).unwrap();
        let body = format!(r#"{{"messages":[{{"role":"assistant",{fields}}}]}}"#);
        let sent = interleaf_wire::decode_request(Family::OpenaiChat, &body).unwrap();
        for message in [&whole.message, &in_pieces.message, &sent.messages[0]] {
            let calls: Vec<_> = message
                .calls()
                .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()))
                .collect();
            assert_eq!(calls, expected, "{fields}");
            let kept = serde_json::to_string(message).unwrap();
            assert!(!kept.contains(r#"name":"""#), "{kept}");
        }
    }
}

#[test]
fn the_words_of_other_models_for_the_end_are_understood() {
    let table = [
        ("end_turn", Finish::Stop),
        ("eos", Finish::Stop),
        ("STOP", Finish::Stop),
        ("max_tokens", Finish::Length),
        ("tool_call", Finish::ToolCalls),
        ("tool_use", Finish::ToolCalls),
        ("SAFETY", Finish::ContentFilter),
        ("Weariness", Finish::Other("Weariness".into())),
    ];
    for (word, finish) in table {
        let body = format!(
            r#"{{"choices":[{{"message":{{"role":"assistant","content":"hey"}},"finish_reason":"{word}"}}]}}"#
        );
        let reply = decode_response(Family::OpenaiChat, &body, &NameMap::default()).unwrap();
        assert_eq!(reply.finish, finish, "{word}");
    }
}

#[test]
fn a_stream_that_ends_inside_an_event_after_its_finish_is_whole_and_its_usage_unknown() {
    let whole = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hey\"}}]}\n\n\
        data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
        data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}";
    let usage = whole.rfind("data:").unwrap();
    let read = |end: usize| {
        let mut stream = Decoder::new(Family::OpenaiChat, NameMap::default()).stream();
        stream.push(&whole.as_bytes()[..end]).unwrap();
        (stream.finish().map(|reply| reply.usage.is_some()), stream.partial().unwrap())
    };
    assert!(!read(usage).0.unwrap(), "some servers send no usage");
    assert!(read(whole.len()).0.unwrap());
    for end in usage..whole.len() {
        let (reply, partial) = read(end);
        assert!(!reply.unwrap(), "{}", &whole[usage..end]);
        assert_eq!((partial.message.text(), partial.finish), ("hey".into(), Finish::Stop));
    }
    let finish = whole.find("\"finish_reason").unwrap();
    assert_eq!(read(finish).0.unwrap_err().kind(), ErrorKind::Cut);
}
