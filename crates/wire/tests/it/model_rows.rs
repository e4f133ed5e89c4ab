//! What single models and vendors take.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_wire::lint::lint;
use interleaf_wire::{Family, Options, Vendor, decode_request, encode};
use serde_json::{Value, json};

use super::openai_chat::prompt;

/// The body for a model, of a body in the form of chat; and what was changed.
fn written(vendor: &Vendor, model: &str, body: &Value) -> (Value, String) {
    let mut request = decode_request(Family::OpenaiChat, &body.to_string()).unwrap();
    request.options.model = model.into();
    let options: Options = request.options;
    let encoded = encode(&prompt(&request.messages, request.tools), vendor, &options).unwrap();
    let body = serde_json::from_slice(&encoded.to_bytes()).unwrap();
    (body, format!("{:?}", encoded.adjustments))
}

fn asked(name: &str, value: &Value) -> Value {
    json!({"messages": [{"role": "user", "content": "q"}], name: value})
}

#[test]
fn a_temperature_that_is_no_number_or_out_of_range_is_left_out_and_told() {
    for family in Family::ALL {
        for temperature in [json!(7), json!(-1), json!("hot")] {
            let body = asked("temperature", &temperature);
            let (body, told) = written(Vendor::of(family), "a-model", &body);
            assert!(!body.to_string().contains(&temperature.to_string()), "{family}: {body}");
            assert!(told.contains("temperature"), "{family}: {told}");
        }
        let (body, _) = written(Vendor::of(family), "a-model", &asked("temperature", &json!(0.5)));
        assert!(body.to_string().contains("0.5"), "{family}: {body}");
    }
}

#[test]
fn no_temperature_stands_beside_thinking_on_bedrock() {
    let mut body = asked("temperature", &json!(0.5));
    body["reasoning_effort"] = json!("low");
    let bedrock = Vendor::of(Family::Bedrock);
    let (body, told) = written(bedrock, "anthropic.claude-sonnet-4-5", &body);
    assert!(body["additionalModelRequestFields"]["thinking"].is_object(), "{body}");
    assert!(body["inferenceConfig"]["temperature"].is_null(), "{body}");
    assert!(told.contains("temperature"), "{told}");
}

#[test]
fn an_effort_goes_to_models_that_have_one_and_to_no_others() {
    let table = [
        (Family::OpenaiChat, "gpt-35-turbo", false),
        (Family::OpenaiChat, "gpt-4o", false),
        (Family::OpenaiChat, "gpt-5", true),
        (Family::OpenaiChat, "gpt-oss-120b", true),
        (Family::OpenaiResponses, "o3", true),
        (Family::Anthropic, "claude-3-5-sonnet-latest", false),
        (Family::Anthropic, "claude-3-7-sonnet-latest", true),
        (Family::Gemini, "gemini-2.0-flash", false),
        (Family::Gemini, "gemini-2.5-flash", true),
        (Family::Bedrock, "amazon.nova-pro-v1:0", false),
        (Family::Bedrock, "anthropic.claude-sonnet-4-5", true),
    ];
    for (family, model, has_effort) in table {
        let (body, told) =
            written(Vendor::of(family), model, &asked("reasoning_effort", &json!("low")));
        let text = body.to_string();
        let words = ["effort", "thinking"];
        assert_eq!(words.iter().any(|word| text.contains(word)), has_effort, "{model}: {body}");
        assert_eq!(told.contains("thinking: "), !has_effort, "{model}: {told}");
    }
    let (body, _) =
        written(Vendor::of(Family::OpenaiChat), "gpt-35-turbo", &asked("temperature", &json!(0.5)));
    assert_eq!(body["temperature"], 0.5);
}

#[test]
fn a_form_of_the_answer_stands_beside_functions_only_where_the_model_takes_both() {
    let mut body = asked("response_format", &json!({"type": "json_object"}));
    body["tools"] = json!([{"type": "function", "function": {"name": "f"}}]);
    let gemini = Vendor::of(Family::Gemini);
    for (model, has_format) in [("gemini-2.5-pro", false), ("gemini-3-pro", true)] {
        let (body, told) = written(gemini, model, &body);
        let format = &body["generationConfig"]["responseMimeType"];
        assert_eq!(!format.is_null(), has_format, "{model}: {body}");
        assert_eq!(told.contains("response_format"), !has_format, "{model}: {told}");
    }
}

