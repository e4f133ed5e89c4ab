//! A stream with a broken event in it, cut anywhere: the outcome is the same.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_model::{Finish, Reply};
use interleaf_wire::{ErrorKind, Family, NameMap, StreamDecoder};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::bedrock::frames::event;
use super::streams::recordings;

/// Every recorded stream, as its events.
fn streams() -> Vec<(Family, Vec<Vec<u8>>)> {
    let mut streams = Vec::new();
    for (family, _, bytes) in recordings() {
        let events = if family == Family::Bedrock { frames(&bytes) } else { sse(&bytes) };
        streams.push((family, events));
    }
    streams
}

/// Frames begin with their length.
fn frames(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while let Some((length, _)) = bytes.split_first_chunk() {
        let (frame, rest) = bytes.split_at(u32::from_be_bytes(*length) as usize);
        frames.push(frame.to_vec());
        bytes = rest;
    }
    frames
}

fn sse(bytes: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8(bytes.to_vec()).unwrap().replace("\r\n", "\n");
    text.split_inclusive("\n\n").map(|event| event.as_bytes().to_vec()).collect()
}

/// Events that end an answer with an error.
fn breaks(family: Family) -> Vec<Vec<u8>> {
    if family == Family::Bedrock {
        let delta = "contentBlockDelta";
        let mut damaged = event(delta, "{}");
        damaged[9] ^= 1;
        return vec![event(delta, "{broken"), event(delta, "[]"), damaged];
    }
    let mut breaks = vec![b"data: {broken\n\n".to_vec(), b"data: \xff\n\n".to_vec()];
    let told = r#"{"type":"error","error":{"type":"server_error","message":"gone"}}"#;
    breaks.push(format!("event: error\ndata: {told}\n\n").into_bytes());
    breaks
}

/// How a stream ends for a caller that goes on whatever it is told.
fn outcome(family: Family, chunks: &[&[u8]]) -> (Option<ErrorKind>, Option<Reply>) {
    let mut decoder = StreamDecoder::new(family, NameMap::default());
    let mut first = None;
    for chunk in chunks {
        let kind = decoder.push(chunk).err().map(|error| error.kind());
        assert!(first.is_none() || kind == first, "{first:?} is followed by {kind:?}");
        first = kind;
    }
    let kind = decoder.finish().err().map(|error| error.kind());
    assert!(first.is_none() || kind == first, "{first:?} ends with {kind:?}");
    assert_eq!(decoder.finish().err().map(|error| error.kind()), kind, "the second time");
    (kind, decoder.partial())
}

fn chunks<'a>(bytes: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.sort_unstable();
    let mut chunks = Vec::new();
    let mut start = 0;
    for place in places.into_iter().chain([bytes.len()]) {
        chunks.push(&bytes[start..place]);
        start = place;
    }
    chunks
}

#[test]
fn a_line_that_is_no_field_hides_nothing_of_what_an_event_says() {
    let told = r#"{"type":"error","error":{"type":"server_error","message":"gone"}}"#;
    let table = [
        (format!("upstream\nevent: error\ndata: {told}"), "gone"),
        (format!("upstream\ndata: {told}"), "gone"),
        ("upstream\nevent: ping\n\n".to_owned(), "the stream is empty"),
        ("data: {\"id\":".to_owned(), "the connection ended inside the first event"),
        ("upstream\n\n".to_owned(), "no server-sent events; it begins with \"upstream\""),
    ];
    for (stream, shown) in table {
        let mut decoder = StreamDecoder::new(Family::OpenaiChat, NameMap::default());
        decoder.push(stream.as_bytes()).unwrap();
        let error = decoder.finish().unwrap_err().to_string();
        assert!(error.contains(shown), "{stream:?}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_broken_event_gives_the_same_outcome_however_the_bytes_are_cut(
        (family, mut events) in select(streams()),
        place in any::<Index>(),
        broken in any::<Index>(),
        cuts in prop::collection::vec(any::<Index>(), 0..8),
    ) {
        let breaks = breaks(family);
        // After `[DONE]` of the chat API nothing counts; before the last event all does.
        let place = place.index(events.len());
        events.insert(place, breaks[broken.index(breaks.len())].clone());
        let bytes = events.concat();
        let (kind, partial) = outcome(family, &[&bytes]);
        prop_assert!(kind.is_some(), "{family}: a stream with a hole is whole");
        if let Some(partial) = &partial {
            prop_assert_eq!(&partial.finish, &Finish::Cut);
        }
        prop_assert_eq!(outcome(family, &chunks(&bytes, &cuts)), (kind, partial.clone()));
        let by_event: Vec<&[u8]> = events.iter().map(Vec::as_slice).collect();
        prop_assert_eq!(outcome(family, &by_event), (kind, partial));
    }
}

#[test]
fn an_error_event_without_its_empty_line_is_told_again() {
    let mut decoder = StreamDecoder::new(Family::Gemini, NameMap::default());
    let said = r#"{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}"#;
    decoder.push(format!("data: {said}\n\n").as_bytes()).unwrap();
    decoder.push(br#"data: {"error":{"code":503,"message":"gone"}}"#).unwrap();
    assert_eq!(decoder.finish().unwrap_err().kind(), ErrorKind::Api);
    assert_eq!(decoder.finish().unwrap_err().kind(), ErrorKind::Api);
    assert_eq!(decoder.partial().unwrap().finish, Finish::Cut);
}

#[test]
fn an_answer_that_the_api_declares_whole_may_be_empty() {
    let whole = [
        (Family::OpenaiResponses, r#"{"type":"response.completed","response":{}}"#),
        (Family::Gemini, r#"{"candidates":[{"finishReason":"STOP"}]}"#),
    ];
    for (family, data) in whole {
        let mut decoder = StreamDecoder::new(family, NameMap::default());
        decoder.push(format!("data: {data}\n\n").as_bytes()).unwrap();
        let reply = decoder.finish().unwrap();
        assert_eq!((reply.message.text().as_ref(), reply.finish), ("", Finish::Stop), "{family}");
    }
}

#[test]
fn a_stream_that_is_cut_after_words_is_cut_and_not_empty() {
    for (family, events) in streams() {
        for n in 0..events.len() {
            let mut decoder = StreamDecoder::new(family, NameMap::default());
            events[..n].iter().for_each(|event| drop(decoder.push(event).unwrap()));
            let Err(error) = decoder.finish() else { continue };
            let is_empty = error.to_string().contains("the stream is empty");
            assert_eq!(is_empty, decoder.partial().is_none(), "{family}, {n} events");
        }
    }
}
