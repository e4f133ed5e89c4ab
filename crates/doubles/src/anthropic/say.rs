//! An answer in Anthropic's words.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::answer::{Finish, Said};
use crate::family::Spoken;
use crate::seal::seal;
use crate::{Api, frames};

pub(super) fn whole(spoken: &Spoken<'_>) -> Value {
    let content: Vec<Value> = spoken.answer.parts.iter().map(block).collect();
    let mut message = start(spoken, usage(spoken, spoken.usage.output));
    message["content"] = Value::Array(content);
    message["stop_reason"] = Value::from(stop_reason(spoken.answer.finish()));
    message
}

fn start(spoken: &Spoken<'_>, usage: Value) -> Value {
    json!({
        "id": format!("msg_{}", spoken.id),
        "type": "message",
        "role": "assistant",
        "model": spoken.asked.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage,
    })
}

fn block(part: &Said) -> Value {
    match part {
        Said::Text(text) => json!({"type": "text", "text": text}),
        Said::Thinking(text) => {
            json!({"type": "thinking", "thinking": text, "signature": seal(Api::Anthropic, text)})
        }
        Said::Call { id, name, arguments } => {
            // A call that was cut off has no arguments that could be read.
            let input = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
            let input: Value = input;
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    }
}

pub(super) fn events(spoken: &Spoken<'_>) -> Vec<Bytes> {
    let message = start(spoken, usage(spoken, 1));
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, part) in spoken.answer.parts.iter().enumerate() {
        let begin = match part {
            Said::Text(_) => json!({"type": "text", "text": ""}),
            Said::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
            Said::Call { id, name, .. } => {
                json!({"type": "tool_use", "id": id, "name": name, "input": {}})
            }
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": begin}));
        if index == 0 {
            events.push(json!({"type": "ping"}));
        }
        let (kind, field, text) = match part {
            Said::Text(text) => ("text_delta", "text", text),
            Said::Thinking(text) => ("thinking_delta", "thinking", text),
            Said::Call { arguments, .. } => ("input_json_delta", "partial_json", arguments),
        };
        let mut deltas: Vec<Value> =
            spoken.pieces(text).iter().map(|piece| json!({"type": kind, field: piece})).collect();
        match part {
            Said::Thinking(text) => {
                let signature = seal(Api::Anthropic, text);
                deltas.push(json!({"type": "signature_delta", "signature": signature}));
            }
            // The API begins the arguments with an empty piece.
            Said::Call { .. } => deltas.insert(0, json!({"type": kind, field: ""})),
            Said::Text(_) => {}
        }
        let delta = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let stop = json!({"stop_reason": stop_reason(spoken.answer.finish()), "stop_sequence": null});
    let usage = usage(spoken, spoken.usage.output);
    events.push(json!({"type": "message_delta", "delta": stop, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(frames::named).collect()
}

fn stop_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::Calls => "tool_use",
        Finish::Length => "max_tokens",
        Finish::Refusal => "refusal",
    }
}

fn usage(spoken: &Spoken<'_>, output: u64) -> Value {
    let usage = &spoken.usage;
    json!({
        "input_tokens": usage.uncached,
        "cache_creation_input_tokens": usage.written + usage.written_hour,
        "cache_read_input_tokens": usage.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.written,
            "ephemeral_1h_input_tokens": usage.written_hour,
        },
        "output_tokens": output,
        "service_tier": "standard",
    })
}
