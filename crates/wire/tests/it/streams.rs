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

/// The parts of a reply that pieces can tell, and what these pieces tell.
fn told(reply: &Reply, deltas: &[Delta]) -> [Vec<(String, String)>; 2] {
    let whole = parts(reply).into_iter().filter_map(|part| match part {
        AssistantPart::Text(text) => Some((String::new(), text.text.to_string())),
        AssistantPart::Thinking(text) => Some((String::new(), text.text.to_string())),
        AssistantPart::Call(call) => {
            Some((call.name.to_string(), call.arguments.as_str().to_owned()))
        }
        _ => None,
    });
    let mut pieces: BTreeMap<u64, (String, String)> = BTreeMap::new();
    for delta in deltas {
        match delta {
            Delta::Text { part, text }
            | Delta::Thinking { part, text }
            | Delta::Arguments { part, text } => pieces.entry(*part).or_default().1 += text,
            Delta::Call { part, name, .. } => pieces.entry(*part).or_default().0 += name,
            _ => {}
        }
    }
    let spaceless = |(name, text): (String, String)| {
        let text = if name.is_empty() { text } else { text.replace([' ', '\n'], "") };
        (name, if text == "{}" { String::new() } else { text })
    };
    let said = |part: &(String, String)| !(part.0.is_empty() && part.1.is_empty());
    let all = [whole.collect(), pieces.into_values().collect::<Vec<_>>()];
    all.map(|parts| parts.into_iter().map(spaceless).filter(said).collect())
}

