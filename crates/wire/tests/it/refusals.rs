//! Bodies that APIs are known to refuse: lint finds them, and none is written.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_model::{Message, Tool};
use interleaf_wire::lint::lint;
use interleaf_wire::{AdjustmentKind, Encoded, Family, Options, Vendor, decode_request, encode};
use serde_json::{Value, json};

use super::openai_chat::prompt;

fn found(family: Family, body: &Value) -> Vec<(&'static str, String)> {
    let faults = lint(Vendor::of(family), &body.to_string()).unwrap();
    faults.into_iter().map(|fault| (fault.rule.id, fault.pointer)).collect()
}

/// A body read and written again, for this model.
fn rewritten(from: Family, body: &Value, to: Family) -> (Encoded, Value) {
    let request = decode_request(from, &body.to_string()).unwrap();
    let messages = request.messages;
    let made = encode(&prompt(&messages, request.tools), Vendor::of(to), &request.options).unwrap();
    let text = made.to_bytes();
    assert_eq!(lint(Vendor::of(to), std::str::from_utf8(&text).unwrap()).unwrap(), []);
    let value = serde_json::from_slice(&text).unwrap();
    (made, value)
}

fn question(model: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": "q"}]})
}

#[test]
fn a_reasoning_model_takes_no_max_tokens_and_no_model_takes_both_limits() {
    for model in ["gpt-5", "gpt-5-mini", "gpt-5.1", "o3", "openai/gpt-5"] {
        let mut body = question(model);
        body["max_tokens"] = json!(64);
        let expected = [("openai-chat/max-tokens", "/max_tokens".to_owned())];
        assert_eq!(found(Family::OpenaiChat, &body), expected, "{model}");
        let (_, written) = rewritten(Family::OpenaiChat, &body, Family::OpenaiChat);
        assert_eq!(
            (&written["max_completion_tokens"], written.get("max_tokens")),
            (&json!(64), None)
        );
    }
    let mut body = question("gpt-4o");
    body["max_tokens"] = json!(64);
    assert_eq!(found(Family::OpenaiChat, &body), []);
    body["max_completion_tokens"] = json!(32);
    let expected = [("openai-chat/max-tokens", "/max_tokens".to_owned())];
    assert_eq!(found(Family::OpenaiChat, &body), expected);
}

#[test]
fn of_temperature_and_top_p_one_goes_to_claude_and_the_default_gives_way() {
    let table = [
        ("claude-sonnet-4-5", 0.5, "top_p"),
        ("claude-opus-4-1-20250805", 0.5, "top_p"),
        ("claude-haiku-4-5", 1.0, "temperature"),
        ("claude-opus-4-5", 1.0, "temperature"),
        ("claude-sonnet-4-6", 0.0, "top_p"),
    ];
    for (model, temperature, dropped) in table {
        let mut body = question(model);
        body["max_tokens"] = json!(64);
        (body["temperature"], body["top_p"]) = (json!(temperature), json!(0.9));
        let expected = [("anthropic/one-sampling", format!("/{dropped}"))];
        assert_eq!(found(Family::Anthropic, &body), expected, "{model}");
        for to in [Family::Anthropic, Family::Bedrock] {
            let (made, written) = rewritten(Family::Anthropic, &body, to);
            let settings =
                if to == Family::Bedrock { &written["inferenceConfig"] } else { &written };
            let kept =
                [settings.get("temperature"), settings.get("top_p").or(settings.get("topP"))];
            assert_eq!(kept.iter().flatten().count(), 1, "{model} on {to}: {written}");
            assert_eq!(kept[0].is_none(), dropped == "temperature", "{model} on {to}");
            let told = made.adjustments.iter().any(|adjustment| {
                adjustment.kind == AdjustmentKind::OptionDropped
                    && adjustment.detail.starts_with(dropped)
            });
            assert!(told, "{model} on {to}: {:?}", made.adjustments);
        }
    }
    let mut body = question("claude-sonnet-4-0");
    (body["max_tokens"], body["temperature"], body["top_p"]) = (json!(9), json!(0.5), json!(0.9));
    assert_eq!(found(Family::Anthropic, &body), []);
}

