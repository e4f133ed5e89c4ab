//! Answers, whole and streamed.

use interleaf_model::{
    AssistantPart, Body, CallId, Finish, Message, PartRef, Producer, Reply, Seal, Usage, VendorName,
};
use interleaf_wire::{Delta, Error, ErrorKind, Family, NameMap, StreamDecoder};

use super::fixture;
use crate::{decode_response, decode_stream};

fn whole(name: &str) -> Result<Reply, Error> {
    let text = fixture(&format!("exchanges/gemini/{name}.json"));
    decode_response(Family::Gemini, &text, &NameMap::default())
}

fn streamed(name: &str) -> Reply {
    let text = fixture(&format!("exchanges/gemini/{name}.sse"));
    decode_stream(Family::Gemini, text.as_bytes(), &NameMap::default()).unwrap()
}

fn parts(message: &Message) -> &[AssistantPart] {
    match &message.body {
        Body::Assistant(parts) => parts,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answer_has_its_thoughts_words_calls_and_costs() {
    let reply = whole("call.response").unwrap();
    let [
        AssistantPart::Thinking(thinking),
        AssistantPart::Text(text),
        AssistantPart::Call(oslo),
        AssistantPart::Call(bergen),
    ] = parts(&reply.message)
    else {
        panic!("{:?}", reply.message);
    };
    assert_eq!(&*thinking.text, "The user wants the weather. I have a tool for that.");
    let producer =
        Producer { vendor: VendorName::new("google"), model: Some("gemini-3-pro-preview".into()) };
    assert_eq!((thinking.producer.clone(), &thinking.seal), (Some(producer), &None));
    assert_eq!(&*text.text, "I will look it up.");
    assert_ne!(oslo.id, bergen.id);
    assert_eq!(oslo.name.as_str(), "get_weather");
    assert!(oslo.arguments.as_str().contains("Oslo"));
    let signature = oslo.extra.get("google").unwrap().to_value();
    assert_eq!(signature["thoughtSignature"], "CpcBAdHtim8kAB+/Z3Q9");
    assert!(bergen.extra.is_empty());
    assert_eq!(reply.finish, Finish::ToolCalls);
    let usage = Usage {
        prompt: 120,
        cache_read: 64,
        cache_write: 0,
        completion: 76,
        reasoning: 45,
        ..Usage::default()
    };
    assert_eq!(reply.usage, Some(usage));
    assert_eq!(reply.id.as_deref(), Some("resp-1"));
}

#[test]
fn a_streamed_answer_is_the_same_as_the_whole_one() {
    assert_eq!(streamed("text.stream"), whole("text.response").unwrap());
    assert_eq!(streamed("text.stream"), whole("text.chunks").unwrap());
    assert_eq!(streamed("calls.stream"), whole("calls.response").unwrap());
}

#[test]
fn pieces_of_text_are_joined_and_a_signature_stays_on_its_own_part() {
    let reply = streamed("text.stream");
    let [AssistantPart::Thinking(thinking), AssistantPart::Text(text), AssistantPart::Opaque(end)] =
        parts(&reply.message)
    else {
        panic!("{:?}", reply.message);
    };
    assert_eq!(&*thinking.text, "First I count the files.");
    assert_eq!(&*text.text, "There are 12 files — größtenteils 漢字 👩\u{200d}💻.");
    assert_eq!(end.value.to_value()["thoughtSignature"], "EuYICuMIAXLI2nwkd+8=");
    assert_eq!(reply.finish, Finish::Stop);
    assert_eq!(reply.usage.unwrap().total(), 33);
}

#[test]
fn ids_of_calls_are_kept_where_there_are_any() {
    let reply = streamed("calls.stream");
    let ids: Vec<&CallId> = reply.message.calls().map(|call| &call.id).collect();
    assert_eq!(ids, [&CallId::new("k7f2").unwrap(), &CallId::new("k7f3").unwrap()]);
    assert_eq!(reply.usage.unwrap().prompt, 85);
}

#[test]
fn arguments_that_arrive_leaf_by_leaf_are_put_together() {
    let reply = streamed("growing.stream");
    let call = reply.message.calls().next().unwrap();
    let arguments: serde_json::Value = serde_json::from_str(call.arguments.as_str()).unwrap();
    let expected = serde_json::json!({
        "room": "living room", "lamps": [null, {"level": 0.5}], "is on": true});
    assert_eq!(arguments, expected);
    assert_eq!(reply.message.text(), "Done.");
    assert_eq!(reply.finish, Finish::ToolCalls);
}

#[test]
fn what_only_google_understands_is_kept() {
    let reply = whole("code.response").unwrap();
    let kinds: Vec<&str> = reply
        .message
        .parts()
        .map(|part| match part {
            PartRef::Opaque(_) => "opaque",
            PartRef::Text(text) if !text.extra.is_empty() => "signed text",
            PartRef::Image(_) => "image",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["opaque", "opaque", "signed text", "image"]);
    assert_eq!(reply.finish, Finish::Length);
}

#[test]
fn a_blocked_prompt_is_an_answer_that_says_nothing() {
    let reply = whole("blocked.response").unwrap();
    assert_eq!((reply.finish, reply.message.is_blank()), (Finish::ContentFilter, true));
}

#[test]
fn an_error_is_told_in_the_words_of_the_api() {
    let error = whole("error.response").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Api);
    assert_eq!(error.to_string(), "INVALID_ARGUMENT: Please use a valid role: user, model.");
    let mut decoder = StreamDecoder::new(Family::Gemini, NameMap::default());
    let event = b"data: {\"error\": {\"code\": 503, \"message\": \"overloaded\"}}\n\n";
    assert_eq!(decoder.push(event).unwrap_err().kind(), ErrorKind::Api);
}

#[test]
fn deltas_tell_what_arrives() {
    let mut decoder = StreamDecoder::new(Family::Gemini, NameMap::default());
    let deltas = decoder.push(fixture("exchanges/gemini/calls.stream.sse").as_bytes()).unwrap();
    let shown: Vec<String> = deltas
        .iter()
        .map(|delta| match delta {
            Delta::Call { part, id, name } => format!("{part} call {id} {name}"),
            Delta::Arguments { part, text } => format!("{part} {text}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "0 call k7f2 read_file",
            r#"0 {"path": "src/main.rs"}"#,
            "1 call k7f3 read_file",
            r#"1 {"path": "Cargo.toml"}"#,
            "Finish(ToolCalls)",
            "Usage(Usage { prompt: 85, cache_read: 0, cache_write: 0, cache_write_hour: 0, completion: 20, reasoning: 0 })",
        ]
    );
}

#[test]
fn events_that_are_unknown_corrupt_or_missing_are_told_apart() {
    let push = |data: &str| {
        let mut decoder = StreamDecoder::new(Family::Gemini, NameMap::default());
        decoder.push(format!("data: {data}\n\n").as_bytes())
    };
    let unknown = Delta::Unknown { event: String::new(), data: r#"{"news": 1}"#.to_owned() };
    assert_eq!(push(r#"{"news": 1}"#).unwrap(), [unknown]);
    for data in
        ["{\"candidates\": [", r#"{"candidates": 5}"#, r#"{"candidates": [{"content": 5}]}"#]
    {
        let error = push(data).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{data}");
        assert!(error.to_string().contains("candidates"), "{error}");
    }
    let cut = r#"data: {"candidates": [{"content": {"parts": [{"text": "half"}]}}]}"#;
    let error = decode_stream(Family::Gemini, cut.as_bytes(), &NameMap::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cut);
    let error = decode_response(Family::Gemini, "{}", &NameMap::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Form);
}

#[test]
fn reasons_to_stop_have_neutral_words_where_there_are_any() {
    let finish = |reason: &str| {
        let text = format!(r#"{{"candidates": [{{"finishReason": "{reason}"}}]}}"#);
        decode_response(Family::Gemini, &text, &NameMap::default()).unwrap().finish
    };
    assert_eq!(finish("STOP"), Finish::Stop);
    assert_eq!(finish("MAX_TOKENS"), Finish::Length);
    for reason in ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"] {
        assert_eq!(finish(reason), Finish::ContentFilter, "{reason}");
    }
    let other = Finish::Other("MALFORMED_FUNCTION_CALL".into());
    assert_eq!(finish("MALFORMED_FUNCTION_CALL"), other);
}

#[test]
fn a_signed_thought_is_sealed_and_ends() {
    let text = r#"{"candidates": [{"content": {"parts": [
        {"text": "a", "thought": true, "thoughtSignature": "QUJD"},
        {"text": "b", "thought": true}]}, "finishReason": "STOP"}]}"#;
    let reply = decode_response(Family::Gemini, text, &NameMap::default()).unwrap();
    let seals: Vec<Option<&Seal>> = reply
        .message
        .parts()
        .filter_map(|part| match part {
            PartRef::Thinking(thinking) => Some(thinking.seal.as_ref()),
            _ => None,
        })
        .collect();
    assert_eq!(seals, [Some(&Seal::Signature("QUJD".into())), None]);
}