/// Live row 1: upstreams send pieces, only the whole, or all at once.
#[test]
fn live_row_1_the_pieces_of_a_stream_add_up_to_its_reply() {
    let event = |name: &str, data: &str| {
        let data = format!("{{\"type\":\"{name}\",{data}}}");
        format!("event: {name}\ndata: {data}\n\n")
    };
    let text = r#"{"type":"message","id":"i","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Look.","annotations":[]}]}"#;
    let call = r#"{"type":"function_call","id":"f","call_id":"c","name":"ls","arguments":"{\"a\":1}","status":"completed"}"#;
    let completed = |output: &str| {
        let data = format!(r#""response":{{"id":"r","status":"completed","output":[{output}]}}"#);
        event("response.completed", &data)
    };
    let done = |n: u64, item: &str| {
        event("response.output_item.done", &format!(r#""output_index":{n},"item":{item}"#))
    };
    let block = |n: u64, block: &str| {
        event("content_block_start", &format!(r#""index":{n},"content_block":{block}"#))
            + &event("content_block_stop", &format!(r#""index":{n}"#))
    };
    let message = event("message_start", r#""message":{"id":"m","role":"assistant","content":[]}"#)
        + &block(0, r#"{"type":"text","text":"Look."}"#)
        + &block(1, r#"{"type":"tool_use","id":"c","name":"ls","input":{"a":1}}"#)
        + &event("message_delta", r#""delta":{"stop_reason":"tool_use"}"#)
        + &event("message_stop", r#""x":0"#);
    let made = [
        (Family::OpenaiResponses, completed(&format!("{text},{call}"))),
        (Family::OpenaiResponses, done(0, text) + &done(1, call) + &completed("")),
        (Family::Anthropic, message),
    ];
    let made = made.map(|(family, stream)| (family, "made".to_owned(), stream.into_bytes()));
    for (family, name, bytes) in recordings().into_iter().chain(made) {
        for size in [1, 100, usize::MAX] {
            let mut decoder = StreamDecoder::new(family, NameMap::default());
            let mut deltas = Vec::new();
            for chunk in bytes.chunks(size) {
                // What came before an error adds up to less.
                if decoder.push_into(chunk, &mut deltas).is_err() {
                    break;
                }
            }
            let Ok(reply) = decoder.finish() else { continue };
            // A text that turns out to be cited was told as a text.
            if parts(&reply).iter().any(is_opaque) {
                continue;
            }
            let [whole, pieces] = told(&reply, &deltas);
            assert_eq!(pieces, whole, "{family} {name} by {size}");
            let finish = deltas.iter().position(|delta| matches!(delta, Delta::Finish(_)));
            let is_said = |delta: &Delta| matches!(delta, Delta::Text { .. } | Delta::Call { .. });
            if name == "made" {
                assert!(finish >= deltas.iter().rposition(is_said), "{family}: {deltas:?}");
            }
        }
    }
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
fn a_byte_order_mark_before_an_answer_changes_nothing() {
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
    let whole = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    let whole = format!("\u{feff}{whole}");
    let reply = decode_response(Family::OpenaiChat, &whole, &NameMap::default()).unwrap();
    assert_eq!(reply.message.text(), "Hello");
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
fn an_answer_that_has_ended_is_taken_whatever_follows() {
    let rest: [&[u8]; 11] = [
        b"\r\n\n",
        b": ping\n\n",
        b"bye",
        b"data: {\"x\":1}\n\n",
        b"data: {oops\n\n",
        b"data: [1]\n\ndata: 7\n\n",
        b"\xff\xfe\0\n\n",
        b"data: {\"error\":{\"message\":\"late\"}}\n\n",
        b"event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"late\"}}\n\n",
        b"data: {\"id\":",
        b"<html></html>\n",
    ];
    let mut n_read = 0;
    for (family, name, bytes) in recordings() {
        let read = |rest: &[u8], size: usize| {
            let mut decoder = StreamDecoder::new(family, NameMap::default());
            let all = [&bytes, rest].concat();
            let pushed = all.chunks(size).try_for_each(|chunk| decoder.push(chunk).map(drop));
            pushed.and_then(|()| Ok((decoder.finish()?, decoder.lacks_end())))
        };
        // A stream without its end mark may go on, and Gemini has none.
        let Ok((whole, false)) = read(b"", usize::MAX) else { continue };
        if family == Family::Gemini {
            continue;
        }
        n_read += 1;
        for rest in rest.into_iter().chain([bytes.as_slice()]) {
            for size in [1, 1000, usize::MAX] {
                let (reply, _) = read(rest, size).unwrap();
                assert_eq!(reply, whole, "{family} {name}: {}", rest.escape_ascii());
            }
        }
    }
    assert!(n_read >= 20, "{n_read}");
}

#[test]
fn an_answer_that_begins_before_another_has_ended_is_an_error() {
    let mut n_read = 0;
    for (family, name, bytes) in recordings() {
        let read = |bytes: &[u8]| decode_stream(family, bytes, &NameMap::default());
        // Where nothing was said, an answer that begins twice is still one.
        let says = |reply: Reply| reply.message.has_calls() || !reply.message.text().is_empty();
        if family == Family::Bedrock || !read(&bytes).is_ok_and(says) {
            continue;
        }
        let text = String::from_utf8(bytes).unwrap();
        // Gemini has no event that begins or ends an answer: only its id tells.
        let other = text.replace("\"responseId\": \"", "\"responseId\": \"other-");
        let end = match family {
            Family::Gemini if other == text => continue,
            Family::Gemini => text.len(),
            // In Chat, only `[DONE]` tells.
            Family::OpenaiChat => continue,
            _ => text.trim_end().rfind("\n\n").unwrap(),
        };
        n_read += 1;
        let error = read(format!("{}\n\n{other}", &text[..end]).as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{family} {name}");
    }
    assert!(n_read >= 10, "{n_read}");
}

#[test]
fn half_an_event_after_a_reason_to_stop_is_a_cut_where_more_may_be_said() {
    let gemini = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]},\"finishReason\":\"STOP\"}]}\n\n";
    let chat =
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n";
    for (family, event) in [(Family::Gemini, gemini), (Family::OpenaiChat, chat)] {
        let read = |stream: String| decode_stream(family, stream.as_bytes(), &NameMap::default());
        assert_eq!(read(event.repeat(2)).unwrap().message.text(), "aa", "{family}");
        let error = read(format!("{event}{}", &event[..30])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cut, "{family}: {error}");
    }
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