#[test]
fn an_array_without_items_is_found_and_given_some_at_any_depth() {
    let schema = json!({"type": "object", "properties": {
        "plain": {"type": "array", "items": {"type": "string"}},
        "open": {"type": "array"},
        "deep": {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": ["array", "null"]}}}},
        "choice": {"anyOf": [{"type": "string"}, {"type": "array"}]},
        // A property of this name is no keyword, nor is a value an array's schema.
        "items": {"enum": [{"type": "array"}]},
    }, "$defs": {"a/b": {"type": "array"}}});
    let expected = [
        "/properties/open",
        "/properties/deep/properties/rows/items",
        "/properties/choice/anyOf/1",
        "/$defs/a~1b",
    ];
    let tool = Tool::new("f", "d", schema);
    for (family, at) in [
        (Family::OpenaiChat, "/tools/0/function/parameters"),
        (Family::OpenaiResponses, "/tools/0/parameters"),
    ] {
        let made = encode(
            &prompt(&[Message::user("q")], vec![tool.clone()]),
            Vendor::of(family),
            &Options::model("gpt-4.1"),
        )
        .unwrap();
        let mut body: Value = serde_json::from_slice(&made.to_bytes()).unwrap();
        assert_eq!(found(family, &body), []);
        let told = made.adjustments.iter().any(|one| one.kind == AdjustmentKind::SchemaChanged);
        assert!(told, "{:?}", made.adjustments);
        for place in expected {
            let array = body.pointer_mut(&format!("{at}{place}")).unwrap();
            assert_eq!(array.as_object_mut().unwrap().shift_remove("items"), Some(json!({})));
        }
        let rule = format!("{family}/array-items");
        let places: Vec<(&str, String)> =
            expected.iter().map(|place| (rule.as_str(), format!("{at}{place}"))).collect();
        assert_eq!(found(family, &body), places);
    }
}

#[test]
fn a_strict_schema_says_what_its_arrays_hold() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "array"}},
                        "required": ["a"], "additionalProperties": false});
    let tool = Tool { strict: Some(true), ..Tool::new("f", "d", schema) };
    for family in [Family::OpenaiChat, Family::OpenaiResponses] {
        let prompt = prompt(&[Message::user("q")], vec![tool.clone()]);
        let made = encode(&prompt, Vendor::of(family), &Options::model("gpt-4.1")).unwrap();
        let body = String::from_utf8(made.to_bytes()).unwrap();
        assert!(!body.contains(r#""strict":true"#), "{body}");
    }
}

#[test]
fn messages_without_a_body_are_checked_as_those_of_their_family() {
    let table = [
        (
            Family::OpenaiChat,
            json!([{"role": "user", "content": "q"}, {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}]),
            ("openai-chat/body", "openai-chat/unanswered-call"),
        ),
        (
            Family::Anthropic,
            json!([{"role": "user", "content": "q"}, {"role": "assistant", "content": [
                {"type": "tool_use", "id": "c1", "name": "f", "input": {}}]}]),
            ("anthropic/body-form", "anthropic/calls-answered"),
        ),
    ];
    for (family, list, (body, inside)) in table {
        let found = found(family, &list);
        assert_eq!(found[0], (body, String::new()), "{found:?}");
        let (rule, pointer) = &found[1];
        assert!(*rule == inside && pointer.starts_with("/1"), "{found:?}");
    }
    for family in Family::ALL {
        assert_eq!(found(family, &json!([])).len(), 1, "{family}");
    }
}

#[test]
fn what_continues_an_answer_that_only_openai_has_goes_nowhere_else() {
    let body = json!({"model": "gpt-5", "previous_response_id": "resp_1", "input": "and then?"});
    let request = decode_request(Family::OpenaiResponses, &body.to_string()).unwrap();
    for family in Family::ALL {
        let made = encode(&prompt(&request.messages, vec![]), Vendor::of(family), &request.options);
        match family {
            Family::OpenaiResponses => assert!(made.is_ok()),
            _ => {
                let error = made.unwrap_err().to_string();
                assert!(error.contains("`previous_response_id`"), "{error}");
            }
        }
    }
}

#[test]
fn fields_that_mean_the_same_elsewhere_are_carried() {
    let mut chat = question("gpt-4.1");
    (chat["user"], chat["metadata"], chat["seed"]) = (json!("u1"), json!({"k": "v"}), json!(7));
    let (made, written) = rewritten(Family::OpenaiChat, &chat, Family::OpenaiResponses);
    assert_eq!((&written["user"], &written["metadata"]), (&json!("u1"), &json!({"k": "v"})));
    let left_out: Vec<&str> = made.adjustments.iter().map(|one| one.detail.as_str()).collect();
    assert_eq!(left_out, ["seed"]);
    let (_, back) = rewritten(Family::OpenaiResponses, &written, Family::OpenaiChat);
    assert_eq!((&back["user"], &back["metadata"]), (&json!("u1"), &json!({"k": "v"})));
    let (_, written) = rewritten(Family::OpenaiChat, &chat, Family::Gemini);
    assert_eq!(written["generationConfig"]["seed"], json!(7));
    chat["seed"] = json!(1_u64 << 40);
    let (_, written) = rewritten(Family::OpenaiChat, &chat, Family::Gemini);
    assert_eq!(written.get("generationConfig"), None);
}

#[test]
fn a_model_that_a_body_names_beside_its_address_is_named_again() {
    let gemini = json!({"model": "models/gemini-3-pro", "contents": [{"role": "user", "parts": [{"text": "q"}]}]});
    let bedrock = json!({"modelId": "amazon.nova-pro-v1:0", "messages": [{"role": "user", "content": [{"text": "q"}]}]});
    for (family, field, body) in
        [(Family::Gemini, "model", &gemini), (Family::Bedrock, "modelId", &bedrock)]
    {
        let (_, written) = rewritten(family, body, family);
        assert_eq!(written[field], body[field]);
        let mut request = decode_request(family, &body.to_string()).unwrap();
        request.options.model = "another".into();
        let made = encode(&prompt(&request.messages, vec![]), Vendor::of(family), &request.options);
        let written: Value = serde_json::from_slice(&made.unwrap().to_bytes()).unwrap();
        assert_eq!(written[field], json!("another"), "{family}");
        let (made, _) = rewritten(family, body, Family::OpenaiChat);
        assert_eq!(made.adjustments, [], "{family}");
    }
}

#[test]
fn more_tools_than_the_api_takes_are_told_and_never_written_where_it_is_the_vendors_own() {
    let tool = |n| json!({"type": "function", "function": {"name": format!("tool{n}")}});
    let with = |n: usize| {
        let mut body = question("gpt-4.1");
        body["tools"] = (0..n).map(tool).collect();
        body
    };
    assert_eq!(found(Family::OpenaiChat, &with(128)), []);
    let limit = [("openai-chat/functions-limit", "/tools".to_owned())];
    assert_eq!(found(Family::OpenaiChat, &with(129)), limit);
    let mut old = question("gpt-4.1");
    old["functions"] = (0..129).map(|n| json!({"name": format!("f{n}")})).collect();
    let limit = [("openai-chat/functions-limit", "/functions".to_owned())];
    assert_eq!(found(Family::OpenaiChat, &old), limit);

    // A tool that is no function counts too.
    let mut body = with(128);
    let custom = json!({"type": "custom", "custom": {"name": "last"}});
    body["tools"].as_array_mut().unwrap().push(custom);
    let request = decode_request(Family::OpenaiChat, &body.to_string()).unwrap();
    let prompt = prompt(&request.messages, request.tools);
    for (vendor, expected) in [("openai", Err(())), ("azure", Err(())), ("vllm", Ok(()))] {
        let made = encode(&prompt, Vendor::named(vendor).unwrap(), &request.options);
        assert_eq!(made.as_ref().map(|_| ()).map_err(|_| ()), expected, "{vendor}");
        if let Err(error) = made {
            let told = error.to_string();
            assert!(told.contains("at most 128 tools") && told.contains("129"), "{told}");
            assert!(told.contains("openai-chat/functions-limit"), "{told}");
        }
    }
    let vllm = Vendor::named("vllm").unwrap();
    assert_eq!(lint(vllm, &with(129).to_string()).unwrap(), []);
}

#[test]
fn an_answer_of_no_tokens_is_asked_for_only_where_the_api_takes_that() {
    let bodies = [
        (
            Family::OpenaiChat,
            "/max_completion_tokens",
            1,
            json!({"model": "gpt-5", "max_completion_tokens": 0, "messages": [{"role": "user", "content": "q"}]}),
        ),
        (
            Family::OpenaiResponses,
            "/max_output_tokens",
            16,
            json!({"model": "gpt-5", "max_output_tokens": 0, "input": "q"}),
        ),
        // It fills the cache and says nothing.
        (
            Family::Anthropic,
            "/max_tokens",
            0,
            json!({"model": "claude-sonnet-4-5", "max_tokens": 0, "messages": [{"role": "user", "content": "q"}]}),
        ),
        (
            Family::Gemini,
            "/generationConfig/maxOutputTokens",
            1,
            json!({"generationConfig": {"maxOutputTokens": 0}, "contents": [{"role": "user", "parts": [{"text": "q"}]}]}),
        ),
        (
            Family::Bedrock,
            "/inferenceConfig/maxTokens",
            1,
            json!({"inferenceConfig": {"maxTokens": 0}, "messages": [{"role": "user", "content": [{"text": "q"}]}]}),
        ),
    ];
    for (family, at, least, body) in bodies {
        let faults = found(family, &body);
        let places: Vec<&str> = faults.iter().map(|(_, place)| place.as_str()).collect();
        assert_eq!(places, if least == 0 { vec![] } else { vec![at] }, "{family}: {faults:?}");
        let (made, written) = rewritten(family, &body, family);
        assert_eq!(written.pointer(at), Some(&json!(least)), "{family}: {written}");
        let told = made.adjustments.iter().any(|adjustment| {
            adjustment.kind == AdjustmentKind::OptionChanged
                && adjustment.detail == format!("max_tokens: raised to {least}")
        });
        assert_eq!(told, least > 0, "{family}: {:?}", made.adjustments);
    }
    let mut body = question("m");
    body["max_tokens"] = json!(0);
    let vllm = Vendor::named("vllm").unwrap();
    assert_eq!(lint(vllm, &body.to_string()).unwrap(), [], "what it does then is not known");
}
