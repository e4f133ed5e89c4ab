//! What holds for streams, whichever family: cuts, names, ids.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::path::Path;

use interleaf_model::{AssistantPart, Body, Finish, Reply};
use interleaf_wire::{Decoder, Delta, ErrorKind, Family, NameMap, Options, StreamDecoder, Vendor};
use interleaf_wire::{decode_request, encode};
use serde_json::value::RawValue;

use super::bedrock::frames::event;
use super::openai_chat::prompt;
use crate::{decode_response, decode_stream};

/// The recorded streams of every family.
pub(crate) fn recordings() -> Vec<(Family, String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/exchanges");
    let mut found = Vec::new();
    for family in Family::ALL {
        let files = std::fs::read_dir(root.join(family.as_str())).unwrap();
        let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.ends_with(".sse") {
                found.push((family, name, std::fs::read(&path).unwrap()));
            } else if name.ends_with(".events.jsonl") {
                let text = std::fs::read_to_string(&path).unwrap();
                let frame = |line: &str| {
                    let of: BTreeMap<String, Box<RawValue>> = serde_json::from_str(line).unwrap();
                    let (name, payload) = of.first_key_value().unwrap();
                    event(name, payload.get())
                };
                found.push((family, name, text.lines().flat_map(frame).collect()));
            }
        }
    }
    found
}

fn parts(reply: &Reply) -> Vec<AssistantPart> {
    match &reply.message.body {
        Body::Assistant(parts) => parts.to_vec(),
        other => panic!("{other:?}"),
    }
}

/// Whether one part may be what had come of another.
fn may_become(part: &AssistantPart, whole: &AssistantPart) -> bool {
    match (part, whole) {
        (AssistantPart::Text(part), AssistantPart::Text(whole)) => {
            whole.text.starts_with(&*part.text)
        }
        (AssistantPart::Thinking(part), AssistantPart::Thinking(whole)) => {
            whole.text.starts_with(&*part.text)
                && (part.seal.is_none() || part.seal == whole.seal || part.text == whole.text)
        }
        // Text turns out to be cited, or a refusal grows.
        (AssistantPart::Text(_), AssistantPart::Opaque(_)) => true,
        (AssistantPart::Opaque(part), AssistantPart::Opaque(whole)) => {
            part == whole || whole.value.as_str().contains("refusal")
        }
        // A call is whole or not there. What a vendor attached may come after it.
        (AssistantPart::Call(part), AssistantPart::Call(whole)) => {
            (&part.id, &part.name, &part.arguments) == (&whole.id, &whole.name, &whole.arguments)
        }
        (part, whole) => part == whole,
    }
}

/// Whether each of these may be what had come of one of the whole, in order.
fn is_beginning(partial: &[AssistantPart], whole: &[AssistantPart]) -> bool {
    let mut rest = whole.iter();
    partial.iter().all(|part| {
        // An answer that says nothing is an empty text.
        let is_nothing = matches!(part, AssistantPart::Text(text) if text.text.is_empty());
        is_nothing || rest.any(|whole| may_become(part, whole))
    })
}

#[test]
fn a_stream_that_is_cut_anywhere_gives_up_a_beginning_of_the_whole() {
    let mut n_partial = 0;
    for (family, name, bytes) in recordings() {
        let begin = || Decoder::new(family, NameMap::default()).for_request(1).stream();
        let mut decoder = begin();
        let whole = match decoder.push(&bytes).and_then(|_| decoder.finish()) {
            Ok(whole) => whole,
            Err(_) => match decoder.partial() {
                Some(partial) => partial,
                None => continue,
            },
        };
        let mut longest = 0;
        for cut in 0..bytes.len() {
            let mut decoder = begin();
            if decoder.push(&bytes[..cut]).is_err() {
                break;
            }
            let place = format!("{family} {name} at {cut}");
            match decoder.finish() {
                Ok(reply) => assert_eq!(reply.message, whole.message, "{place}"),
                Err(error) if error.kind() == ErrorKind::Api => {}
                Err(error) => assert_eq!(error.kind(), ErrorKind::Cut, "{place}: {error}"),
            }
            let Some(partial) = decoder.partial() else { continue };
            n_partial += 1;
            let (parts, all) = (parts(&partial), parts(&whole));
            assert!(is_beginning(&parts, &all), "{place}: {parts:?} of {all:?}");
            let said = partial.message.text().len();
            assert!(said >= longest || all.iter().any(is_opaque), "{place}: less than before");
            longest = said;
        }
    }
    assert!(n_partial > 1000, "{n_partial}");
}

