//! What an API says instead of an answer, in its own words, and what is made of it.

use std::time::Duration;

use interleaf_wire::decode_error;
use interleaf_wire::{ApiError, ApiErrorKind, ErrorKind, Family, NameMap, StreamDecoder};
use proptest::prelude::*;

use crate::decode_response;
use ApiErrorKind::{
    Authentication, ContentFiltered, NotFound, Overloaded, PermissionDenied, QuotaExceeded,
    RateLimited, Refused, Server, TooLong, Unknown,
};
use Family::{Anthropic, Bedrock, Gemini, OpenaiChat, OpenaiResponses};

fn too_long(tokens: u64, limit: u64) -> ApiErrorKind {
    TooLong { tokens: Some(tokens), limit: Some(limit) }
}

const TOO_LONG: ApiErrorKind = TooLong { tokens: None, limit: None };

/// Bodies as the APIs send them: who, the status, the body, what it means, its code.
fn bodies() -> Vec<(Family, u16, &'static str, ApiErrorKind, &'static str)> {
    vec![
        (
            Anthropic,
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute."},"request_id":"req_011"}"#,
            RateLimited,
            "rate_limit_error",
        ),
        (
            Anthropic,
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Overloaded,
            "overloaded_error",
        ),
        (
            Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 205056 tokens > 200000 maximum"}}"#,
            too_long(205_056, 200_000),
            "invalid_request_error",
        ),
        (
            Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again"}}"#,
            too_long(188_240, 200_000),
            "invalid_request_error",
        ),
        (
            Anthropic,
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
            TOO_LONG,
            "request_too_large",
        ),
        (
            Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
            QuotaExceeded,
            "invalid_request_error",
        ),
        (
            Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}"#,
            ContentFiltered,
            "invalid_request_error",
        ),
        (
            Anthropic,
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            Authentication,
            "authentication_error",
        ),
        (
            Anthropic,
            404,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}"#,
            NotFound,
            "not_found_error",
        ),
        (
            OpenaiChat,
            400,
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            too_long(204_308, 128_000),
            "context_length_exceeded",
        ),
        (
            OpenaiChat,
            429,
            r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
            QuotaExceeded,
            "insufficient_quota",
        ),
        (
            OpenaiChat,
            429,
            r#"{"error":{"message":"Rate limit reached for gpt-4 in organization org-x on tokens per min (TPM): Limit 10000, Used 9500, Requested 1200. Please try again in 4.2s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
            RateLimited,
            "rate_limit_exceeded",
        ),
        (
            OpenaiChat,
            429,
            r#"{"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 37050. The input or output tokens must be reduced in order to run successfully.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
            too_long(37_050, 30_000),
            "rate_limit_exceeded",
        ),
        (
            OpenaiChat,
            400,
            r#"{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            TOO_LONG,
            "context_length_exceeded",
        ),
        (
            OpenaiChat,
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).","type":"BadRequestError","param":null,"code":400}"#,
            too_long(5000, 4096),
            "400",
        ),
        (
            OpenaiChat,
            400,
            r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}"#,
            too_long(537_812, 131_072),
            "Client specified an invalid argument",
        ),
        (
            OpenaiChat,
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5021,"n_ctx":4096}}"#,
            too_long(5021, 4096),
            "400",
        ),
        (
            OpenaiChat,
            400,
            r#"{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
            ContentFiltered,
            "content_filter",
        ),
        (
            OpenaiChat,
            402,
            r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}"#,
            QuotaExceeded,
            "invalid_request_error",
        ),
        (OpenaiChat, 404, r#"{"detail":"Not Found"}"#, NotFound, ""),
        (
            OpenaiChat,
            422,
            r#"{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required"}]}"#,
            Refused,
            "",
        ),
        (OpenaiChat, 500, r#"{"error":"llama runner process has terminated"}"#, Server, ""),
        (
            OpenaiResponses,
            400,
            r#"{"error":{"message":"No tool output found for function call call_ls.","type":"invalid_request_error","param":"input","code":null}}"#,
            Refused,
            "invalid_request_error",
        ),
        (
            OpenaiResponses,
            400,
            r#"{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
            TOO_LONG,
            "context_length_exceeded",
        ),
        (
            Gemini,
            400,
            r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}"#,
            Authentication,
            "API_KEY_INVALID",
        ),
        (
            Gemini,
            400,
            r#"{"error":{"code":400,"message":"The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
            too_long(1_048_577, 1_048_576),
            "INVALID_ARGUMENT",
        ),
        (
            Gemini,
            429,
            r#"[{"error":{"code":429,"message":"Resource exhausted. Please try again later.","status":"RESOURCE_EXHAUSTED"}}]"#,
            RateLimited,
            "RESOURCE_EXHAUSTED",
        ),
        (
            Gemini,
            503,
            r#"{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}"#,
            Overloaded,
            "UNAVAILABLE",
        ),
        (Bedrock, 400, r#"{"message":"Input is too long for requested model."}"#, TOO_LONG, ""),
        (
            Bedrock,
            429,
            r#"{"__type":"com.amazon.coral.availability#ThrottlingException","message":"Too many tokens, please wait before trying again."}"#,
            RateLimited,
            "ThrottlingException",
        ),
        (
            Bedrock,
            403,
            r#"{"__type":"UnrecognizedClientException","message":"The security token included in the request is invalid."}"#,
            Authentication,
            "UnrecognizedClientException",
        ),
        (
            Bedrock,
            403,
            r#"{"Message":"User is not authorized to perform: bedrock:InvokeModel"}"#,
            PermissionDenied,
            "",
        ),
    ]
}

