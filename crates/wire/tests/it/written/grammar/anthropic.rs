//! `message_start`, blocks one after the other, `message_delta`, `message_stop`.

use serde_json::Value;

use super::{Checked, Event, ensure};

#[derive(PartialEq)]
enum State {
    New,
    /// Between blocks.
    Open,
    /// In a block of this type.
    Block(String),
    Told,
    Ended,
}

pub(super) fn check(events: &[Event]) -> Checked {
    let mut state = State::New;
    let mut index = 0;
    for (name, data) in events {
        state = match (name.as_str(), state) {
            ("message_start", State::New) => {
                let message = &data["message"];
                ensure(message["content"] == Value::Array(Vec::new()), "content at the start")?;
                ensure(message["stop_reason"].is_null(), "a reason to stop at the start")?;
                ensure(message["usage"]["input_tokens"].is_u64(), "no usage at the start")?;
                State::Open
            }
            ("content_block_start", State::Open) => {
                ensure(data["index"] == index, "an index out of order")?;
                begin(&data["content_block"])?
            }
            ("content_block_delta", State::Block(block)) => {
                ensure(data["index"] == index, "a delta of another block")?;
                delta(&block, &data["delta"])?;
                State::Block(block)
            }
            ("content_block_stop", State::Block(_)) => {
                ensure(data["index"] == index, "another block stops")?;
                index += 1;
                State::Open
            }
            ("message_delta", State::Open) => {
                ensure(data["delta"]["stop_reason"].is_string(), "no reason to stop")?;
                ensure(data["usage"]["output_tokens"].is_u64(), "no usage")?;
                State::Told
            }
            ("message_stop", State::Told) => State::Ended,
            (name, _) => return Err(format!("{name} may not stand here")),
        };
    }
    ensure(state == State::Ended, "the message does not stop")
}

fn begin(block: &Value) -> Result<State, String> {
    let kind = block["type"].as_str().ok_or("a block without a type")?;
    let is_empty = match kind {
        "text" => block["text"] == "",
        "thinking" => block["thinking"] == "" && block["signature"] == "",
        "tool_use" => block["input"] == serde_json::json!({}),
        _ => true,
    };
    ensure(is_empty, "a block does not begin empty")?;
    Ok(State::Block(kind.to_owned()))
}

fn delta(block: &str, delta: &Value) -> Checked {
    let (of, field) = match delta["type"].as_str().unwrap_or_default() {
        "text_delta" => ("text", "text"),
        "thinking_delta" => ("thinking", "thinking"),
        "signature_delta" => ("thinking", "signature"),
        "input_json_delta" => ("tool_use", "partial_json"),
        "citations_delta" => return ensure(block == "text", "a citation outside of a text"),
        other => return Err(format!("a delta of type {other:?}")),
    };
    ensure(block == of, "a delta of another type than its block")?;
    ensure(delta[field].as_str().is_some_and(|text| !text.is_empty()), "an empty delta")
}