fn is_opaque(part: &AssistantPart) -> bool {
    matches!(part, AssistantPart::Opaque(_))
}

#[test]
fn what_came_before_an_error_is_kept_and_half_a_call_is_left_out() {
    let mut decoder = StreamDecoder::new(Family::OpenaiChat, NameMap::default());
    assert_eq!(decoder.partial(), None);
    let chunk = |delta: &str| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
    let call = |index: u32, arguments: &str| {
        chunk(&format!(
            r#"{{"tool_calls":[{{"index":{index},"id":"c{index}","function":{{"name":"ls","arguments":{}}}}}]}}"#,
            serde_json::Value::from(arguments)
        ))
    };
    decoder.push(chunk(r#"{"content":"Let me look."}"#).as_bytes()).unwrap();
    decoder.push(call(0, r#"{"path":"src"}"#).as_bytes()).unwrap();
    decoder.push(call(1, r#"{"path":"#).as_bytes()).unwrap();
    decoder.push(b"data: {\"error\":{\"message\":\"gone\"}}\n\n").unwrap_err();
    let partial = decoder.partial().unwrap();
    assert_eq!(partial.finish, Finish::Cut);
    assert_eq!(partial.message.text(), "Let me look.");
    let calls: Vec<&str> = partial.message.calls().map(|call| call.id.as_str()).collect();
    assert_eq!(calls, ["c0"]);
}

#[test]
fn an_empty_stream_is_an_error() {
    for family in Family::ALL {
        for bytes in [&b""[..], b"\n\n", b": ping\n\n", b"data: [DONE]\n\n"] {
            if family == Family::Bedrock && !bytes.is_empty() {
                continue;
            }
            let mut decoder = StreamDecoder::new(family, NameMap::default());
            let reply = decoder.push(bytes).and_then(|_| decoder.finish());
            assert_eq!(reply.unwrap_err().kind(), ErrorKind::Cut, "{family} {bytes:?}");
            assert_eq!(decoder.partial(), None);
        }
    }
}

#[test]
fn a_byte_order_mark_before_a_stream_changes_nothing() {
    let said = |text: &str, finish: &str| {
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}{finish}}}]}}\n\n")
    };
    let stream = said("Hello ", "") + &said("world", ",\"finish_reason\":\"stop\"");
    let read = |stream: &str| {
        let mut decoder = StreamDecoder::new(Family::OpenaiChat, NameMap::default());
        let reply = decoder.push(stream.as_bytes()).and_then(|_| decoder.finish());
        reply.unwrap().message.text().into_owned()
    };
    assert_eq!(read(&stream), "Hello world");
    assert_eq!(read(&format!("\u{feff}{stream}")), "Hello world");
}

#[test]
fn a_done_marker_after_the_end_changes_nothing() {
    let mut n_read = 0;
    for (family, name, mut bytes) in recordings() {
        if family == Family::Bedrock {
            continue;
        }
        let read = |bytes: &[u8]| {
            let mut decoder = StreamDecoder::new(family, NameMap::default());
            decoder.push(bytes).and_then(|_| decoder.finish())
        };
        let Ok(whole) = read(&bytes) else { continue };
        n_read += 1;
        bytes.extend_from_slice(b"\n\ndata: [DONE]\n\n");
        assert_eq!(read(&bytes).unwrap(), whole, "{family} {name}");
    }
    assert!(n_read >= 25, "{n_read}");
}

#[test]
fn two_answers_in_one_stream_are_an_error() {
    let mut n_read = 0;
    for (family, name, bytes) in recordings() {
        let read = |chunks: &[&[u8]]| {
            let mut decoder = StreamDecoder::new(family, NameMap::default());
            let pushed = chunks.iter().try_for_each(|chunk| decoder.push(chunk).map(drop));
            pushed.and_then(|()| decoder.finish())
        };
        if read(&[&bytes]).is_err() {
            continue;
        }
        // Gemini has no event that begins or ends an answer: only its id tells.
        let other = String::from_utf8_lossy(&bytes)
            .replace("\"responseId\": \"", "\"responseId\": \"other-");
        let other = if family == Family::Gemini { other.as_bytes() } else { &bytes };
        if family == Family::Gemini && other == bytes {
            continue;
        }
        n_read += 1;
        let error = read(&[&bytes, b"\n\n", other]).map(drop);
        let error =
            if family == Family::Bedrock { read(&[&bytes, other]).map(drop) } else { error };
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Corrupt, "{family} {name}");
    }
    assert!(n_read >= 20, "{n_read}");
}

