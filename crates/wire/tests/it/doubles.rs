//! Objects of a body with two fields of one name.

use interleaf_wire::{Family, Vendor, decode_request, lint};
use serde_json::{Value, json};

use super::examples::BODIES;

/// Values that are carried as they came.
const CARRIED: [&str; 8] = [
    "args",
    "parameters",
    "input_schema",
    "parametersJsonSchema",
    "json",
    "response",
    "schema",
    "cachePoint",
];

/// Bodies with what the examples lack.
fn more() -> Vec<(Family, Value)> {
    let gemini = json!({
        "system_instruction": {"parts": [{"text": "be brief"}]},
        "contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
            {"file_data": {"file_uri": "gs://a/b.png", "mime_type": "image/png"}}]}],
        "generation_config": {"max_output_tokens": 5, "thinking_config": {"thinking_budget": 5}},
        "tool_config": {"function_calling_config": {"mode": "ANY"}},
        "tools": [{"function_declarations": [{"name": "ls"}]}]});
    let bedrock = json!({
        "messages": [{"role": "user", "content": [{"text": "q"},
            {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}},
            {"document": {"format": "pdf", "name": "d", "source": {"s3Location": {"uri": "s3://a/b"}}}}]},
            {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "so"}}}, {"text": "a"}]},
            {"role": "user", "content": [{"text": "r"}]}],
        "toolConfig": {"toolChoice": {"tool": {"name": "ls"}},
            "tools": [{"toolSpec": {"name": "ls", "inputSchema": {"json": {"type": "object"}}}}]}});
    let anthropic = json!({"model": "m", "max_tokens": 9, "thinking": {"type": "enabled", "budget_tokens": 2000},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {}}},
        "messages": [{"role": "user", "content": "q"}]});
    let chat = json!({"model": "m", "stream_options": {"include_usage": true},
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
        "messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}},
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}]}]});
    let responses = json!({"model": "m", "reasoning": {"effort": "low"},
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {}}},
        "input": [{"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "so"}]},
            {"role": "assistant", "content": [{"type": "output_text", "text": "a"}]}]});
    vec![
        (Family::Gemini, gemini),
        (Family::Bedrock, bedrock),
        (Family::Anthropic, anthropic),
        (Family::OpenaiChat, chat),
        (Family::OpenaiResponses, responses),
    ]
}

/// The places of all objects that are not carried as they came.
fn objects(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.push(at.to_owned());
            for (name, value) in fields {
                let is_arguments = name == "input" && value.is_object();
                if !CARRIED.contains(&name.as_str()) && !is_arguments {
                    objects(value, &format!("{at}/{name}"), found);
                }
            }
        }
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                objects(value, &format!("{at}/{i}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn an_object_that_is_taken_apart_has_no_two_fields_of_one_name() {
    let examples = BODIES.map(|(family, body)| (family, serde_json::from_str(body).unwrap()));
    for (family, body) in examples.into_iter().chain(more()) {
        decode_request(family, &body.to_string()).unwrap_or_else(|e| panic!("{family}: {e}"));
        let mut places = Vec::new();
        objects(&body, "", &mut places);
        for place in places {
            let mut doubled = body.clone();
            let object = doubled.pointer_mut(&place).unwrap().as_object_mut().unwrap();
            let Some((name, value)) = object.iter().next() else { continue };
            let (name, value) = (name.clone(), value.clone());
            object.insert("THE DOUBLE".to_owned(), value);
            let text = doubled.to_string().replace("THE DOUBLE", &name);
            let read = decode_request(family, &text);
            assert!(read.is_err(), "{family}: two {name:?} at {place:?} are read");
            let linted = lint::lint(Vendor::of(family), &text);
            assert!(linted.is_err(), "{family}: two {name:?} at {place:?} are linted");
        }
    }
}
