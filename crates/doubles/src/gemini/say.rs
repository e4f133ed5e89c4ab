//! An answer in Gemini's words.

use bytes::Bytes;
use serde_json::{Value, json};

use super::generation;
use super::signatures::of_call;
use crate::answer::{Finish, Said};
use crate::family::Spoken;
use crate::frames;

pub(super) fn whole(spoken: &Spoken<'_>) -> Value {
    let parts: Vec<Value> = parts(spoken).into_iter().flat_map(|(part, _)| part).collect();
    response(spoken, parts, true)
}

/// The parts of an answer: each whole, and each in the pieces in which it is streamed.
fn parts(spoken: &Spoken<'_>) -> Vec<(Option<Value>, Vec<Value>)> {
    let signs = generation(&spoken.asked.model) >= 3.0 || spoken.asked.thinking;
    let has_ids = generation(&spoken.asked.model) >= 3.0;
    let mut n_calls = 0;
    let mut parts = Vec::new();
    for part in &spoken.answer.parts {
        let streamed = |text: &str, thought: bool| -> Vec<Value> {
            let mark = |piece: String| match thought {
                true => json!({"text": piece, "thought": true}),
                false => json!({"text": piece}),
            };
            spoken.pieces(text).into_iter().map(mark).collect()
        };
        parts.push(match part {
            Said::Text(text) => (Some(json!({"text": text})), streamed(text, false)),
            // Without the wish to see them, thoughts are only counted.
            Said::Thinking(_) if !spoken.asked.thinking => (None, Vec::new()),
            Said::Thinking(text) => {
                (Some(json!({"text": text, "thought": true})), streamed(text, true))
            }
            Said::Call { id, name, arguments } => {
                let call = serde_json::from_str::<Value>(arguments).ok().map(|args| {
                    let mut call = json!({"name": name, "args": args});
                    if has_ids {
                        call["id"] = json!(id);
                    }
                    let mut part = json!({"functionCall": call});
                    // Of calls made at once only the first is signed.
                    if signs && n_calls == 0 {
                        part["thoughtSignature"] = json!(of_call(&call));
                    }
                    n_calls += 1;
                    part
                });
                // A call that was cut off is not sent: calls come whole.
                (call.clone(), call.into_iter().collect())
            }
        });
    }
    parts
}

fn response(spoken: &Spoken<'_>, parts: Vec<Value>, is_last: bool) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if is_last {
        candidate["finishReason"] = json!(finish(spoken.answer.finish()));
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage(spoken, is_last),
        "modelVersion": spoken.asked.model,
        "responseId": spoken.id,
    })
}

pub(super) fn events(spoken: &Spoken<'_>) -> Vec<Bytes> {
    let mut pieces: Vec<Value> = parts(spoken).into_iter().flat_map(|(_, pieces)| pieces).collect();
    let last = pieces.pop().unwrap_or_else(|| json!({"text": ""}));
    let mut events: Vec<Bytes> = pieces
        .into_iter()
        .map(|piece| frames::data(&response(spoken, vec![piece], false)))
        .collect();
    events.push(frames::data(&response(spoken, vec![last], true)));
    // Google ends lines with both signs.
    events
        .iter()
        .map(|event| Bytes::from(String::from_utf8_lossy(event).replace('\n', "\r\n")))
        .collect()
}

fn finish(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Calls => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::Refusal => "SAFETY",
    }
}

fn usage(spoken: &Spoken<'_>, is_last: bool) -> Value {
    let usage = &spoken.usage;
    let said = usage.output - usage.reasoning;
    let mut told = json!({
        "promptTokenCount": usage.input(),
        "totalTokenCount": usage.input(),
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input()}],
    });
    if usage.read > 0 {
        told["cachedContentTokenCount"] = json!(usage.read);
    }
    if is_last {
        told["candidatesTokenCount"] = json!(said);
        told["totalTokenCount"] = json!(usage.input() + usage.output);
        if usage.reasoning > 0 {
            told["thoughtsTokenCount"] = json!(usage.reasoning);
        }
    }
    told
}