#[test]
fn an_error_of_an_api_has_a_kind_to_act_on() {
    for (family, status, body, kind, code) in bodies() {
        let error = decode_error(family, status, [], body.as_bytes());
        assert_eq!((error.kind(), error.code().unwrap_or_default()), (kind, code), "{body}");
        assert_eq!(error.status(), Some(status));
        assert!(!error.message().is_empty() && body.contains(error.message()), "{error}");
    }
}

#[test]
fn what_passes_by_itself_may_be_tried_again_and_nothing_else() {
    for (family, status, body, kind, _) in bodies() {
        let error = decode_error(family, status, [], body.as_bytes());
        let passes = matches!(kind, RateLimited | Overloaded | Server);
        assert_eq!(error.is_retryable(), passes, "{body}");
        let told = decode_error(family, status, [("X-Should-Retry", "false")], body.as_bytes());
        assert!(!told.is_retryable());
    }
}

#[test]
fn a_body_in_no_form_of_an_api_is_told_by_its_status_and_words() {
    let page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body></html>";
    let table = [
        (502, page, Server, "502 Bad Gateway"),
        (503, "upstream connect error", Overloaded, "upstream connect error"),
        (504, "", Server, "the API answered with status 504 and no message"),
        (403, "[]", PermissionDenied, "[]"),
        (418, "{}", Unknown, "{}"),
    ];
    for family in Family::ALL {
        for (status, body, kind, message) in table {
            let error = decode_error(family, status, [], body.as_bytes());
            assert_eq!((error.kind(), error.message()), (kind, message), "{family}");
        }
    }
}

