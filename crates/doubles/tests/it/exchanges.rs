//! One whole and one streamed exchange of each API, to be read by people.

use interleaf_doubles::{Answer, Api, Asked, Clock, Double, Settings};
use serde_json::{Value, json};

use crate::client::send;

fn answer(_: &Asked) -> Answer {
    Answer::new()
        .with_thinking("I should look.")
        .with_text("Let me see the files.")
        .with_call("ls", &json!({"path": "src"}))
        .with_call("pwd", &json!({}))
}

pub(crate) fn settings() -> Settings {
    Settings::new().with_brain(answer).with_clock(Clock::at(1_800_000_000))
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"path": {"type": "string"}}})
}

/// The same question on an API.
pub(crate) fn question(api: Api) -> Value {
    match api {
        Api::OpenAiChat => json!({
            "model": "gpt-4o",
            "messages": [
                {"role": "system", "content": "You are careful."},
                {"role": "user", "content": "Which files?"},
            ],
            "tools": [
                {"type": "function", "function": {"name": "ls", "description": "Lists files.", "parameters": schema()}},
                {"type": "function", "function": {"name": "pwd", "description": "Says where."}},
            ],
        }),
        Api::Anthropic => json!({
            "model": "claude-sonnet-4-5",
            "max_tokens": 4096,
            "system": "You are careful.",
            "messages": [{"role": "user", "content": "Which files?"}],
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "tools": [
                {"name": "ls", "description": "Lists files.", "input_schema": schema()},
                {"name": "pwd", "description": "Says where.", "input_schema": {"type": "object"}},
            ],
        }),
        Api::OpenAiResponses => json!({
            "model": "gpt-5.1",
            "instructions": "You are careful.",
            "input": "Which files?",
            "store": false,
            "reasoning": {"effort": "low", "summary": "auto"},
            "tools": [
                {"type": "function", "name": "ls", "description": "Lists files.", "parameters": schema(), "strict": false},
                {"type": "function", "name": "pwd", "description": "Says where.", "parameters": {"type": "object", "properties": {}}, "strict": false},
            ],
        }),
        Api::Gemini => json!({
            "model": "gemini-3-pro-preview",
            "systemInstruction": {"parts": [{"text": "You are careful."}]},
            "contents": [{"role": "user", "parts": [{"text": "Which files?"}]}],
            "tools": [{"functionDeclarations": [
                {"name": "ls", "description": "Lists files.", "parametersJsonSchema": schema()},
                {"name": "pwd", "description": "Says where."},
            ]}],
            "generationConfig": {"thinkingConfig": {"includeThoughts": true}},
        }),
        Api::Bedrock => json!({
            "model": "anthropic.claude-sonnet-4-5-20250929-v1:0",
            "system": [{"text": "You are careful."}],
            "messages": [{"role": "user", "content": [{"text": "Which files?"}]}],
            "inferenceConfig": {"maxTokens": 4096},
            "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}},
            "toolConfig": {"tools": [
                {"toolSpec": {"name": "ls", "description": "Lists files.", "inputSchema": {"json": schema()}}},
                {"toolSpec": {"name": "pwd", "description": "Says where.", "inputSchema": {"json": {"type": "object"}}}},
            ]},
        }),
    }
}

async fn exchange(api: Api, stream: bool) -> String {
    let double = Double::start(settings()).await.unwrap();
    let mut body = question(api);
    if stream {
        body["stream"] = json!(true);
        if api == Api::OpenAiChat {
            body["stream_options"] = json!({"include_usage": true});
        }
    }
    let got = send(&double, api, &body).await;
    assert_eq!(got.status, 200, "{}", got.text());
    match stream {
        true if api == Api::Bedrock => frames(&got.body),
        true => got.text().replace("\r\n", "\n"),
        false => serde_json::to_string_pretty(&got.json()).unwrap(),
    }
}

/// Frames of an event stream, one line each.
fn frames(bytes: &[u8]) -> String {
    let lines = events(bytes).into_iter().map(|(name, payload)| format!("{name} {payload}\n"));
    lines.collect()
}

/// The events of an event stream; their checksums hold, or the decoder fails.
pub(crate) fn events(bytes: &[u8]) -> Vec<(String, Value)> {
    use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder};
    let mut decoder = MessageFrameDecoder::new();
    let (mut rest, mut events) = (bytes, Vec::new());
    while let DecodedFrame::Complete(message) = decoder.decode_frame(&mut rest).unwrap() {
        let name = message.headers().iter().find(|header| header.name().as_str() == ":event-type");
        let name = name.unwrap().value().as_string().unwrap().as_str().to_owned();
        events.push((name, serde_json::from_slice(message.payload()).unwrap()));
    }
    assert!(rest.is_empty());
    events
}

#[tokio::test]
async fn a_whole_answer_of_chat() {
    insta::assert_snapshot!(exchange(Api::OpenAiChat, false).await);
}

#[tokio::test]
async fn a_streamed_answer_of_chat() {
    insta::assert_snapshot!(exchange(Api::OpenAiChat, true).await);
}

#[tokio::test]
async fn a_whole_answer_of_anthropic() {
    insta::assert_snapshot!(exchange(Api::Anthropic, false).await);
}

#[tokio::test]
async fn a_streamed_answer_of_anthropic() {
    insta::assert_snapshot!(exchange(Api::Anthropic, true).await);
}

#[tokio::test]
async fn a_whole_answer_of_responses() {
    insta::assert_snapshot!(exchange(Api::OpenAiResponses, false).await);
}

#[tokio::test]
async fn a_streamed_answer_of_responses() {
    insta::assert_snapshot!(exchange(Api::OpenAiResponses, true).await);
}

#[tokio::test]
async fn a_whole_answer_of_gemini() {
    insta::assert_snapshot!(exchange(Api::Gemini, false).await);
}

#[tokio::test]
async fn a_streamed_answer_of_gemini() {
    insta::assert_snapshot!(exchange(Api::Gemini, true).await);
}

#[tokio::test]
async fn a_whole_answer_of_bedrock() {
    insta::assert_snapshot!(exchange(Api::Bedrock, false).await);
}

#[tokio::test]
async fn a_streamed_answer_of_bedrock() {
    insta::assert_snapshot!(exchange(Api::Bedrock, true).await);
}
