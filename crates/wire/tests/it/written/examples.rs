//! A reply in the words of each API, for people to read.

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, Extra, Finish, Message, Parts, Reply, Seal, Text,
    Thinking, ToolCall, Usage,
};
use interleaf_wire::{
    AnswerHead, ApiError, ApiErrorKind, Delta, Family, NameMap, StreamWriter, write_stream,
};

use super::head;
use crate::decode_stream;

fn reply() -> Reply {
    let parts = vec![
        AssistantPart::Thinking(Thinking {
            text: "Look first.".into(),
            seal: Some(Seal::Signature("c2ln".into())),
            producer: None,
            extra: Extra::NONE,
        }),
        AssistantPart::Text(Text::new("I look.")),
        AssistantPart::Call(ToolCall {
            id: CallId::new("c1").unwrap(),
            name: "ls".into(),
            arguments: Arguments::from_text(r#"{"path":"."}"#),
            extra: Extra::NONE,
        }),
    ];
    let message = Message::from(Body::Assistant(Parts::new(parts).unwrap()));
    Reply {
        usage: Some(Usage {
            prompt: 12,
            cache_read: 8,
            cache_write: 0,
            cache_write_hour: 0,
            completion: 9,
            reasoning: 3,
        }),
        model: Some("m".into()),
        id: Some("a1".into()),
        ..Reply::new(message, Finish::ToolCalls)
    }
}

fn stream(family: Family) -> String {
    let written = write_stream(family, &reply(), &head(), 64);
    String::from_utf8(written.bytes).unwrap()
}

#[test]
fn a_stream_of_anthropic() {
    assert_eq!(
        stream(Family::Anthropic),
        r#"event: message_start
data: {"type":"message_start","message":{"id":"a1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":8,"output_tokens":0}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Look first."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I look."}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c1","name":"ls","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\".\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":8,"output_tokens":9,"output_tokens_details":{"thinking_tokens":3}}}

event: message_stop
data: {"type":"message_stop"}

"#
    );
}

#[test]
fn a_stream_of_openai_chat() {
    let head = r#""id":"a1","object":"chat.completion.chunk","created":1767225600,"model":"m""#;
    let deltas = [
        r#""role":"assistant","content":"","refusal":null"#,
        r#""reasoning_content":"Look first.""#,
        r#""content":"I look.""#,
        r#""tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"ls","arguments":""}}]"#,
        r#""tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\".\"}"}}]"#,
    ];
    let chunk = |delta: &str| {
        format!(
            "data: {{{head},\"choices\":[{{\"index\":0,\"delta\":{{{delta}}},\"logprobs\":null,\"finish_reason\":null}}]}}\n\n"
        )
    };
    let mut expected: String = deltas.map(chunk).concat();
    expected += &format!(
        "data: {{{head},\"choices\":[{{\"index\":0,\"delta\":{{}},\"logprobs\":null,\"finish_reason\":\"tool_calls\"}}]}}\n\n"
    );
    let usage = r#"{"prompt_tokens":12,"completion_tokens":9,"total_tokens":21,"prompt_tokens_details":{"cached_tokens":8,"cache_write_tokens":0},"completion_tokens_details":{"reasoning_tokens":3}}"#;
    expected += &format!("data: {{{head},\"choices\":[],\"usage\":{usage}}}\n\ndata: [DONE]\n\n");
    assert_eq!(stream(Family::OpenaiChat), expected);
}

#[test]
fn a_stream_of_openai_responses() {
    let stream = stream(Family::OpenaiResponses);
    let names: Vec<&str> =
        stream.lines().filter_map(|line| line.strip_prefix("event: response.")).collect();
    assert_eq!(
        names,
        [
            "created",
            "in_progress",
            "output_item.added",
            "reasoning_summary_part.added",
            "reasoning_summary_text.delta",
            "reasoning_summary_text.done",
            "reasoning_summary_part.done",
            "output_item.done",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "completed",
        ]
    );
}

#[test]
fn a_stream_of_gemini() {
    let tail = r#","modelVersion":"m","responseId":"a1"}"#;
    let piece = |part: &str| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{part}],\"role\":\"model\"}},\"index\":0}}]{tail}\n\n"
        )
    };
    let parts = [
        r#"{"text":"Look first.","thought":true}"#,
        r#"{"text":"","thought":true,"thoughtSignature":"c2ln"}"#,
        r#"{"text":"I look."}"#,
        r#"{"functionCall":{"id":"c1","name":"ls","args":{"path":"."}}}"#,
    ];
    let mut expected = parts.map(piece).concat();
    expected += r#"data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":12,"cachedContentTokenCount":8,"candidatesTokenCount":6,"thoughtsTokenCount":3,"totalTokenCount":21}"#;
    expected += &format!("{tail}\n\n");
    assert_eq!(stream(Family::Gemini), expected);
}

#[test]
fn an_error_ends_a_stream_in_the_form_of_its_api() {
    for family in Family::ALL {
        let mut bytes = Vec::new();
        let mut writer = StreamWriter::new(family, AnswerHead::default());
        writer.push(&Delta::Text { part: 0, text: "half".to_owned() }, &mut bytes);
        let gone = ApiError::new(ApiErrorKind::Overloaded, "the \"upstream\" is gone");
        writer.fail(&gone, &mut bytes);
        let error = decode_stream(family, &bytes, &NameMap::default()).unwrap_err();
        assert_eq!(error.kind(), interleaf_wire::ErrorKind::Api, "{family}");
        let told = error.api_error().unwrap();
        assert_eq!((told.kind(), told.message()), (gone.kind(), gone.message()), "{family}");
    }
}
