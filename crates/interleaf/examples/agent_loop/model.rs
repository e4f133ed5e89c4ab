//! A stand-in for the model: it reads a request in Anthropic's form and answers in it.

use serde_json::{Value, json};

/// The body of the answer to the body of a request.
pub(crate) fn answer(request: &[u8]) -> Vec<u8> {
    let request: Value = serde_json::from_slice(request).unwrap_or_default();
    let text = request.to_string();
    let content = if text.contains("You look for causes.") {
        json!([{"type": "text", "text": "A valve is loose."}])
    } else if text.contains("The horn was mended.") {
        json!([{"type": "text", "text": "Now it is quiet."}])
    } else if text.contains("tool_result") {
        json!([{"type": "text", "text": "The valve is tight again."}])
    } else {
        json!([
            {"type": "text", "text": "I look at it."},
            {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "horn.rs"}},
            {"type": "tool_use", "id": "c2", "name": "scout", "input": {}},
        ])
    };
    let calls = content.as_array().is_some_and(|parts| parts.len() > 1);
    let stop = if calls { "tool_use" } else { "end_turn" };
    let usage = json!({"input_tokens": text.len() / 4, "output_tokens": 10});
    let answer = json!({"id": "msg_1", "type": "message", "role": "assistant",
        "model": request["model"], "content": content, "stop_reason": stop, "usage": usage});
    answer.to_string().into_bytes()
}
