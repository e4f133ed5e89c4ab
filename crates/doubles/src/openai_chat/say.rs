//! An answer in Chat's words.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::answer::{Finish, Said};
use crate::family::Spoken;
use crate::{frames, openai};

pub(super) fn whole(spoken: &Spoken<'_>) -> Value {
    let mut texts = String::new();
    let mut calls = Vec::new();
    for part in &spoken.answer.parts {
        match part {
            Said::Text(text) => texts += text,
            // Chat shows no thoughts.
            Said::Thinking(_) => {}
            Said::Call { id, name, arguments } => calls.push(json!({
                "id": id, "type": "function", "function": {"name": name, "arguments": arguments},
            })),
        }
    }
    let is_refusal = spoken.answer.finish() == Finish::Refusal;
    let has_content = !texts.is_empty() || calls.is_empty();
    let content = (!is_refusal && has_content).then_some(&texts);
    let refusal = is_refusal.then_some(&texts);
    let mut message =
        json!({"role": "assistant", "content": content, "refusal": refusal, "annotations": []});
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    json!({
        "id": format!("chatcmpl-{}", spoken.id),
        "object": "chat.completion",
        "created": spoken.created,
        "model": spoken.asked.model,
        "choices": [{
            "index": 0,
            "message": message,
            "logprobs": null,
            "finish_reason": finish(spoken.answer.finish()),
        }],
        "usage": usage(spoken),
        "service_tier": "default",
    })
}

pub(super) fn events(spoken: &Spoken<'_>) -> Vec<Bytes> {
    let with_usage = spoken.body["stream_options"]["include_usage"] == true;
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": format!("chatcmpl-{}", spoken.id),
            "object": "chat.completion.chunk",
            "created": spoken.created,
            "model": spoken.asked.model,
            "service_tier": "default",
            "choices": choices,
        });
        // The field is there only if it was asked for.
        if with_usage {
            chunk["usage"] = usage;
        }
        frames::data(&chunk)
    };
    let delta = |delta: Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        chunk(json!([choice]), Value::Null)
    };
    let is_refusal = spoken.answer.finish() == Finish::Refusal;
    let has_text = spoken.answer.parts.iter().any(|part| matches!(part, Said::Text(_)));
    let first = if has_text { json!("") } else { Value::Null };
    let mut events =
        vec![delta(json!({"role": "assistant", "content": first, "refusal": null}), None)];
    let mut n_calls = 0;
    for part in &spoken.answer.parts {
        match part {
            Said::Text(text) => {
                let field = if is_refusal { "refusal" } else { "content" };
                let pieces = spoken.pieces(text);
                events.extend(pieces.iter().map(|piece| delta(json!({field: piece}), None)));
            }
            Said::Thinking(_) => {}
            Said::Call { id, name, arguments } => {
                let start = json!({
                    "index": n_calls, "id": id, "type": "function",
                    "function": {"name": name, "arguments": ""},
                });
                events.push(delta(json!({"tool_calls": [start]}), None));
                for piece in spoken.pieces(arguments) {
                    let more = json!({"index": n_calls, "function": {"arguments": piece}});
                    events.push(delta(json!({"tool_calls": [more]}), None));
                }
                n_calls += 1;
            }
        }
    }
    events.push(delta(json!({}), Some(finish(spoken.answer.finish()))));
    if with_usage {
        events.push(chunk(json!([]), usage(spoken)));
    }
    events.push(Bytes::from_static(b"data: [DONE]\n\n"));
    events
}

fn finish(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Refusal => "stop",
        Finish::Calls => "tool_calls",
        Finish::Length => "length",
    }
}

fn usage(spoken: &Spoken<'_>) -> Value {
    let usage = &spoken.usage;
    json!({
        "prompt_tokens": usage.input(),
        "completion_tokens": usage.output,
        "total_tokens": usage.input() + usage.output,
        "prompt_tokens_details": openai::cached(usage),
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}
