//! What single models and vendors take.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

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
