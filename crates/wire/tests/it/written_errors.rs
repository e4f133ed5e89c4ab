//! An error that is written in the words of an API means the same when it is read.

use std::time::Duration;

use interleaf_wire::{AnswerHead, ApiError, ApiErrorKind, Family, NameMap, StreamWriter};
use interleaf_wire::{decode_error, write_error};
use proptest::prelude::*;
use proptest::sample::select;

use crate::decode_stream;
use ApiErrorKind::{
    Authentication, ContentFiltered, NotFound, Overloaded, PermissionDenied, QuotaExceeded,
    RateLimited, Refused, Server, TooLong, Unknown,
};

/// All kinds. An error that nobody can name is told as one of the server's.
const KINDS: [(ApiErrorKind, ApiErrorKind); 13] = [
    (RateLimited, RateLimited),
    (QuotaExceeded, QuotaExceeded),
    (Overloaded, Overloaded),
    (TooLong { tokens: None, limit: None }, TooLong { tokens: None, limit: None }),
    (TooLong { tokens: None, limit: Some(7) }, TooLong { tokens: None, limit: Some(7) }),
    (TooLong { tokens: Some(9), limit: Some(7) }, TooLong { tokens: Some(9), limit: Some(7) }),
    (Authentication, Authentication),
    (PermissionDenied, PermissionDenied),
    (NotFound, NotFound),
    (Refused, Refused),
    (ContentFiltered, ContentFiltered),
    (Server, Server),
    (Unknown, Server),
];

fn read_back(family: Family, error: &ApiError) -> ApiError {
    let written = write_error(family, error);
    let headers = written.headers.iter().map(|(name, value)| (*name, value.as_str()));
    decode_error(family, written.status, headers, written.body.as_bytes())
}

proptest! {
    #[test]
    fn an_error_means_the_same_when_it_is_read(
        family in select(Family::ALL.to_vec()),
        (kind, meant) in select(KINDS.to_vec()),
        message in "[a-zA-Z\"\\\\ é]{0,20}[a-z]",
        wait in prop::option::of(0_u64..100_000_000),
    ) {
        let mut error = ApiError::new(kind, message.as_str());
        let wait = wait.map(Duration::from_millis);
        if let Some(wait) = wait {
            error = error.with_retry_after(wait);
        }
        let read = read_back(family, &error);
        prop_assert_eq!(read.kind(), meant, "{}", family);
        prop_assert_eq!(read.retry_after(), wait);
        // Before it stands what the API has no word for.
        prop_assert!(read.message().ends_with(message.trim_start()), "{}: {}", family, read);
    }

    #[test]
    fn an_error_inside_a_stream_keeps_its_kind(
        family in select(Family::ALL.to_vec()),
        (kind, meant) in select(KINDS.to_vec()),
        message in "[a-zA-Z\" é]{1,20}[a-z]",
    ) {
        let mut bytes = Vec::new();
        let error = ApiError::new(kind, message.as_str());
        StreamWriter::new(family, AnswerHead::default()).fail(&error, &mut bytes);
        let failed = decode_stream(family, &bytes, &NameMap::default()).unwrap_err();
        prop_assert_eq!(failed.api_error().unwrap().kind(), meant, "{}", family);
    }
}

#[test]
fn an_error_of_the_same_api_keeps_its_words() {
    let bodies = [
        (
            Family::Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 205056 tokens > 200000 maximum"},"request_id":"req_1"}"#,
        ),
        (
            Family::OpenaiChat,
            400,
            r#"{"error":{"message":"This model's maximum context length is 8 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        ),
        (
            Family::OpenaiResponses,
            500,
            r#"{"error":{"message":"Sorry","type":"server_error","param":null,"code":null}}"#,
        ),
        (
            Family::Gemini,
            429,
            r#"{"error":{"code":429,"message":"Slow down","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}}"#,
        ),
        (Family::Bedrock, 403, r#"{"__type":"ExpiredTokenException","message":"Expired"}"#),
    ];
    for (family, status, body) in bodies {
        let error = decode_error(family, status, [], body.as_bytes());
        let written = write_error(family, &error);
        assert_eq!((written.status, written.body.as_str()), (status, body), "{family}");
    }
}

#[test]
fn an_instant_to_wait_for_and_a_request_id_go_on_in_headers() {
    let headers = [("retry-after", "Sun, 15 Nov 2026 10:00:00 GMT"), ("x-request-id", "req_1")];
    let error = decode_error(Family::OpenaiChat, 503, headers, b"{}");
    for family in Family::ALL {
        let read = read_back(family, &error);
        assert_eq!(read.retry_at(), error.retry_at(), "{family}");
        assert_eq!(read.request_id(), Some("req_1"), "{family}");
    }
}
