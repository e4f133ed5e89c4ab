//! Settings of a type that the API does not take.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_wire::lint::{Fault, lint};
use interleaf_wire::{AdjustmentKind, Family, VENDORS, Vendor, decode_request, encode};
use serde_json::{Value, json};

use super::openai_chat::prompt;

/// A body that nothing is wrong with.
fn body(family: Family) -> Value {
    let messages = json!([{"role": "user", "content": "q"}]);
    match family {
        Family::OpenaiChat => json!({"model": "gpt-4.1", "messages": messages}),
        Family::OpenaiResponses => json!({"model": "gpt-4.1", "input": "q"}),
        Family::Anthropic => {
            json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages})
        }
        Family::Gemini => {
            json!({"contents": [{"role": "user", "parts": [{"text": "q"}]}], "generationConfig": {}})
        }
        Family::Bedrock => {
            json!({"messages": [{"role": "user", "content": [{"text": "q"}]}], "inferenceConfig": {}})
        }
    }
}

/// The settings that have a neutral word, as JSON pointers.
fn settings(family: Family) -> &'static [&'static str] {
    match family {
        Family::OpenaiChat => &[
            "/model",
            "/max_tokens",
            "/max_completion_tokens",
            "/temperature",
            "/top_p",
            "/stop",
            "/stream",
            "/parallel_tool_calls",
            "/prompt_cache_key",
            "/tool_choice",
            "/response_format",
            "/reasoning_effort",
        ],
        Family::OpenaiResponses => &[
            "/model",
            "/max_output_tokens",
            "/max_tokens",
            "/temperature",
            "/top_p",
            "/stream",
            "/parallel_tool_calls",
            "/prompt_cache_key",
            "/tool_choice",
        ],
        Family::Anthropic => &[
            "/model",
            "/max_tokens",
            "/temperature",
            "/top_p",
            "/top_k",
            "/stop_sequences",
            "/stream",
            "/thinking",
            "/tool_choice",
        ],
        Family::Gemini => &[
            "/model",
            "/generationConfig",
            "/generationConfig/maxOutputTokens",
            "/generationConfig/max_output_tokens",
            "/generationConfig/temperature",
            "/generationConfig/topP",
            "/generationConfig/topK",
            "/generationConfig/stopSequences",
            "/generationConfig/thinkingConfig",
        ],
        Family::Bedrock => &[
            "/modelId",
            "/inferenceConfig",
            "/toolConfig",
            "/outputConfig",
            "/additionalModelRequestFields",
            "/inferenceConfig/maxTokens",
            "/inferenceConfig/temperature",
            "/inferenceConfig/topP",
            "/inferenceConfig/stopSequences",
        ],
    }
}

