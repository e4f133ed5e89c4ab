//! What a client that puts a stream together gets, by each API's own rules.

use interleaf_doubles::Api;
use serde_json::{Map, Value, json};

use crate::exchanges::events;

/// The parts of a whole answer in one form for all APIs: texts, thoughts and calls.
pub(crate) fn of_whole(api: Api, answer: &Value) -> Value {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let parts: Vec<Value> = match api {
        Api::OpenAiChat => {
            let message = &answer["choices"][0]["message"];
            let text = message["content"].as_str().map(|text| json!({"text": text}));
            let calls = list(&message["tool_calls"]);
            let calls = calls.iter().map(|call| {
                json!({"id": call["id"], "name": call["function"]["name"], "arguments": call["function"]["arguments"]})
            });
            text.into_iter().chain(calls).collect()
        }
        Api::OpenAiResponses => list(&answer["output"]),
        Api::Anthropic => list(&answer["content"]),
        Api::Gemini => list(&answer["candidates"][0]["content"]["parts"]),
        Api::Bedrock => list(&answer["output"]["message"]["content"]),
    };
    let end = match api {
        Api::OpenAiChat => json!([answer["choices"][0]["finish_reason"], answer["usage"]]),
        Api::OpenAiResponses => json!([answer["status"], answer["usage"]]),
        Api::Anthropic => json!([answer["stop_reason"], answer["usage"]]),
        Api::Gemini => json!([answer["candidates"][0]["finishReason"], answer["usageMetadata"]]),
        Api::Bedrock => json!([answer["stopReason"], answer["usage"]]),
    };
    json!({"parts": parts, "end": end})
}

/// The data of the events of a stream of server-sent events.
fn data(bytes: &[u8]) -> Vec<Value> {
    let text = String::from_utf8(bytes.to_vec()).unwrap().replace("\r\n", "\n");
    assert!(text.ends_with("\n\n"), "{text}");
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.filter(|line| *line != "[DONE]").map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The same of a stream.
pub(crate) fn of_stream(api: Api, bytes: &[u8]) -> Value {
    match api {
        Api::OpenAiChat => chat(&data(bytes)),
        Api::OpenAiResponses => responses(&data(bytes)),
        Api::Anthropic => anthropic(&data(bytes)),
        Api::Gemini => gemini(&data(bytes)),
        Api::Bedrock => bedrock(&events(bytes)),
    }
}

fn push(target: &mut Value, more: &Value) {
    let joined = format!("{}{}", target.as_str().unwrap_or_default(), more.as_str().unwrap());
    *target = Value::from(joined);
}

fn chat(chunks: &[Value]) -> Value {
    let (mut text, mut calls, mut finish) = (Value::Null, Vec::<Value>::new(), Value::Null);
    for choice in chunks.iter().filter_map(|chunk| chunk["choices"].get(0)) {
        let delta = &choice["delta"];
        if delta["content"].is_string() {
            push(&mut text, &delta["content"]);
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
            if index == calls.len() {
                calls.push(
                    json!({"id": call["id"], "name": call["function"]["name"], "arguments": ""}),
                );
            }
            push(&mut calls[index]["arguments"], &call["function"]["arguments"]);
        }
        if !choice["finish_reason"].is_null() {
            assert!(finish.is_null(), "two ends");
            finish = choice["finish_reason"].clone();
        }
    }
    let text = text.as_str().map(|text| json!({"text": text}));
    let parts: Vec<Value> = text.into_iter().chain(calls).collect();
    json!({"parts": parts, "end": [finish, chunks.last().unwrap()["usage"]]})
}

fn responses(events: &[Value]) -> Value {
    let numbers: Vec<u64> = events.iter().map(|e| e["sequence_number"].as_u64().unwrap()).collect();
    assert!(numbers.iter().copied().eq(0..events.len() as u64), "{numbers:?}");
    let done = events.iter().filter(|event| event["type"] == "response.output_item.done");
    let items: Vec<Value> = done.map(|event| event["item"].clone()).collect();
    // The deltas say the same as the items.
    for item in &items {
        let of = |kind: &str| {
            let deltas = events.iter().filter(|e| e["type"] == kind && e["item_id"] == item["id"]);
            deltas.map(|event| event["delta"].as_str().unwrap()).collect::<String>()
        };
        match item["type"].as_str().unwrap() {
            "message" => assert_eq!(of("response.output_text.delta"), item["content"][0]["text"]),
            "function_call" => {
                assert_eq!(of("response.function_call_arguments.delta"), item["arguments"]);
            }
            _ => {
                let text = &item["summary"][0]["text"];
                assert_eq!(of("response.reasoning_summary_text.delta"), *text);
            }
        }
    }
    let end = &events.last().unwrap()["response"];
    assert_eq!(end["output"], Value::Array(items.clone()));
    json!({"parts": items, "end": [end["status"], end["usage"]]})
}

fn anthropic(events: &[Value]) -> Value {
    let (mut blocks, mut open, mut end) = (Vec::<Value>::new(), None, Value::Null);
    assert_eq!(events[0]["type"], "message_start");
    let mut arguments = Value::Null;
    for event in &events[1..] {
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!((open, &event["index"]), (None, &json!(blocks.len())));
                open = Some(blocks.len());
                blocks.push(event["content_block"].clone());
                arguments = Value::Null;
            }
            "content_block_delta" => {
                let block = &mut blocks[open.unwrap()];
                let delta = &event["delta"];
                match delta["type"].as_str().unwrap() {
                    "text_delta" => push(&mut block["text"], &delta["text"]),
                    "thinking_delta" => push(&mut block["thinking"], &delta["thinking"]),
                    "signature_delta" => push(&mut block["signature"], &delta["signature"]),
                    "input_json_delta" => push(&mut arguments, &delta["partial_json"]),
                    other => panic!("{other}"),
                }
            }
            "content_block_stop" => {
                if let Some(arguments) = arguments.as_str() {
                    blocks[open.unwrap()]["input"] = serde_json::from_str(arguments).unwrap();
                }
                open = None;
            }
            "message_delta" => end = json!([event["delta"]["stop_reason"], event["usage"]]),
            "ping" | "message_stop" => {}
            other => panic!("{other}"),
        }
    }
    json!({"parts": blocks, "end": end})
}

