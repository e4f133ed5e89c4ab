//! What an answer cost, told in a way that cannot be read: not known, and not 0.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_model::Usage;
use interleaf_wire::{Family, NameMap, StreamDecoder};

use crate::bedrock::frames::event;
use crate::decode_response;

/// An answer of each family, with the names of its counts: the two that every answer has,
/// and others.
const ANSWERS: [(Family, &str, [&str; 2], &[&str]); 5] = [
    (
        Family::OpenaiChat,
        r#"{"choices":[{"message":{"content":"x"}}],"usage":USAGE}"#,
        ["prompt_tokens", "completion_tokens"],
        &["cached_tokens"],
    ),
    (
        Family::OpenaiResponses,
        r#"{"output":[],"usage":USAGE}"#,
        ["input_tokens", "output_tokens"],
        &[],
    ),
    (
        Family::Anthropic,
        r#"{"content":[],"usage":USAGE}"#,
        ["input_tokens", "output_tokens"],
        &["cache_read_input_tokens", "cache_creation_input_tokens"],
    ),
    (
        Family::Gemini,
        r#"{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"usageMetadata":USAGE}"#,
        ["promptTokenCount", "candidatesTokenCount"],
        &["cachedContentTokenCount", "thoughtsTokenCount"],
    ),
    (
        Family::Bedrock,
        r#"{"output":{"message":{"content":[]}},"usage":USAGE}"#,
        ["inputTokens", "outputTokens"],
        &["cacheReadInputTokens", "cacheWriteInputTokens"],
    ),
];

fn usage(family: Family, answer: &str, usage: &str) -> Option<Usage> {
    let answer = answer.replace("USAGE", usage);
    decode_response(family, &answer, &NameMap::default()).unwrap().usage
}

#[test]
fn a_count_that_cannot_be_read_makes_the_usage_unknown_and_not_0() {
    for (family, answer, main, others) in ANSWERS {
        let [sent, made] = main;
        let plain = format!(r#"{{"{sent}":9,"{made}":7}}"#);
        let expected = Usage { prompt: 9, completion: 7, ..Usage::default() };
        assert_eq!(usage(family, answer, &plain), Some(expected), "{family:?}");
        for count in [
            "-5",
            "1.5",
            "1e400",
            "99999999999999999999",
            "9007199254740993",
            r#""many""#,
            "[]",
            "true",
        ] {
            for name in main.iter().chain(others) {
                let rest = main.iter().filter(|other| *other != name);
                let rest: String = rest.map(|name| format!(r#","{name}":9"#)).collect();
                let told = format!(r#"{{"{name}":{count}{rest}}}"#);
                assert_eq!(usage(family, answer, &told), None, "{family:?} {told}");
            }
        }
    }
}

/// The same answers as streams, which tell the counts in their last events.
fn streamed(family: Family, usage: &str) -> Option<Usage> {
    let sse = |events: &[&str]| {
        let events = events.iter().map(|event| format!("data: {event}\n\n"));
        events.collect::<String>().replace("USAGE", usage).into_bytes()
    };
    let bytes = match family {
        Family::OpenaiChat => sse(&[
            r#"{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}"#,
            r#"{"choices":[],"usage":USAGE}"#,
            "[DONE]",
        ]),
        Family::OpenaiResponses => sse(&[
            r#"{"type":"response.completed","response":{"status":"completed","output":[],"usage":USAGE}}"#,
        ]),
        Family::Anthropic => sse(&[
            r#"{"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":USAGE}"#,
            r#"{"type":"message_stop"}"#,
        ]),
        Family::Gemini => sse(&[
            r#"{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}],"usageMetadata":USAGE}"#,
        ]),
        _ => [
            event("messageStart", r#"{"role":"assistant"}"#),
            event("messageStop", r#"{"stopReason":"end_turn"}"#),
            event("metadata", &r#"{"usage":USAGE}"#.replace("USAGE", usage)),
        ]
        .concat(),
    };
    let mut stream = StreamDecoder::new(family, NameMap::default());
    stream.push(&bytes).unwrap();
    stream.finish().unwrap().usage
}

#[test]
fn a_count_of_a_stream_that_cannot_be_read_makes_the_usage_unknown_and_not_0() {
    for (family, _, [sent, made], _) in ANSWERS {
        let told = |count: &str| streamed(family, &format!(r#"{{"{sent}":{count},"{made}":7}}"#));
        let expected = Usage { prompt: 9, completion: 7, ..Usage::default() };
        assert_eq!(told("9"), Some(expected), "{family:?}");
        for count in ["-5", "1.5", "9007199254740993", r#""many""#] {
            assert_eq!(told(count), None, "{family:?} {count}");
        }
    }
}

#[test]
fn a_later_count_of_a_stream_that_cannot_be_read_takes_the_place_of_an_earlier_one() {
    let chat = |usage: &str| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":\"a\"}},\"finish_reason\":\"stop\"}}],\"usage\":{usage}}}\n\n"
        )
    };
    let gemini = |usage: &str| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"a\"}}]}},\"finishReason\":\"STOP\"}}],\"usageMetadata\":{usage}}}\n\n"
        )
    };
    type Event<'a> = &'a dyn Fn(&str) -> String;
    let table: [(Family, [&str; 2], Event<'_>); 2] = [
        (Family::OpenaiChat, ["prompt_tokens", "completion_tokens"], &chat),
        (Family::Gemini, ["promptTokenCount", "candidatesTokenCount"], &gemini),
    ];
    for (family, [sent, made], event) in table {
        let usage = |count: &str| event(&format!(r#"{{"{sent}":9,"{made}":{count}}}"#));
        let read = |last: &str| {
            let mut stream = StreamDecoder::new(family, NameMap::default());
            stream.push((usage("1") + last).as_bytes()).unwrap();
            stream.finish().unwrap().usage
        };
        assert_eq!(read(&usage("7")).unwrap().completion, 7, "{family}");
        assert_eq!(read(&usage("-7")), None, "{family}");
        assert_eq!(read(&event("null")).unwrap().completion, 1, "{family}");
    }
}

#[test]
fn live_row_14_a_reported_zero_is_zero() {
    for (family, answer, [sent, made], _) in ANSWERS {
        let zero = format!(r#"{{"{sent}":0,"{made}":0}}"#);
        assert_eq!(usage(family, answer, &zero), Some(Usage::default()), "{family:?}");
        assert_eq!(streamed(family, &zero), Some(Usage::default()), "{family:?}");
    }
}

#[test]
fn a_usage_that_tells_nothing_is_unknown() {
    for (family, answer, [sent, made], _) in ANSWERS {
        let nulls = format!(r#"{{"{sent}":null,"{made}":null}}"#);
        for told in ["null", "{}", "5", r#""none""#, "[]", &nulls] {
            assert_eq!(usage(family, answer, told), None, "{family:?} {told}");
        }
    }
}

#[test]
fn details_that_are_no_object_make_the_usage_unknown_and_null_ones_do_not() {
    let details = [
        (0, "prompt_tokens_details"),
        (0, "completion_tokens_details"),
        (1, "input_tokens_details"),
        (1, "output_tokens_details"),
        (2, "cache_creation"),
        (2, "output_tokens_details"),
        (4, "cacheDetails"),
    ];
    for (at, name) in details {
        let (family, answer, [sent, made], _) = ANSWERS[at];
        let told = |details: &str| format!(r#"{{"{sent}":9,"{made}":7,"{name}":{details}}}"#);
        assert_eq!(usage(family, answer, &told("5")), None, "{family:?} {name}");
        assert!(usage(family, answer, &told("null")).is_some(), "{family:?} {name}");
    }
}