fn values() -> Vec<Value> {
    let texts = ["[1]", r#"["a", 1]"#, "1e2", "1e30", "99999999999999999999"];
    let odd = texts.into_iter().map(|text| serde_json::from_str(text).unwrap());
    let plain = [
        json!(null),
        json!(true),
        json!("true"),
        json!("100"),
        json!("-3"),
        json!(-1),
        json!(-0.5),
        json!(100.5),
        json!(100.0),
        json!(64),
        json!([]),
        json!(["a"]),
        json!({"a": 1}),
    ];
    plain.into_iter().chain(odd).collect()
}

fn with(family: Family, place: &str, value: &Value) -> String {
    let mut body = body(family);
    let (outer, name) = place.rsplit_once('/').unwrap();
    body.pointer_mut(outer).unwrap()[name] = value.clone();
    body.to_string()
}

fn is_at(fault: &Fault, place: &str) -> bool {
    fault
        .pointer
        .strip_prefix(place)
        .is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

#[test]
fn a_setting_that_the_reader_refuses_is_found_there_and_any_other_is_mended() {
    for vendor in VENDORS.iter() {
        let family = vendor.family;
        for place in settings(family) {
            for value in values() {
                let text = with(family, place, &value);
                let faults = lint(vendor, &text).unwrap();
                let has_wrong_type =
                    faults.iter().any(|fault| fault.rule.id.ends_with("/setting-type"));
                match decode_request(family, &text) {
                    Err(refused) => {
                        let is_found = faults.iter().any(|fault| is_at(fault, place));
                        assert!(is_found, "{}: {text}: {refused}, but {faults:?}", vendor.name);
                    }
                    Ok(request) => {
                        assert!(!has_wrong_type, "{}: {text} is read, but {faults:?}", vendor.name);
                        let mut options = request.options;
                        if options.model.is_empty() {
                            options.model = "m".into();
                        }
                        let prompt = prompt(&request.messages, request.tools);
                        let made = encode(&prompt, vendor, &options).unwrap().to_bytes();
                        let written = std::str::from_utf8(&made).unwrap();
                        let left = lint(vendor, written).unwrap();
                        assert_eq!(left, [], "{}: {text} is written as {written}", vendor.name);
                    }
                }
            }
        }
    }
}

#[test]
fn a_setting_of_another_type_is_found_and_refused_with_its_place() {
    use Family::{Anthropic, Bedrock, Gemini, OpenaiChat, OpenaiResponses};
    let table = [
        (OpenaiChat, "/stream", json!("true"), "stream", "must be true or false, not a string"),
        (
            OpenaiChat,
            "/max_tokens",
            json!(-1),
            "max_tokens",
            "must be a whole number of 0 or more, not -1",
        ),
        (
            OpenaiChat,
            "/stop",
            json!({"a": 1}),
            "stop",
            "must be a string or a list of strings, not an object",
        ),
        (OpenaiResponses, "/stream", json!(1), "stream", "must be true or false, not a number"),
        (
            Anthropic,
            "/max_tokens",
            json!(-3),
            "max_tokens",
            "must be a whole number of 0 or more, not -3",
        ),
        (
            Gemini,
            "/generationConfig/stopSequences",
            json!("x"),
            "generationConfig.stopSequences",
            "must be a list of strings, not a string",
        ),
        (
            Bedrock,
            "/inferenceConfig/stopSequences",
            json!(["x", 2]),
            "inferenceConfig.stopSequences[1]",
            "must be a string, not a number",
        ),
    ];
    for (family, place, value, path, rule) in table {
        let text = with(family, place, &value);
        let refused = decode_request(family, &text).unwrap_err();
        assert_eq!((&*refused.place().path, refused.message()), (path, rule), "{family}");
        let [fault] = &lint(Vendor::of(family), &text).unwrap()[..] else {
            panic!("{family}: one finding")
        };
        assert_eq!((fault.rule.id, &*fault.detail), (&*format!("{family}/setting-type"), rule));
        assert!(is_at(fault, place), "{family}: {}", fault.pointer);
    }
}

#[test]
fn a_number_out_of_range_is_changed_on_bedrock_and_what_is_no_number_is_left_out() {
    let table = [
        (json!(1.5), AdjustmentKind::OptionChanged, Some(json!(1))),
        (json!(-2), AdjustmentKind::OptionChanged, Some(json!(0))),
        (json!("warm"), AdjustmentKind::OptionDropped, None),
    ];
    for (value, kind, sent) in table {
        let text = with(Family::Bedrock, "/inferenceConfig/temperature", &value);
        let request = decode_request(Family::Bedrock, &text).unwrap();
        let prompt = prompt(&request.messages, request.tools);
        let made = encode(&prompt, Vendor::of(Family::Bedrock), &request.options).unwrap();
        let kinds: Vec<AdjustmentKind> = made.adjustments.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [kind], "{value}");
        let written: Value = serde_json::from_slice(&made.to_bytes()).unwrap();
        assert_eq!(written.pointer("/inferenceConfig/temperature"), sent.as_ref(), "{value}");
    }
}