#[test]
fn fields_that_a_vendor_refuses_do_not_reach_it() {
    let body = json!({"messages": [
        {"role": "user", "name": "ann", "content": [
            {"type": "text", "text": "q", "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": "a", "provider_specific_fields": {"b": 1}},
        {"role": "user", "content": "r"}]});
    for (vendor, takes_them) in [("groq", false), ("mistral", false), ("openai", true)] {
        let (body, told) = written(Vendor::named(vendor).unwrap(), "m", &body);
        let text = body.to_string();
        for field in ["cache_control", "provider_specific_fields"] {
            assert_eq!(text.contains(field), takes_them, "{vendor} {field}: {body}");
        }
        assert_eq!(body["messages"][0]["name"], "ann");
        assert_eq!(told.contains("fields that the vendor refuses"), !takes_them, "{told}");
    }
}

/// The body that asks a model for what it does not take, the rule that it breaks, and what
/// the encoder says when it leaves that out.
///
/// Not here, because a body of these vendors shows no model: what the address names (a
/// Gemini or Bedrock model that the body does not repeat).
fn rows() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let chat = |more: Value| with(json!({"messages": [{"role": "user", "content": "q"}]}), more);
    let responses = |more: Value| with(json!({"input": "q"}), more);
    let claude =
        |more| with(chat(json!({"model": "claude-3-5-haiku-latest", "max_tokens": 99})), more);
    let google = |config: Value| {
        let contents = json!([{"role": "user", "parts": [{"text": "q"}]}]);
        json!({"contents": contents, "generationConfig": config})
    };
    let amazon = |model: &str, more: Value| {
        let messages = json!([{"role": "user", "content": [{"text": "q"}]}]);
        with(json!({"modelId": model, "messages": messages}), more)
    };
    let thinks = json!({"thinking": {"type": "enabled", "budget_tokens": 1024}});
    let function = json!([{"functionDeclarations": [{"name": "f"}]}]);
    let marked = json!({"messages": [{"role": "user", "content": "q", "cache_control": {}}]});
    let gemini = |model: &str, config: Value| with(google(config), json!({"model": model}));
    vec![
        (
            "openai",
            chat(json!({"model": "gpt-4o", "reasoning_effort": "low"})),
            "effort",
            "thinking",
        ),
        ("openai", chat(json!({"model": "o3", "reasoning_effort": "none"})), "effort", "thinking"),
        ("openai", chat(json!({"model": "o3", "temperature": 0.5})), "sampling", "temperature"),
        (
            "openai",
            chat(json!({"model": "gpt-5.2", "top_p": 0.5, "reasoning_effort": "low"})),
            "sampling",
            "top_p",
        ),
        (
            "openai",
            chat(json!({"model": "gpt-5.2-codex", "temperature": 0.5})),
            "sampling",
            "temperature",
        ),
        ("openai", chat(json!({"model": "o3", "stop": ["x"]})), "stop", "stop"),
        (
            "openai",
            chat(json!({"model": "m", "temperature": "hot"})),
            "sampling-range",
            "temperature",
        ),
        ("groq", with(marked.clone(), json!({"model": "m"})), "known-fields", "vendor refuses"),
        ("mistral", with(marked, json!({"model": "m"})), "known-fields", "vendor refuses"),
        (
            "openai-responses",
            responses(json!({"model": "gpt-4.1", "reasoning": {"effort": "low"}})),
            "effort",
            "thinking",
        ),
        (
            "openai-responses",
            responses(json!({"model": "m", "temperature": 7})),
            "sampling-range",
            "temperature",
        ),
        (
            "openai-responses",
            responses(json!({"model": "o3", "temperature": 0.5})),
            "sampling",
            "temperature",
        ),
        (
            "openai-responses",
            responses(json!({"model": "gpt-5.6", "top_p": 0.5})),
            "sampling",
            "top_p",
        ),
        ("anthropic", claude(json!({"temperature": 7})), "sampling", "temperature"),
        ("anthropic", claude(thinks.clone()), "thinking-mode", "thinking"),
        ("anthropic", claude(json!({"output_config": {"effort": "low"}})), "effort", "thinking"),
        (
            "google",
            gemini("gemini-2.0-flash", json!({"thinkingConfig": {"thinkingBudget": 9}})),
            "thinking-config",
            "thinking",
        ),
        (
            "google",
            gemini("gemini-2.5-pro", json!({"thinkingConfig": {"thinkingLevel": "LOW"}})),
            "thinking-config",
            "effort",
        ),
        ("google", google(json!({"temperature": 7})), "sampling-range", "temperature"),
        (
            "google",
            with(
                gemini("gemini-2.5-pro", json!({"responseMimeType": "application/json"})),
                json!({"tools": function}),
            ),
            "format-with-functions",
            "response_format",
        ),
        (
            "bedrock",
            amazon("amazon.nova-pro-v1:0", json!({"additionalModelRequestFields": thinks})),
            "thinking",
            "thinking",
        ),
        (
            "bedrock",
            amazon(
                "anthropic.claude-sonnet-4-5",
                json!({"inferenceConfig": {"maxTokens": 4096, "temperature": 0.5},
                    "additionalModelRequestFields": thinks}),
            ),
            "sampling",
            "temperature",
        ),
        (
            "bedrock",
            amazon("a-model", json!({"inferenceConfig": {"temperature": 7}})),
            "inference-config",
            "temperature",
        ),
    ]
}

fn with(mut body: Value, more: Value) -> Value {
    let more = more.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(more);
    body
}

#[test]
fn what_the_encoder_leaves_out_for_a_model_is_a_finding_in_a_body_that_has_it() {
    for (vendor, body, rule, told) in rows() {
        let vendor = Vendor::named(vendor).unwrap();
        let found = lint(vendor, &body.to_string()).unwrap();
        let expected = format!("{}/{rule}", vendor.family);
        let ids: Vec<&str> = found.iter().map(|fault| fault.rule.id).collect();
        assert!(ids.contains(&&*expected), "{expected} is not in {ids:?} of {body}");

        let request = decode_request(vendor.family, &body.to_string()).unwrap();
        let prompt = prompt(&request.messages, request.tools);
        let encoded = encode(&prompt, vendor, &request.options).unwrap();
        let said = format!("{:?}", encoded.adjustments);
        assert!(said.contains(told), "{body}: {said}");
        let mended = String::from_utf8(encoded.to_bytes()).unwrap();
        assert_eq!(lint(vendor, &mended).unwrap(), [], "{mended}");
    }
}

/// A model that can be told not to think takes sampling settings when it does not.
#[test]
fn sampling_is_kept_where_the_model_does_not_think() {
    let table = [
        ("gpt-4.1", None),
        ("gpt-5.1", None),
        ("gpt-5.2", Some("none")),
        ("gpt-5.6", Some("none")),
        ("a-model", Some("high")),
    ];
    for (model, effort) in table {
        let messages = json!([{"role": "user", "content": "q"}]);
        let mut chat = json!({"model": model, "messages": messages, "temperature": 0.5});
        let mut responses = json!({"model": model, "input": messages, "temperature": 0.5});
        if let Some(effort) = effort {
            chat["reasoning_effort"] = json!(effort);
            responses["reasoning"] = json!({"effort": effort});
        }
        for (vendor, body) in [("openai", chat), ("openai-responses", responses)] {
            let vendor = Vendor::named(vendor).unwrap();
            assert_eq!(lint(vendor, &body.to_string()).unwrap(), [], "{body}");
            let request = decode_request(vendor.family, &body.to_string()).unwrap();
            let prompt = prompt(&request.messages, request.tools);
            let encoded = encode(&prompt, vendor, &request.options).unwrap();
            let again: Value = serde_json::from_slice(&encoded.to_bytes()).unwrap();
            assert_eq!(again["temperature"], 0.5, "{body}");
            assert_eq!(encoded.adjustments, [], "{body}");
        }
    }
}

#[test]
fn unsigned_thinking_goes_back_to_the_models_of_bedrock_that_take_it_and_is_told_elsewhere() {
    let table = [
        ("amazon.nova-2-lite-v1:0", true),
        ("minimax.minimax-m2", true),
        ("deepseek.r1-v1:0", false),
        ("anthropic.claude-sonnet-4-5", false),
        ("a-model", false),
    ];
    for (model, goes_back) in table {
        let thought = json!({"reasoningContent": {"reasoningText": {"text": "why"}}});
        let body = json!({"modelId": model, "messages": [
            {"role": "user", "content": [{"text": "q"}]},
            {"role": "assistant", "content": [thought, {"text": "a"}]},
            {"role": "user", "content": [{"text": "r"}]}]});
        let request = decode_request(Family::Bedrock, &body.to_string()).unwrap();
        let prompt = prompt(&request.messages, request.tools);
        let encoded = encode(&prompt, Vendor::of(Family::Bedrock), &request.options).unwrap();
        let body: Value = serde_json::from_slice(&encoded.to_bytes()).unwrap();
        let first = &body["messages"][1]["content"][0];
        assert_eq!(*first == thought, goes_back, "{model}: {body}");
        let told = format!("{:?}", encoded.adjustments);
        assert_eq!(told.contains("it has no signature"), !goes_back, "{model}: {told}");
    }
}

#[test]
fn reasoning_without_an_id_does_not_go_back_to_responses_and_is_told() {
    let body = json!({"model": "gpt-5", "input": [
        {"role": "user", "content": "q"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "why"}]},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "r"}]});
    let request = decode_request(Family::OpenaiResponses, &body.to_string()).unwrap();
    let prompt = prompt(&request.messages, request.tools);
    let vendor = Vendor::of(Family::OpenaiResponses);
    let encoded = encode(&prompt, vendor, &request.options).unwrap();
    assert!(!String::from_utf8(encoded.to_bytes()).unwrap().contains("why"));
    let told = format!("{:?}", encoded.adjustments);
    assert!(told.contains("it has no id of this API"), "{told}");
}

#[test]
fn a_blank_user_text_goes_as_it_is_to_those_who_take_it() {
    let blank = json!({"type": "text", "text": "  "});
    for content in [json!("  "), json!([blank, blank])] {
        let body = json!({"messages": [{"role": "user", "content": content}]});
        for family in [Family::OpenaiChat, Family::OpenaiResponses, Family::Gemini] {
            let (body, told) = written(Vendor::of(family), "m", &body);
            assert!(body.to_string().contains("\"  \""), "{family}: {body}");
            assert_eq!(told, "[]", "{family}");
        }
    }
}
