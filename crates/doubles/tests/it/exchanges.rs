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

fn settings() -> Settings {
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
        _ => todo!(),
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
        true => got.text(),
        false => serde_json::to_string_pretty(&got.json()).unwrap(),
    }
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