fn gemini(chunks: &[Value]) -> Value {
    let mut parts: Vec<Value> = Vec::new();
    for part in chunks.iter().map(|chunk| &chunk["candidates"][0]["content"]["parts"][0]) {
        let is_same = |last: &Value| last["text"].is_string() && last["thought"] == part["thought"];
        match parts.last_mut().filter(|last| part["text"].is_string() && is_same(last)) {
            Some(last) => push(&mut last["text"], &part["text"]),
            None => parts.push(part.clone()),
        }
    }
    let last = chunks.last().unwrap();
    json!({"parts": parts, "end": [last["candidates"][0]["finishReason"], last["usageMetadata"]]})
}

fn bedrock(events: &[(String, Value)]) -> Value {
    let mut blocks: Vec<Map<String, Value>> = Vec::new();
    let (mut stop, mut usage) = (Value::Null, Value::Null);
    for (name, event) in events {
        let index =
            event["contentBlockIndex"].as_u64().map(|index| usize::try_from(index).unwrap());
        if index == Some(blocks.len()) {
            blocks.push(Map::new());
        }
        match name.as_str() {
            "contentBlockStart" => {
                let mut call = event["start"]["toolUse"].clone();
                call["input"] = json!("");
                blocks[index.unwrap()].insert("toolUse".to_owned(), call);
            }
            "contentBlockDelta" => {
                let (block, delta) = (&mut blocks[index.unwrap()], &event["delta"]);
                if delta["text"].is_string() {
                    push(block.entry("text").or_insert(json!("")), &delta["text"]);
                } else if let Some(call) = delta.get("toolUse") {
                    push(&mut block["toolUse"]["input"], &call["input"]);
                } else {
                    let thought = block.entry("reasoningContent").or_insert(json!({}));
                    for (name, more) in delta["reasoningContent"].as_object().unwrap() {
                        push(&mut thought["reasoningText"][name], more);
                    }
                }
            }
            "contentBlockStop" => {
                if let Some(call) = blocks[index.unwrap()].get_mut("toolUse") {
                    call["input"] = serde_json::from_str(call["input"].as_str().unwrap()).unwrap();
                }
            }
            "messageStop" => stop = event["stopReason"].clone(),
            "metadata" => usage = event["usage"].clone(),
            _ => assert_eq!(name, "messageStart"),
        }
    }
    json!({"parts": blocks, "end": [stop, usage]})
}
