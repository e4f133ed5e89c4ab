//! An answer as Responses' events.

use bytes::Bytes;
use serde_json::{Value, json};

use super::say::{content, encrypted, item, item_id, response, status, whole};
use crate::answer::{Finish, Said};
use crate::family::Spoken;
use crate::frames;

pub(super) fn events(spoken: &Spoken<'_>) -> Vec<Bytes> {
    let begun = response(spoken, "in_progress", Value::Null);
    let mut events = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    let mut index = 0;
    for i in 0..spoken.answer.parts.len() {
        if let Some(item) = item(spoken, i) {
            part(spoken, i, index, &item, &mut events);
            index += 1;
        }
    }
    let end = format!("response.{}", status(spoken));
    events.push(json!({"type": end, "response": whole(spoken)}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = Value::from(number);
    }
    events.iter().map(frames::named).collect()
}

fn part(spoken: &Spoken<'_>, i: usize, index: usize, item: &Value, events: &mut Vec<Value>) {
    let id = item_id(spoken, i);
    let mut begun = item.clone();
    begun["status"] = json!("in_progress");
    let mut inner = Vec::new();
    match &spoken.answer.parts[i] {
        Said::Text(text) => {
            begun["content"] = json!([]);
            inner = message(spoken, i, text);
        }
        Said::Thinking(text) => {
            begun["summary"] = json!([]);
            if item.get("encrypted_content").is_some() {
                begun["encrypted_content"] = Value::from(encrypted(&format!("{id} begun")));
            }
            if item["summary"] != json!([]) {
                inner = summary(spoken, text);
            }
        }
        Said::Call { arguments, .. } => {
            begun["arguments"] = json!("");
            let delta =
                |delta| json!({"type": "response.function_call_arguments.delta", "delta": delta});
            inner.extend(spoken.pieces(arguments).into_iter().map(delta));
            inner.push(
                json!({"type": "response.function_call_arguments.done", "arguments": arguments}),
            );
        }
    }
    events
        .push(json!({"type": "response.output_item.added", "output_index": index, "item": begun}));
    for mut event in inner {
        event["item_id"] = json!(id);
        event["output_index"] = json!(index);
        events.push(event);
    }
    events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
}

fn message(spoken: &Spoken<'_>, i: usize, text: &str) -> Vec<Value> {
    let (whole, mut empty) = (content(spoken, i), content(spoken, i));
    let is_refusal = spoken.answer.finish() == Finish::Refusal;
    let (name, field) = if is_refusal { ("refusal", "refusal") } else { ("output_text", "text") };
    empty[field] = json!("");
    let mut events =
        vec![json!({"type": "response.content_part.added", "content_index": 0, "part": empty})];
    for piece in spoken.pieces(text) {
        let kind = format!("response.{name}.delta");
        events.push(json!({"type": kind, "content_index": 0, "delta": piece, "logprobs": []}));
    }
    let kind = format!("response.{name}.done");
    events.push(json!({"type": kind, "content_index": 0, field: text, "logprobs": []}));
    events.push(json!({"type": "response.content_part.done", "content_index": 0, "part": whole}));
    events
}

fn summary(spoken: &Spoken<'_>, text: &str) -> Vec<Value> {
    let part = |text: &str| json!({"type": "summary_text", "text": text});
    let mut events = vec![
        json!({"type": "response.reasoning_summary_part.added", "summary_index": 0, "part": part("")}),
    ];
    for piece in spoken.pieces(text) {
        events.push(json!({"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": piece}));
    }
    events.push(
        json!({"type": "response.reasoning_summary_text.done", "summary_index": 0, "text": text}),
    );
    events.push(json!({"type": "response.reasoning_summary_part.done", "summary_index": 0, "part": part(text)}));
    events
}
