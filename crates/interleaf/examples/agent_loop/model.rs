//! A stand-in for the model and the way to it: it reads a request in Anthropic's form and
//! answers in it. At first it is busy, and its window turns out to be small.

use std::sync::atomic::{AtomicU32, Ordering};

use interleaf::wire::Http;
use serde_json::{Value, json};

type Headers = Vec<(&'static str, String)>;

static N_REQUESTS: AtomicU32 = AtomicU32::new(0);

/// The most tokens that it takes.
const LIMIT: usize = 2000;

/// What is in a file: more than it takes.
pub(crate) fn file(path: &str) -> String {
    format!("// {path}\n{}", "horn.sound(Tone::LOW);\n".repeat(400))
}

/// Sends a request: the status, the headers and the body of the answer.
pub(crate) fn post(http: &Http, body: &[u8]) -> (u16, Headers, Vec<u8>) {
    assert_eq!(http.url, "https://api.anthropic.com/v1/messages");
    let refused = |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
    let (status, answer) = match (N_REQUESTS.fetch_add(1, Ordering::Relaxed), body.len() / 3) {
        (0, _) => (429, refused("rate_limit_error", "Slow down")),
        (_, tokens) if tokens > LIMIT => {
            let message = format!("prompt is too long: {tokens} tokens > {LIMIT} maximum");
            (400, refused("invalid_request_error", &message))
        }
        _ => (200, answer(body)),
    };
    (status, vec![("retry-after", "0".to_owned())], answer.to_string().into_bytes())
}

/// The body of the answer to the body of a request.
fn answer(request: &[u8]) -> Value {
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
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": request["model"],
        "content": content, "stop_reason": stop, "usage": usage})
}