#[test]
fn the_time_to_wait_is_read_wherever_it_is_told() {
    const DATE: (&str, &str) = ("Date", "Sun, 15 Nov 2026 10:00:00 GMT");
    let ms = |ms: u64| Some(Duration::from_millis(ms));
    let slow = r#"{"error":{"message":"slow down","code":"rate_limit_exceeded"}}"#;
    type Row<'a> = (Vec<(&'a str, &'a str)>, &'a str, Option<Duration>);
    // More is told as a year.
    let year = Some(Duration::from_secs(366 * 24 * 3600));
    let table: [Row<'_>; 23] = [
        (vec![("retry-after", "7")], slow, ms(7000)),
        (vec![("Retry-After", "0.5")], slow, ms(500)),
        (vec![("retry-after-ms", "250"), ("retry-after", "1")], slow, ms(250)),
        (vec![("RETRY-AFTER", "Sun, 15 Nov 2026 10:00:30 GMT"), DATE], slow, ms(30_000)),
        // What has passed already needs no wait.
        (vec![("retry-after", "Sun, 15 Nov 2026 09:00:00 GMT"), DATE], slow, ms(0)),
        (vec![("retry-after", "-1")], slow, ms(0)),
        (vec![("retry-after-ms", "-1")], slow, ms(0)),
        (vec![("retry-after", "soon")], slow, None),
        (
            vec![("x-ratelimit-reset-tokens", "6m0s"), ("x-ratelimit-remaining-tokens", "0")],
            slow,
            ms(360_000),
        ),
        (
            vec![
                ("x-ratelimit-reset-requests", "20ms"),
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-reset-tokens", "6m0s"),
                ("x-ratelimit-remaining-tokens", "1000"),
            ],
            slow,
            ms(20),
        ),
        (vec![("anthropic-ratelimit-tokens-reset", "2026-11-15T10:00:05Z"), DATE], slow, ms(5000)),
        (vec![("X-RateLimit-Reset", "1794736803000"), DATE], slow, ms(3000)),
        (
            vec![],
            r#"{"error":{"message":"Rate limit reached. Please try again in 1m1.5s. Visit us.","code":"rate_limit_exceeded"}}"#,
            ms(61_500),
        ),
        (
            vec![],
            r#"{"error":{"message":"Please try again in 12 seconds.","code":"rate_limit_exceeded"}}"#,
            ms(12_000),
        ),
        (vec![], slow, None),
        (vec![("retry-after", "1e300")], slow, year),
        (vec![("retry-after", "1e999")], slow, year),
        (vec![("retry-after", "inf")], slow, year),
        (vec![("retry-after", "-inf")], slow, ms(0)),
        (vec![("retry-after", "NaN")], slow, None),
        (vec![("retry-after-ms", "1e308")], slow, year),
        (vec![("anthropic-ratelimit-tokens-reset", "1e308")], slow, year),
        (vec![("x-ratelimit-reset-tokens", "99999999999999999999d")], slow, year),
    ];
    for (headers, body, expected) in table {
        let error = decode_error(OpenaiChat, 429, headers.iter().copied(), body.as_bytes());
        assert_eq!(error.retry_after(), expected, "{headers:?} {body}");
    }
    let delayed = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details.","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.074s"}]}}"#;
    let error = decode_error(Gemini, 429, [], delayed.as_bytes());
    assert_eq!((error.kind(), error.retry_after()), (RateLimited, ms(34_074)));
}

#[test]
fn a_date_to_wait_for_stays_an_instant_if_nobody_says_what_time_it_is() {
    let headers = [("retry-after", "Sun, 15 Nov 2026 10:00:30 GMT")];
    let error = decode_error(OpenaiChat, 503, headers, b"");
    assert_eq!(error.retry_after(), None);
    assert_eq!(error.retry_at().map(|at| at.to_string()).as_deref(), Some("2026-11-15T10:00:30Z"));
}

