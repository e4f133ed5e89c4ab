//! An answer in Responses' words.

use serde_json::{Value, json};

use crate::answer::{Finish, Said};
use crate::family::Spoken;
use crate::openai::is_reasoning;
use crate::seal::seal;
use crate::{Api, openai};

pub(super) fn whole(spoken: &Spoken<'_>) -> Value {
    let mut response = response(spoken, status(spoken), usage(spoken));
    let output = (0..spoken.answer.parts.len()).filter_map(|i| item(spoken, i)).collect();
    response["output"] = Value::Array(output);
    if spoken.answer.finish() == Finish::Length {
        response["incomplete_details"] = json!({"reason": "max_output_tokens"});
    }
    response
}

/// How an answer ends.
pub(super) fn status(spoken: &Spoken<'_>) -> &'static str {
    if spoken.answer.finish() == Finish::Length { "incomplete" } else { "completed" }
}

/// A response without its output.
pub(super) fn response(spoken: &Spoken<'_>, status: &str, usage: Value) -> Value {
    let body = spoken.body;
    let or = |name: &str, usual: Value| body.get(name).cloned().unwrap_or(usual);
    json!({
        "id": format!("resp_{}", spoken.id),
        "object": "response",
        "created_at": spoken.created,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": or("instructions", Value::Null),
        "max_output_tokens": or("max_output_tokens", Value::Null),
        "model": spoken.asked.model,
        "output": [],
        "parallel_tool_calls": or("parallel_tool_calls", json!(true)),
        "previous_response_id": or("previous_response_id", Value::Null),
        "prompt_cache_key": or("prompt_cache_key", Value::Null),
        "reasoning": {
            "effort": body["reasoning"]["effort"],
            "summary": body["reasoning"]["summary"],
        },
        "service_tier": "default",
        "store": or("store", json!(true)),
        "temperature": or("temperature", json!(1.0)),
        "text": or("text", json!({"format": {"type": "text"}})),
        "tool_choice": or("tool_choice", json!("auto")),
        "tools": or("tools", json!([])),
        "top_p": or("top_p", json!(1.0)),
        "truncation": or("truncation", json!("disabled")),
        "usage": usage,
        "metadata": or("metadata", json!({})),
    })
}

/// The id of an item. Those that follow a thought say so, as the API wants to see it again
/// beside them.
pub(super) fn item_id(spoken: &Spoken<'_>, i: usize) -> String {
    let prefix = match &spoken.answer.parts[i] {
        Said::Text(_) => "msg",
        Said::Thinking(_) => "rs",
        Said::Call { .. } => "fc",
    };
    let parts = &spoken.answer.parts[..i];
    let thought = parts.iter().rposition(|part| matches!(part, Said::Thinking(_)));
    let after = thought.filter(|_| shows_thoughts(spoken));
    let after = after.map(|thought| format!("r{thought:02}")).unwrap_or_default();
    format!("{prefix}_{}{i:02}{after}", spoken.id)
}

/// The thought that the item of an id came with, by the id of that thought.
pub(super) fn thought_of(id: &str) -> Option<String> {
    let (_, rest) = id.split_once('_')?;
    let (made_of, thought) = rest.split_once('r')?;
    // Twelve characters of the answer, and two for the part.
    (made_of.len() == 14 && thought.len() == 2).then(|| format!("rs_{}{thought}", &made_of[..12]))
}

/// Only a model that thinks gives reasoning items.
pub(super) fn shows_thoughts(spoken: &Spoken<'_>) -> bool {
    is_reasoning(&spoken.asked.model)
}

/// What seals a thought; it is different each time it is asked for, so that only the one in
/// `response.output_item.done` is good.
pub(super) fn encrypted(id: &str) -> String {
    format!("gAAAA{}", seal(Api::OpenAiResponses, id))
}

/// A part as an item; none, if it is a thought of a model that shows none.
pub(super) fn item(spoken: &Spoken<'_>, i: usize) -> Option<Value> {
    let id = item_id(spoken, i);
    let parts = &spoken.answer.parts;
    let is_cut = i + 1 == parts.len() && spoken.answer.finish() == Finish::Length;
    let status = if is_cut { "incomplete" } else { "completed" };
    match &parts[i] {
        Said::Text(_) => Some(json!({
            "id": id, "type": "message", "status": status, "role": "assistant",
            "content": [content(spoken, i)],
        })),
        Said::Thinking(_) if !shows_thoughts(spoken) => None,
        Said::Thinking(text) => {
            let wants = !spoken.body["reasoning"]["summary"].is_null();
            let summary = wants.then(|| json!({"type": "summary_text", "text": text}));
            let summary: Vec<Value> = summary.into_iter().collect();
            let mut item = json!({"id": id, "type": "reasoning", "summary": summary});
            if wants_encrypted(spoken) {
                item["encrypted_content"] = Value::from(encrypted(&id));
            }
            Some(item)
        }
        Said::Call { id: call_id, name, arguments } => Some(json!({
            "id": id, "type": "function_call", "status": status, "arguments": arguments,
            "call_id": call_id, "name": name,
        })),
    }
}

/// What is not stored comes sealed, so that the client can keep it.
pub(super) fn wants_encrypted(spoken: &Spoken<'_>) -> bool {
    let included = crate::value::list(&spoken.body["include"]);
    spoken.body["store"] == false
        || included.iter().any(|name| name == "reasoning.encrypted_content")
}

/// The content of a message.
pub(super) fn content(spoken: &Spoken<'_>, i: usize) -> Value {
    let text = match &spoken.answer.parts[i] {
        Said::Text(text) => text.as_str(),
        _ => "",
    };
    match spoken.answer.finish() {
        Finish::Refusal => json!({"type": "refusal", "refusal": text}),
        _ => json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text}),
    }
}

pub(super) fn usage(spoken: &Spoken<'_>) -> Value {
    let usage = &spoken.usage;
    json!({
        "input_tokens": usage.input(),
        "input_tokens_details": {"cached_tokens": openai::cached(usage)["cached_tokens"], "cache_write_tokens": usage.written + usage.written_hour},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input() + usage.output,
    })
}
