//! Frames written by AWS's encoder.

use crate::decode_stream;
use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use interleaf_wire::{Delta, Error, ErrorKind, Family, NameMap, StreamDecoder};
use proptest::prelude::*;

/// A frame with these headers.
pub(super) fn frame(headers: &[(&'static str, &str)], payload: &str) -> Vec<u8> {
    let mut message = Message::new(payload.to_owned().into_bytes());
    for (name, value) in headers {
        let value = HeaderValue::String((*value).to_owned().into());
        message = message.add_header(Header::new(*name, value));
    }
    write(&message)
}

fn write(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_message_to(message, &mut bytes).unwrap();
    bytes
}

/// The frame of an event.
pub(crate) fn event(name: &str, payload: &str) -> Vec<u8> {
    let headers =
        [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")];
    frame(&headers, payload)
}

fn failure(bytes: &[u8]) -> Error {
    decode_stream(Family::Bedrock, bytes, &NameMap::default()).unwrap_err()
}

const STOP: &str = r#"{"stopReason":"end_turn"}"#;

#[test]
fn headers_of_every_type_are_passed_over() {
    let values = [
        HeaderValue::Bool(true),
        HeaderValue::Bool(false),
        HeaderValue::Byte(1),
        HeaderValue::Int16(2),
        HeaderValue::Int32(3),
        HeaderValue::Int64(4),
        HeaderValue::ByteArray(vec![5, 6].into()),
        HeaderValue::String("seven".to_owned().into()),
        HeaderValue::Timestamp(aws_smithy_types::DateTime::from_secs(8)),
        HeaderValue::Uuid(9),
    ];
    let mut message = Message::new(STOP.as_bytes());
    for value in values {
        message = message.add_header(Header::new("x", value));
    }
    let name = HeaderValue::String("messageStop".to_owned().into());
    let bytes = write(&message.add_header(Header::new(":event-type", name)));
    assert!(decode_stream(Family::Bedrock, &bytes, &NameMap::default()).is_ok());
}

#[test]
fn an_exception_is_the_apis_error() {
    let headers = [(":exception-type", "throttlingException"), (":message-type", "exception")];
    let error = failure(&frame(&headers, r#"{"message":"Too many tokens, slow down."}"#));
    assert_eq!(error.kind(), ErrorKind::Api);
    assert_eq!(error.message(), "throttlingException: Too many tokens, slow down.");
    let headers = [
        (":message-type", "error"),
        (":error-code", "InternalError"),
        (":error-message", "It broke."),
    ];
    let error = failure(&frame(&headers, ""));
    assert_eq!((error.kind(), error.message()), (ErrorKind::Api, "InternalError: It broke."));
}

#[test]
fn what_came_before_an_exception_has_been_handed_on() {
    let delta = r#"{"contentBlockIndex":0,"delta":{"text":"half"}}"#;
    let headers =
        [(":exception-type", "modelStreamErrorException"), (":message-type", "exception")];
    let mut decoder = StreamDecoder::new(Family::Bedrock, NameMap::default());
    let deltas = decoder.push(&event("contentBlockDelta", delta)).unwrap();
    assert_eq!(deltas, [Delta::Text { part: 0, text: "half".to_owned() }]);
    let error = decoder.push(&frame(&headers, "no JSON")).unwrap_err();
    assert_eq!(error.message(), "modelStreamErrorException: no JSON");
}

#[test]
fn the_end_of_the_connection_is_not_the_end_of_the_message() {
    let whole = event("messageStop", STOP);
    for end in 0..whole.len() {
        assert_eq!(failure(&whole[..end]).kind(), ErrorKind::Cut, "{end}");
    }
    let open = event("messageStart", r#"{"role":"assistant"}"#);
    assert_eq!(failure(&open).kind(), ErrorKind::Cut);
}

#[test]
fn a_wrong_bit_anywhere_is_found() {
    let whole = event("messageStop", STOP);
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(failure(&bytes).kind(), ErrorKind::Corrupt, "bit {bit}");
    }
}

#[test]
fn a_frame_that_is_too_large_is_refused_at_once() {
    let mut prelude = Vec::new();
    prelude.extend_from_slice(&0x0200_0000_u32.to_be_bytes());
    prelude.extend_from_slice(&0_u32.to_be_bytes());
    prelude.extend_from_slice(&crc32fast::hash(&prelude).to_be_bytes());
    let error = failure(&prelude);
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains("33554432 bytes"), "{error}");
}

#[test]
fn corrupt_and_unknown_events_are_told_apart() {
    let error = failure(&event("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"te"#));
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains(r#"{"contentBlockIndex":0,"delta":{"te"#), "{error}");
    let error = failure(&event("contentBlockDelta", r#"{"delta":{"text":"x"}}"#));
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let mut decoder = StreamDecoder::new(Family::Bedrock, NameMap::default());
    let data = r#"{"contentBlockIndex":0,"delta":{"smell":"x"}}"#;
    for (name, data) in [("initial-response", "{}"), ("contentBlockDelta", data)] {
        let deltas = decoder.push(&event(name, data)).unwrap();
        let unknown = Delta::Unknown { event: name.to_owned(), data: data.to_owned() };
        assert_eq!(deltas, [unknown]);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_stream(Family::Bedrock, &bytes, &NameMap::default());
    }

    #[test]
    fn any_headers_with_right_checksums_are_read_or_refused(
        headers in prop::collection::vec(any::<u8>(), 0..60),
        payload in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let total = u32::try_from(headers.len() + payload.len() + 16).unwrap();
        let mut bytes = total.to_be_bytes().to_vec();
        bytes.extend_from_slice(&u32::try_from(headers.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
        bytes.extend_from_slice(&headers);
        bytes.extend_from_slice(&payload);
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
        let _ = decode_stream(Family::Bedrock, &bytes, &NameMap::default());
    }

    #[test]
    fn any_payload_of_any_event_is_read_or_refused(
        name in prop::sample::select(&["messageStart", "contentBlockStart", "contentBlockDelta",
            "contentBlockStop", "messageStop", "metadata", "other"][..]),
        payload in interleaf_samples::strategy::json(),
    ) {
        let _ = decode_stream(Family::Bedrock, &event(name, payload.as_str()), &NameMap::default());
    }
}