#[test]
fn a_stream_that_ended_with_a_reason_and_begins_anew_under_another_id_is_an_error() {
    let chunk = |id: &str| {
        format!(
            "data: {{\"id\":\"{id}\",\"choices\":[{{\"delta\":{{\"content\":\"4\"}},\"finish_reason\":\"stop\"}}]}}\n\n"
        )
    };
    let read =
        |chunks: String| decode_stream(Family::OpenaiChat, chunks.as_bytes(), &NameMap::default());
    assert_eq!(read(chunk("a") + &chunk("b")).unwrap_err().kind(), ErrorKind::Corrupt);
    // Some servers repeat the reason in every piece.
    assert_eq!(read(chunk("a") + &chunk("a")).unwrap().message.text(), "44");
    let usage = "data: {\"id\":\"b\",\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\n";
    assert_eq!(read(chunk("a") + usage).unwrap().usage.unwrap().prompt, 1);
}

#[test]
fn a_reason_to_stop_may_be_a_number() {
    let text = r#"{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":2}]}"#;
    let reply = decode_response(Family::Gemini, text, &NameMap::default()).unwrap();
    assert_eq!(reply.finish, Finish::Length);
}

#[test]
fn a_call_is_told_by_the_name_that_the_caller_gave_its_tool() {
    let tools = r#"{"messages":[{"role":"user","content":"hi"}],
        "tools":[{"type":"function","function":{"name":"fs.read","parameters":{"type":"object"}}}]}"#;
    let request = decode_request(Family::OpenaiChat, tools).unwrap();
    let prompt = prompt(&request.messages, request.tools);
    let encoded = encode(&prompt, Vendor::of(Family::OpenaiChat), &Options::default()).unwrap();
    let body: serde_json::Value = serde_json::from_slice(&encoded.to_bytes()).unwrap();
    let written = &body["tools"][0]["function"]["name"];
    assert_eq!(written, "fs_read");
    let chunk = format!(
        r#"data: {{"id":"r1","choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"name":{written},"arguments":"{{}}"}}}}]}},"finish_reason":"tool_calls"}}]}}"#
    );
    let mut decoder = Decoder::new(Family::OpenaiChat, encoded.names).stream();
    let deltas = decoder.push(format!("{chunk}\n\n").as_bytes()).unwrap();
    let Delta::Call { id, name, .. } = &deltas[0] else { panic!("{deltas:?}") };
    let reply = decoder.finish().unwrap();
    let call = reply.message.calls().next().unwrap();
    assert_eq!((name.as_str(), id.as_str()), ("fs.read", call.id.as_str()));
    assert_eq!(call.name.as_str(), "fs.read");
}

#[test]
fn calls_without_an_id_get_ids_that_no_other_answer_of_the_session_has() {
    let answer = |id: &str, path: &str| {
        format!(
            r#"{{{id}"candidates":[{{"content":{{"parts":[
                {{"functionCall":{{"name":"ls","args":{{"path":"{path}"}}}}}},
                {{"functionCall":{{"name":"ls","args":{{"path":"{path}"}}}}}}]}},"finishReason":"STOP"}}]}}"#
        )
    };
    let ids = |decoder: &Decoder, id: &str, path: &str| -> Vec<String> {
        let reply = decoder.whole(200, [], answer(id, path).as_bytes()).unwrap();
        reply.message.calls().map(|call| call.id.to_string()).collect()
    };
    let plain = Decoder::new(Family::Gemini, NameMap::default());
    let first = ids(&plain, r#""responseId":"r1","#, "src");
    assert_ne!(first[0], first[1]);
    assert_eq!(first, ids(&plain, r#""responseId":"r1","#, "src"));
    let other_answers = [
        ids(&plain, r#""responseId":"r2","#, "src"),
        ids(&plain, "", "src"),
        ids(&plain, "", "tests"),
        ids(&plain.clone().for_request(1), "", "src"),
        ids(&plain.clone().for_request(2), "", "src"),
    ];
    let mut all: Vec<&String> = other_answers.iter().chain([&first]).flatten().collect();
    let n_ids = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), n_ids, "{all:?}");
    assert!(all.iter().all(|id| id.len() == 21 && id.starts_with("call_")));
}
