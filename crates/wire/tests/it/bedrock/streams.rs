//! The same answers, whole and in pieces.

use interleaf_model::{Finish, PartRef, Reply, Seal, Usage};
use interleaf_wire::{ErrorKind, Family, NameMap, StreamDecoder};
use proptest::prelude::*;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use super::fixture;
use super::frames::event;
use crate::{decode_response, decode_stream};

const EXCHANGES: [&str; 2] = ["tool-loop", "cited"];

/// The frames of a recording, one event to a line.
fn frames(name: &str) -> Vec<u8> {
    let lines = fixture(&format!("exchanges/bedrock/{name}.events.jsonl"));
    let frame = |line: &str| {
        let event_of: BTreeMap<String, Box<RawValue>> = serde_json::from_str(line).unwrap();
        let (name, payload) = event_of.first_key_value().unwrap();
        event(name, payload.get())
    };
    lines.lines().flat_map(frame).collect()
}

fn whole(name: &str) -> Reply {
    let text = fixture(&format!("exchanges/bedrock/{name}.response.json"));
    decode_response(Family::Bedrock, &text, &NameMap::default()).unwrap()
}

#[test]
fn an_answer_is_the_same_whole_and_streamed() {
    for name in EXCHANGES {
        let streamed = decode_stream(Family::Bedrock, &frames(name), &NameMap::default());
        assert_eq!(streamed.unwrap(), whole(name), "{name}");
    }
}

#[test]
fn an_answer_with_thinking_and_calls_is_read() {
    let reply = whole("tool-loop");
    assert_eq!(reply.finish, Finish::ToolCalls);
    let expected = Usage {
        prompt: 57 + 1980 + 68,
        cache_read: 1980,
        cache_write: 68,
        cache_write_hour: 0,
        completion: 118,
        reasoning: 0,
    };
    assert_eq!(reply.usage, Some(expected));
    assert_eq!(reply.message.text(), "I will look at both files.");
    let Some(PartRef::Thinking(thinking)) = reply.message.parts().next() else { panic!() };
    assert_eq!(thinking.seal, Some(Seal::Signature("RXhhbXBsZSBzaWduYXR1cmU=".into())));
    assert_eq!(thinking.producer.as_ref().map(|p| p.vendor.as_str()), Some("bedrock"));
    let calls: Vec<_> =
        reply.message.calls().map(|call| (call.id.as_str(), call.arguments.as_str())).collect();
    let first = r#"{"path": "Cargo.toml", "lines": [1, 40]}"#;
    assert_eq!(calls, [("tooluse_Fq1", first), ("tooluse_Fq2", "{}")]);
}

#[test]
fn what_has_no_word_of_ours_is_kept() {
    let reply = whole("cited");
    let kinds: Vec<&str> = reply
        .message
        .parts()
        .map(|part| match part {
            PartRef::Text(_) => "text",
            PartRef::Thinking(_) => "thinking",
            PartRef::Call(_) => "call",
            PartRef::Image(_) => "image",
            PartRef::File(_) => "file",
            PartRef::Opaque(_) => "opaque",
        })
        .collect();
    assert_eq!(kinds, ["text", "opaque", "thinking", "image", "opaque", "opaque", "text"]);
    // What the API ran itself is not for us to answer.
    assert_eq!(reply.finish, Finish::Stop);
}

#[test]
fn every_reason_to_stop_has_a_word() {
    let table = [
        ("end_turn", Finish::Stop),
        ("stop_sequence", Finish::Stop),
        ("tool_use", Finish::ToolCalls),
        ("max_tokens", Finish::Length),
        ("model_context_window_exceeded", Finish::Length),
        ("guardrail_intervened", Finish::ContentFilter),
        ("content_filtered", Finish::ContentFilter),
        ("malformed_tool_use", Finish::Other("malformed_tool_use".into())),
    ];
    for (reason, expected) in table {
        let text = format!(
            r#"{{"output":{{"message":{{"role":"assistant","content":[]}}}},"stopReason":"{reason}"}}"#
        );
        let reply = decode_response(Family::Bedrock, &text, &NameMap::default()).unwrap();
        assert_eq!((reply.finish, reply.message.text().as_ref()), (expected, ""));
    }
}

#[test]
fn an_error_of_the_api_is_told_in_its_words() {
    let table = [
        (r#"{"message":"The text field is blank."}"#, "The text field is blank."),
        (
            r#"{"__type":"com.amazon.coral#ThrottlingException","Message":"Slow down."}"#,
            "ThrottlingException: Slow down.",
        ),
    ];
    for (text, expected) in table {
        let error = decode_response(Family::Bedrock, text, &NameMap::default()).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Api, expected));
    }
}

#[test]
fn a_wrong_answer_names_the_place() {
    let table = [
        ("{}", "line 1 column 1: an answer needs `output`"),
        (
            r#"{"output":{"message":{"content":[{"toolUse":{"name":"f"}}]}}}"#,
            "output.message.content[0].toolUse, line 1 column 45: a call needs `toolUseId`",
        ),
    ];
    for (text, expected) in table {
        let error = decode_response(Family::Bedrock, text, &NameMap::default()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_stream_cut_in_two_anywhere_gives_the_same_reply() {
    for name in EXCHANGES {
        let (bytes, expected) = (frames(name), whole(name));
        for cut in 0..=bytes.len() {
            let mut decoder = StreamDecoder::new(Family::Bedrock, NameMap::default());
            decoder.push(&bytes[..cut]).unwrap();
            decoder.push(&bytes[cut..]).unwrap();
            assert_eq!(decoder.finish().unwrap(), expected, "{name} at {cut}");
        }
    }
}

#[test]
fn a_stream_in_pieces_of_seven_bytes_gives_the_same_reply() {
    for name in EXCHANGES {
        let mut decoder = StreamDecoder::new(Family::Bedrock, NameMap::default());
        for piece in frames(name).chunks(7) {
            decoder.push(piece).unwrap();
        }
        assert_eq!(decoder.finish().unwrap(), whole(name), "{name}");
    }
}

proptest! {
    #[test]
    fn any_cuts_give_the_same_reply(sizes in prop::collection::vec(1_usize..400, 1..40)) {
        for name in EXCHANGES {
            let bytes = frames(name);
            let mut rest = &bytes[..];
            let mut decoder = StreamDecoder::new(Family::Bedrock, NameMap::default());
            for size in sizes.iter().cycle() {
                let (piece, after) = rest.split_at((*size).min(rest.len()));
                decoder.push(piece).unwrap();
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(decoder.finish().unwrap(), whole(name));
        }
    }
}
