//! Recorded answers, written as answers and as streams of every API.

use interleaf_model::Reply;
use interleaf_wire::{AnswerHead, Family, NameMap, write_answer, write_stream};

use super::{Case, Kind};
use crate::written::{frames, recorded};

pub(super) fn answers() -> Vec<Case> {
    let head = AnswerHead::default().created(1_767_225_600).include_usage(true);
    let mut cases = Vec::new();
    for (name, reply) in recorded::replies() {
        for family in Family::ALL {
            let whole = write_answer(family, &reply, &head).body;
            let bytes = write_stream(family, &reply, &head, 9).bytes;
            let sent = sent(&bytes, &whole);
            let forms = [
                (Kind::Answer, "whole", whole),
                (Kind::Stream, "stream", events(family, &bytes)),
                (Kind::Sent, "sent", sent),
            ];
            for (kind, form, body) in forms {
                cases.push(Case { kind, family, name: format!("{form} {name}"), body });
            }
        }
    }
    cases
}

fn sent(bytes: &[u8], whole: &str) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(r#"{{"bytes":"{hex}","whole":{whole}}}"#)
}

/// The data of all events, as a list.
fn events(family: Family, bytes: &[u8]) -> String {
    if family == Family::Bedrock {
        let event = |(name, data): &(String, serde_json::Value)| format!(r#"{{"{name}":{data}}}"#);
        let events: Vec<String> = frames(bytes).unwrap().iter().map(event).collect();
        return format!("[{}]", events.join(","));
    }
    let text = std::str::from_utf8(bytes).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<&str> = data.filter(|data| *data != "[DONE]").collect();
    format!("[{}]", events.join(","))
}

fn said(text: &str) -> Reply {
    let answer =
        format!(r#"{{"choices":[{{"message":{{"content":"{text}"}},"finish_reason":"stop"}}]}}"#);
    crate::decode_response(Family::OpenaiChat, &answer, &NameMap::default()).unwrap()
}

/// An answer and a stream of each API that its types must refuse.
pub(super) fn wrong() -> Vec<Case> {
    let texts = [
        (
            Family::OpenaiChat,
            r#"{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tired","message":{"role":"assistant"}}]}"#,
        ),
        (
            Family::OpenaiResponses,
            r#"{"id":"a","object":"response","created_at":1,"model":"m","output":[{"type":"reasoning"}],"parallel_tool_calls":true,"tool_choice":"auto","tools":[]}"#,
        ),
        (
            Family::Anthropic,
            r#"{"id":"a","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"t"}],"usage":{"input_tokens":1,"output_tokens":1}}"#,
        ),
        (Family::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":1}]}}]}"#),
        (
            Family::Bedrock,
            r#"{"output":{"message":{"role":"assistant","content":[{"text":"t"}]}},"stopReason":"tired","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2},"metrics":{"latencyMs":0}}"#,
        ),
    ];
    let events = [
        (
            Family::OpenaiChat,
            r#"[{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0}]}]"#,
        ),
        (Family::OpenaiResponses, r#"[{"type":"response.output_text.delta","sequence_number":1}]"#),
        (Family::Anthropic, r#"[{"type":"content_block_stop"}]"#),
        (Family::Gemini, r#"[{"candidates":[{"finishReason":1}]}]"#),
        (Family::Bedrock, r#"[{"contentBlockStop":{}}]"#),
    ];
    let case = |kind: Kind| {
        move |(family, body): (Family, &str)| {
            let name = "made by hand".to_owned();
            Case { kind, family, name, body: body.to_owned() }
        }
    };
    let streams = events.into_iter().map(case(Kind::Stream));
    let sent = Family::ALL.into_iter().map(|family| {
        let head = AnswerHead::default();
        let bytes = write_stream(family, &said("one thing"), &head, 9).bytes;
        let body = sent(&bytes, &write_answer(family, &said("another"), &head).body);
        Case { kind: Kind::Sent, family, name: "made by hand".to_owned(), body }
    });
    texts.into_iter().map(case(Kind::Answer)).chain(streams).chain(sent).collect()
}
