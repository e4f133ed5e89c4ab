//! An answer in Converse's words.

use bytes::Bytes;
use serde_json::{Value, json};

use super::frame::event;
use crate::Api;
use crate::answer::{Finish, Said};
use crate::family::Spoken;
use crate::seal::seal;

pub(super) fn whole(spoken: &Spoken<'_>) -> Value {
    let content: Vec<Value> = spoken.answer.parts.iter().map(block).collect();
    json!({
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop_reason(spoken.answer.finish()),
        "usage": usage(spoken),
        "metrics": {"latencyMs": 1},
    })
}

fn block(part: &Said) -> Value {
    match part {
        Said::Text(text) => json!({"text": text}),
        Said::Thinking(text) => {
            let signature = seal(Api::Bedrock, text);
            json!({"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}})
        }
        Said::Call { id, name, arguments } => {
            // A call that was cut off has no arguments that could be read.
            let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
            json!({"toolUse": {"toolUseId": id, "name": name, "input": input}})
        }
    }
}

pub(super) fn events(spoken: &Spoken<'_>) -> Vec<Bytes> {
    let mut events = vec![event("messageStart", &json!({"role": "assistant"}))];
    for (index, part) in spoken.answer.parts.iter().enumerate() {
        // Only a call says that it begins.
        if let Said::Call { id, name, .. } = part {
            let start = json!({"toolUse": {"toolUseId": id, "name": name}});
            let start = json!({"contentBlockIndex": index, "start": start});
            events.push(event("contentBlockStart", &start));
        }
        let mut deltas: Vec<Value> = match part {
            Said::Text(text) => {
                spoken.pieces(text).iter().map(|piece| json!({"text": piece})).collect()
            }
            Said::Thinking(text) => {
                let pieces = spoken.pieces(text);
                pieces.iter().map(|piece| json!({"reasoningContent": {"text": piece}})).collect()
            }
            Said::Call { arguments, .. } => {
                let pieces = spoken.pieces(arguments);
                pieces.iter().map(|piece| json!({"toolUse": {"input": piece}})).collect()
            }
        };
        if let Said::Thinking(text) = part {
            deltas.push(json!({"reasoningContent": {"signature": seal(Api::Bedrock, text)}}));
        }
        for delta in deltas {
            let delta = json!({"contentBlockIndex": index, "delta": delta});
            events.push(event("contentBlockDelta", &delta));
        }
        events.push(event("contentBlockStop", &json!({"contentBlockIndex": index})));
    }
    let stop = json!({"stopReason": stop_reason(spoken.answer.finish())});
    events.push(event("messageStop", &stop));
    let metadata = json!({"usage": usage(spoken), "metrics": {"latencyMs": 1}});
    events.push(event("metadata", &metadata));
    events
}

fn stop_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::Calls => "tool_use",
        Finish::Length => "max_tokens",
        Finish::Refusal => "content_filtered",
    }
}

fn usage(spoken: &Spoken<'_>) -> Value {
    let usage = &spoken.usage;
    let details = [("1h", usage.written_hour), ("5m", usage.written)];
    let details: Vec<Value> = details
        .iter()
        .filter(|(_, tokens)| *tokens > 0)
        .map(|(ttl, tokens)| json!({"ttl": ttl, "inputTokens": tokens}))
        .collect();
    json!({
        "inputTokens": usage.uncached,
        "outputTokens": usage.output,
        "totalTokens": usage.input() + usage.output,
        "cacheReadInputTokens": usage.read,
        "cacheWriteInputTokens": usage.written + usage.written_hour,
        "cacheDetails": details,
    })
}