#[test]
fn the_apis_own_words_are_kept() {
    let body = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.6: `tool_use` ids were found without `tool_result` blocks"},"request_id":"req_1"}"#;
    let error = decode_error(Anthropic, 400, [("request-id", "req_2")], body.as_bytes());
    assert_eq!((error.param(), error.request_id()), (Some("messages.6"), Some("req_1")));
    let body = r#"{"error":{"message":"Invalid value","type":"invalid_request_error","param":"tools[0]","code":null}}"#;
    let error = decode_error(OpenaiChat, 400, [("X-Request-Id", "req_3")], body.as_bytes());
    assert_eq!((error.param(), error.request_id()), (Some("tools[0]"), Some("req_3")));
    let headers = [("x-amzn-ErrorType", "ValidationException:http://internal.amazon.com/coral/")];
    let error = decode_error(Bedrock, 400, headers, br#"{"message":"The text field is blank."}"#);
    assert_eq!(error.to_string(), "ValidationException: The text field is blank.");
    assert_eq!(error.kind(), Refused);
}

#[test]
fn a_refused_key_or_an_unknown_model_is_known_by_its_status_where_the_word_is_that_of_any_bad_request()
 {
    let body = r#"{"error":{"message":"You didn't provide it.","type":"invalid_request_error","code":null}}"#;
    for (status, kind) in
        [(401, Authentication), (403, PermissionDenied), (404, NotFound), (400, Refused)]
    {
        assert_eq!(decode_error(OpenaiChat, status, [], body.as_bytes()).kind(), kind);
    }
}

#[test]
fn a_time_out_and_a_conflict_pass_whatever_word_comes_with_them() {
    let body = r#"{"type":"error","error":{"message":"no","type":"invalid_request_error"}}"#;
    let google = r#"{"error":{"code":408,"message":"no","status":"INVALID_ARGUMENT"}}"#;
    for status in [408, 409] {
        for family in [OpenaiChat, OpenaiResponses, Anthropic] {
            assert!(decode_error(family, status, [], body.as_bytes()).is_retryable(), "{family}");
        }
        assert!(decode_error(Gemini, status, [], google.as_bytes()).is_retryable());
    }
}

#[test]
fn an_error_shows_no_key_and_no_endless_text() {
    let key = "sk-proj-0123456789abcdefghij";
    let body = format!(
        r#"{{"error":{{"message":"Incorrect API key provided: {key}. {}","code":"invalid_api_key"}}}}"#,
        "x".repeat(100_000)
    );
    let error = decode_error(OpenaiChat, 401, [], body.as_bytes());
    assert_eq!(error.kind(), Authentication);
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(key) && shown.contains("sk-p***"), "{shown}");
    assert!(error.to_string().len() < 1100);
}

#[test]
fn an_error_inside_an_answer_or_a_stream_is_the_same_error() {
    let told = |error: interleaf_wire::Error| -> ApiError {
        assert_eq!(error.kind(), ErrorKind::Api);
        error.api_error().cloned().unwrap()
    };
    for (family, status, body, kind, code) in bodies() {
        // A whole answer says by its status what an error inside a stream says by its code.
        if code.is_empty() || body.starts_with('[') || !body.contains("\"error\":{") {
            continue;
        }
        let inside = told(decode_response(family, body, &NameMap::default()).unwrap_err());
        let whole = decode_error(family, status, [], body.as_bytes());
        let by_status = matches!(whole.kind(), QuotaExceeded) && inside.kind() == Refused;
        assert!(inside.kind() == kind || by_status, "{body}: {inside:?}");
        assert_eq!(inside.message(), whole.message());
        if family == Bedrock {
            continue;
        }
        let mut decoder = StreamDecoder::new(family, NameMap::default());
        let event = format!("data: {body}\n\n");
        assert_eq!(told(decoder.push(event.as_bytes()).unwrap_err()), inside, "{body}");
    }
}

proptest! {
    #[test]
    fn no_answer_makes_the_reader_fail(
        status in any::<u16>(),
        headers in proptest::collection::vec(("[a-z-]{0,20}|retry-after|date|x-ratelimit-reset", "\\PC{0,30}"), 0..4),
        body in prop_oneof!["\\PC{0,200}", interleaf_samples::strategy::json().prop_map(|json| json.as_str().to_owned())],
    ) {
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        for family in Family::ALL {
            let error = decode_error(family, status, headers.iter().copied(), body.as_bytes());
            prop_assert!(!error.message().trim().is_empty());
            prop_assert!(error.retry_after().is_none() || error.retry_at().is_none());
        }
    }
}
