//! Answers, whole and streamed.

use std::fs;
use std::path::PathBuf;

use crate::{decode_response, decode_stream};
use interleaf_model::{Finish, PartRef, Reply, Seal, Usage};
use interleaf_wire::{Delta, Error, ErrorKind, Family, NameMap, StreamDecoder};

const EXCHANGES: [&str; 8] =
    ["text", "calls", "thinking", "search", "paused", "cut-short", "refused", "stopped"];

pub(super) fn exchange(name: &str) -> String {
    let folder =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/exchanges/anthropic");
    fs::read_to_string(folder.join(name)).unwrap()
}

fn whole(name: &str) -> Reply {
    let text = exchange(&format!("{name}.json"));
    decode_response(Family::Anthropic, &text, &NameMap::default()).unwrap()
}

fn stream(pieces: &[&[u8]]) -> Result<Reply, Error> {
    let mut decoder = StreamDecoder::new(Family::Anthropic, NameMap::default());
    for piece in pieces {
        decoder.push(piece)?;
    }
    decoder.finish()
}

#[test]
fn a_stream_is_the_same_answer_wherever_it_is_cut() {
    for name in EXCHANGES {
        let expected = whole(name);
        let text = exchange(&format!("{name}.sse"));
        let bytes = text.as_bytes();
        for at in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(at);
            assert_eq!(stream(&[head, tail]), Ok(expected.clone()), "{name} cut at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(stream(&single), Ok(expected), "{name} byte by byte");
    }
}

#[test]
fn a_stream_that_ends_early_is_cut() {
    for name in EXCHANGES {
        let text = exchange(&format!("{name}.sse"));
        let end = text.find("event: message_stop").unwrap();
        let error = stream(&[&text.as_bytes()[..end]]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cut, "{name}");
    }
}

#[test]
fn cached_tokens_were_sent_too() {
    let usage = Usage {
        prompt: 2112,
        cache_read: 2000,
        cache_write: 100,
        completion: 31,
        reasoning: 0,
        ..Usage::default()
    };
    assert_eq!(whole("text").usage, Some(usage));
    assert_eq!(whole("thinking").usage.unwrap().reasoning, 180);
}

#[test]
fn the_reason_to_stop_is_told_in_our_words() {
    let reasons = EXCHANGES.map(|name| whole(name).finish);
    let expected = [
        Finish::Stop,
        Finish::ToolCalls,
        Finish::Stop,
        Finish::Stop,
        Finish::Paused,
        Finish::Length,
        Finish::ContentFilter,
        Finish::Stop,
    ];
    assert_eq!(reasons, expected);
}

#[test]
fn calls_keep_their_bytes_and_what_is_attached() {
    let reply = whole("calls");
    let calls: Vec<_> = reply.message.calls().collect();
    assert_eq!(calls[0].id.as_str(), "toolu_01");
    assert_eq!(calls[0].arguments.as_str(), r#"{"path":"a/b \"c\".txt","lines":[1,20]}"#);
    assert_eq!(calls[1].arguments.as_str(), "{}");
    let caller = calls[1].extra.get("anthropic").unwrap();
    assert_eq!(caller.as_str(), r#"{"caller":{"type":"direct"}}"#);
}

#[test]
fn thinking_is_sealed_and_has_its_producer() {
    let reply = whole("thinking");
    let seals: Vec<_> = reply
        .message
        .parts()
        .filter_map(|part| match part {
            PartRef::Thinking(thinking) => {
                let producer = thinking.producer.as_ref().unwrap();
                assert_eq!(producer.model.as_deref(), Some("claude-sonnet-4-5-20250929"));
                Some((thinking.text.to_string(), thinking.seal.clone().unwrap()))
            }
            _ => None,
        })
        .collect();
    let signature = |text: &str| Seal::Signature(text.into());
    let first = "They ask for the largest one.\nI compare.".to_owned();
    assert_eq!(
        seals,
        [
            (first, signature("EqQBCgIYAhIM1gbcDa9GJwZA2b3h")),
            (String::new(), Seal::Encrypted("EmwKAhgBEgy3va3pzix".into())),
            (String::new(), signature("EvYBCkYIBxgC")),
        ]
    );
}

#[test]
fn tools_that_the_api_runs_are_opaque_and_citations_stay() {
    let reply = whole("search");
    let parts: Vec<_> = reply.message.parts().collect();
    let PartRef::Opaque(used) = parts[0] else { panic!("{parts:?}") };
    assert_eq!(used.owner.as_str(), "anthropic");
    assert!(used.value.as_str().contains(r#""input":{"query":"interleaf"}"#));
    let PartRef::Text(cited) = parts[2] else { panic!("{parts:?}") };
    assert!(cited.extra.get("anthropic").unwrap().as_str().contains("https://example.org/b"));
    assert_eq!(reply.message.text(), "It is an engine\n for prompts.");
}

#[test]
fn an_error_is_told_in_the_words_of_the_api() {
    let name_map = NameMap::default();
    let text = exchange("error.json");
    let error = decode_response(Family::Anthropic, &text, &name_map).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Api, "overloaded_error: Overloaded"));
    let text = exchange("error.sse");
    let error = decode_stream(Family::Anthropic, text.as_bytes(), &name_map).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Api, "overloaded_error: Overloaded"));
}

#[test]
fn an_unknown_event_is_handed_on_and_a_corrupt_one_is_an_error() {
    let mut decoder = StreamDecoder::new(Family::Anthropic, NameMap::default());
    let event = b"event: sparkle\ndata: {\"type\":\"sparkle\",\"n\":1}\n\n";
    let deltas = decoder.push(event).unwrap();
    let data = r#"{"type":"sparkle","n":1}"#.to_owned();
    assert_eq!(deltas, [Delta::Unknown { event: "sparkle".to_owned(), data }]);
    let error = decoder.push(b"data: {\"type\":\"ping\"\n\n").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains(r#"{"type":"ping""#), "{error}");
}

#[test]
fn arguments_that_were_cut_off_are_kept() {
    let text = exchange("calls.sse");
    let last = text.rfind(r#""index":1,"delta""#).unwrap();
    let start = text[..last].rfind("event:").unwrap();
    let end = text[last..].find("\n\n").unwrap() + last + 2;
    let cut = format!("{}{}", &text[..start], &text[end..])
        .replace("tool_use\",\"stop_s", "max_tokens\",\"stop_s");
    let reply = stream(&[cut.as_bytes()]).unwrap();
    assert_eq!(reply.finish, Finish::Length);
    let call = reply.message.calls().next().unwrap();
    assert!(matches!(call.arguments, interleaf_model::Arguments::Invalid(_)), "{call:?}");
}
