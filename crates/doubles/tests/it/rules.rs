//! Each rule refuses a body, and takes one that differs in what the rule is about.

use std::collections::BTreeSet;

use interleaf_doubles::{Answer, Api, Asked, Double, Settings, rule_names, verdict};
use serde_json::{Value, json};

use crate::client::{post, send, send_with};
use crate::fixtures::{bodies, model};

type Case = (&'static str, Value, Value);

/// A body with other fields.
fn with(body: &Value, more: &Value) -> Value {
    let mut body = body.clone();
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn chat() -> Vec<Case> {
    let plain = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello."}]});
    let tools = json!([{"type": "function", "function": {"name": "ls"}}]);
    vec![
        ("fields_are_known", with(&plain, &json!({"top_k": 3})), plain.clone()),
        (
            "functions_have_names",
            with(&plain, &json!({"messages": [{"role": "function", "content": "src"}]})),
            with(
                &plain,
                &json!({"messages": [{"role": "function", "name": "ls", "content": "src"}]}),
            ),
        ),
        (
            "a_choice_needs_tools",
            with(&plain, &json!({"tool_choice": "auto"})),
            with(&plain, &json!({"tool_choice": "auto", "tools": tools})),
        ),
    ]
}

fn responses() -> Vec<Case> {
    let plain = json!({"model": "gpt-4o", "input": "Hello."});
    let call = json!({"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"});
    let output = json!({"type": "function_call_output", "call_id": "c", "output": "src"});
    let items = |items: Value| json!({"model": "gpt-4o", "input": items});
    let made = |id: &str| with(&call, &json!({ "id": id }));
    let thought = json!({"type": "reasoning", "id": "rs_0123456789ab00", "summary": []});
    vec![
        ("fields_are_known", with(&plain, &json!({"top_k": 3})), plain.clone()),
        ("call_ids_differ", items(json!([call, call, output])), items(json!([call, output]))),
        (
            "a_call_has_one_output",
            items(json!([call, output, output])),
            items(json!([call, output])),
        ),
        (
            "items_keep_their_thought",
            items(json!([made("fc_0123456789ab01r00"), output])),
            items(json!([thought, made("fc_0123456789ab01r00"), output])),
        ),
    ]
}

fn anthropic() -> Vec<Case> {
    let ask = json!({"role": "user", "content": "Hello."});
    let plain = json!({"model": "claude-sonnet-4-5", "max_tokens": 4000, "messages": [ask]});
    let newer = with(&plain, &json!({"model": "claude-opus-4-6"}));
    let note = json!({"role": "system", "content": "Be brief."});
    let of =
        |messages: Value| with(&plain, &json!({"model": "claude-opus-4-8", "messages": messages}));
    let tools = json!([{"name": "ls", "input_schema": {"type": "object"}}]);
    let think = json!({"type": "enabled", "budget_tokens": 1024});
    let forced = json!({"tools": tools, "tool_choice": {"type": "any"}});
    vec![
        ("the_body_is_an_object", json!([]), plain.clone()),
        (
            "content_has_a_form",
            with(&plain, &json!({"messages": [{"role": "user", "content": 7}]})),
            plain.clone(),
        ),
        ("system_messages_have_their_place", of(json!([ask, note, ask])), of(json!([ask, note]))),
        (
            "thinking_leaves_the_choice_free",
            with(&with(&plain, &forced), &json!({ "thinking": think })),
            with(&plain, &forced),
        ),
        (
            "sampling_is_in_range",
            with(&plain, &json!({"temperature": 1.5})),
            with(&plain, &json!({"temperature": 0.5})),
        ),
        (
            "efforts_are_known",
            with(&newer, &json!({"output_config": {"effort": "huge"}})),
            with(&newer, &json!({"output_config": {"effort": "low"}})),
        ),
    ]
}

fn gemini() -> Vec<Case> {
    let plain = json!({"contents": [{"role": "user", "parts": [{"text": "Hello."}]}]});
    vec![
        ("the_body_is_an_object", json!("text"), plain.clone()),
        (
            "settings_are_known",
            with(&plain, &json!({"generationConfig": {"max_tokens": 3}})),
            with(&plain, &json!({"generation_config": {"max_output_tokens": 3}})),
        ),
    ]
}

fn bedrock() -> Vec<Case> {
    let ask = json!({"role": "user", "content": [{"text": "Hello."}]});
    let said = json!({"role": "assistant", "content": [{"text": "Well"}]});
    let plain = json!({"modelId": "anthropic.claude-opus-4-6-v1:0", "messages": [ask]});
    let thinks = |budget: u64| json!({"additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": budget}}});
    vec![
        ("the_body_is_an_object", json!(7), plain.clone()),
        ("fields_are_known", with(&plain, &json!({"max_tokens": 3})), plain.clone()),
        ("settings_have_types", with(&plain, &json!({"outputConfig": 3})), plain.clone()),
        (
            "the_last_message_is_not_the_assistants",
            with(&plain, &json!({"messages": [ask, said]})),
            with(&plain, &json!({"messages": [ask, said, ask]})),
        ),
        (
            "stops_are_few",
            with(&plain, &json!({"inferenceConfig": {"stopSequences": [""]}})),
            with(&plain, &json!({"inferenceConfig": {"stopSequences": ["."]}})),
        ),
        ("thinking_fits", with(&plain, &thinks(10)), with(&plain, &thinks(2000))),
    ]
}

/// What only a server can show.
const SERVED: [(Api, &str); 5] = [
    (Api::Anthropic, "the_new_version_takes_no_documents_from_the_assistant"),
    (Api::Anthropic, "the_new_version_takes_no_sampling"),
    (Api::Anthropic, "signatures_are_right"),
    (Api::Gemini, "signatures_are_right"),
    (Api::Bedrock, "counting_needs_a_plain_model"),
];

#[test]
fn each_rule_refuses_one_body_and_takes_another() {
    for api in Api::ALL {
        let cases = match api {
            Api::OpenAiChat => chat(),
            Api::OpenAiResponses => responses(),
            Api::Anthropic => anthropic(),
            Api::Gemini => gemini(),
            Api::Bedrock => bedrock(),
        };
        let mut shown: BTreeSet<&str> =
            SERVED.iter().filter(|(of, _)| *of == api).map(|(_, rule)| *rule).collect();
        for (rule, bad, good) in cases {
            let refusal = verdict(api, &model(&good), &bad).unwrap_err();
            assert_eq!((refusal.rule, refusal.message.is_empty()), (rule, false), "{bad}");
            assert_eq!(verdict(api, &model(&good), &good), Ok(()), "{rule}");
            shown.insert(rule);
        }
        // The bodies that the project keeps for its own rules come in pairs too.
        let kept = bodies(api);
        for (name, body) in kept.iter().filter(|(name, _)| name.ends_with(".bad")) {
            if let Err(refusal) = verdict(api, &model(body), body) {
                let good = &kept[&name.replace(".bad", ".good")];
                assert_eq!(verdict(api, &model(good), good), Ok(()), "{api} {name}");
                shown.insert(refusal.rule);
            }
        }
        let all: BTreeSet<&str> = rule_names(api).into_iter().collect();
        let bare: Vec<&&str> = all.difference(&shown).collect();
        assert!(bare.is_empty(), "{api}: rules without a body that they refuse: {bare:?}");
    }
}

#[test]
fn the_words_of_the_refusals_that_histories_meet_most() {
    let mut table = String::new();
    for (api, name) in [
        (Api::OpenAiChat, "unanswered-call"),
        (Api::OpenAiChat, "orphan-result"),
        (Api::OpenAiChat, "calls-empty"),
        (Api::OpenAiChat, "content"),
        (Api::OpenAiChat, "call-id"),
        (Api::OpenAiResponses, "call-answered"),
        (Api::OpenAiResponses, "output-has-call"),
        (Api::OpenAiResponses, "reasoning-followed"),
        (Api::OpenAiResponses, "item-id-prefix"),
        (Api::Anthropic, "calls-answered"),
        (Api::Anthropic, "result-has-call"),
        (Api::Anthropic, "one-result"),
        (Api::Anthropic, "call-ids-unique"),
        (Api::Anthropic, "text-not-blank"),
        (Api::Anthropic, "message-not-empty"),
        (Api::Anthropic, "no-prefill"),
        (Api::Anthropic, "thinking-first"),
        (Api::Anthropic, "cache-mark-count"),
        (Api::Gemini, "call-order"),
        (Api::Gemini, "response-order"),
        (Api::Gemini, "response-count"),
        (Api::Gemini, "parts"),
        (Api::Gemini, "signature"),
        (Api::Gemini, "schema-keyword"),
        (Api::Bedrock, "calls-answered"),
        (Api::Bedrock, "results-called"),
        (Api::Bedrock, "tool-config"),
        (Api::Bedrock, "text-blank"),
        (Api::Bedrock, "turns-alternate"),
    ] {
        let body = &bodies(api)[&format!("{name}.bad")];
        let said = verdict(api, &model(body), body);
        let said = said.map_or_else(
            |refusal| format!("{} {}", refusal.status, refusal.message.trim()),
            |()| "taken".to_owned(),
        );
        table += &format!("{api} {name}\n    {said}\n");
    }
    insta::assert_snapshot!(table);
}

fn thinks(asked: &Asked) -> Answer {
    match asked.rounds() {
        0 => Answer::new().with_thinking("I look.").with_call("ls", &json!({})),
        _ => Answer::text("Done."),
    }
}

/// The rule that refused the last request.
fn refused_by(double: &Double) -> &'static str {
    double.requests().last().unwrap().refusal.as_ref().map_or("", |refusal| refusal.rule)
}

#[tokio::test]
async fn a_thought_of_anthropic_comes_back_as_it_was_or_is_refused() {
    let double = Double::start(Settings::new().with_brain(thinks)).await.unwrap();
    let mut body = json!({
        "model": "claude-sonnet-4-5", "max_tokens": 4000,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "tools": [{"name": "ls", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": "Look."}],
    });
    let answer = send(&double, Api::Anthropic, &body).await.json();
    let result =
        json!({"type": "tool_result", "tool_use_id": answer["content"][1]["id"], "content": "src"});
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": answer["content"]}));
    messages.push(json!({"role": "user", "content": [result]}));
    assert_eq!(send(&double, Api::Anthropic, &body).await.status, 200);
    body["messages"][1]["content"][0]["thinking"] = json!("I looked.");
    assert_eq!(send(&double, Api::Anthropic, &body).await.status, 400);
    assert_eq!(refused_by(&double), "signatures_are_right");
}

#[tokio::test]
async fn a_signature_of_gemini_stays_on_its_call_or_is_refused() {
    let double = Double::start(Settings::new().with_brain(thinks)).await.unwrap();
    let mut body = json!({
        "model": "gemini-3-pro-preview",
        "tools": [{"functionDeclarations": [{"name": "ls"}]}],
        "contents": [{"role": "user", "parts": [{"text": "Look."}]}],
    });
    let answer = send(&double, Api::Gemini, &body).await.json();
    let contents = body["contents"].as_array_mut().unwrap();
    contents.push(answer["candidates"][0]["content"].clone());
    contents.push(json!({"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"output": "src"}}}]}));
    assert_eq!(send(&double, Api::Gemini, &body).await.status, 200);
    let part = &mut body["contents"][1]["parts"][0];
    part["thoughtSignature"] = json!("skip_thought_signature_validator");
    assert_eq!(send(&double, Api::Gemini, &body).await.status, 200);
    body["contents"][1]["parts"][0]["thoughtSignature"] = json!("AAAA");
    assert_eq!(send(&double, Api::Gemini, &body).await.status, 400);
    assert_eq!(refused_by(&double), "signatures_are_right");
}

#[tokio::test]
async fn a_thought_of_responses_is_good_only_as_the_done_event_gave_it() {
    let double = Double::start(Settings::new().with_brain(thinks)).await.unwrap();
    let mut body = json!({
        "model": "gpt-5.1", "store": false, "stream": true, "reasoning": {"effort": "low"},
        "input": [{"role": "user", "content": "Look."}],
        "tools": [{"type": "function", "name": "ls", "parameters": {"type": "object", "properties": {}}}],
    });
    let text = send(&double, Api::OpenAiResponses, &body).await.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = data.map(|data| serde_json::from_str(data).unwrap()).collect();
    let items = |kind: &str| -> Vec<Value> {
        let of = events.iter().filter(|event| event["type"] == kind);
        of.map(|event| event["item"].clone()).collect()
    };
    let done = items("response.output_item.done");
    let output =
        json!({"type": "function_call_output", "call_id": done[1]["call_id"], "output": "src"});
    body["input"] = json!([body["input"][0], done[0], done[1], output]);
    assert_eq!(send(&double, Api::OpenAiResponses, &body).await.status, 200);
    body["input"][1] = items("response.output_item.added")[0].clone();
    let got = send(&double, Api::OpenAiResponses, &body).await;
    assert_eq!(got.json()["error"]["code"], "invalid_encrypted_content");
    body["input"] = json!([body["input"][0], done[1], output]);
    send(&double, Api::OpenAiResponses, &body).await;
    assert_eq!(refused_by(&double), "items_keep_their_thought");
}

#[tokio::test]
async fn the_new_version_of_anthropic_takes_less() {
    let double = Double::start(Settings::new()).await.unwrap();
    let plain = json!({
        "model": "claude-sonnet-4-5", "max_tokens": 100,
        "messages": [{"role": "user", "content": "Hello."}],
    });
    let document = json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}});
    let said = json!([{"role": "user", "content": "Hello."}, {"role": "assistant", "content": [document]}, {"role": "user", "content": "Well?"}]);
    for (more, rule) in [
        (json!({"temperature": 0.5}), "the_new_version_takes_no_sampling"),
        (json!({ "messages": said }), "the_new_version_takes_no_documents_from_the_assistant"),
    ] {
        let (body, key) = (with(&plain, &more).to_string(), ("x-api-key", "k"));
        for (version, refused) in [("2023-06-01", ""), ("2026-10-21", rule)] {
            post(&double, "/v1/messages", &[key, ("anthropic-version", version)], &body).await;
            assert_eq!(refused_by(&double), refused, "{version}");
        }
    }
    let body = plain.to_string();
    let got = post(&double, "/v1/messages", &[("x-api-key", "k")], &body).await;
    assert_eq!(got.json()["error"]["message"], "anthropic-version: header is required");
    assert_eq!(send_with(&double, Api::Anthropic, &plain, &[]).await.status, 200);
}

#[tokio::test]
async fn counting_takes_the_wrapped_body_and_no_model_of_many_regions() {
    let double = Double::start(Settings::new()).await.unwrap();
    let body = json!({"input": {"converse": {"messages": [{"role": "user", "content": [{"text": "Hello."}]}]}}});
    let (body, key) = (body.to_string(), [("authorization", "Bearer k")]);
    let got = post(&double, "/model/anthropic.claude-x/count-tokens", &key, &body).await;
    assert_eq!(got.json()["inputTokens"], 6);
    let got = post(&double, "/model/us.anthropic.claude-x/count-tokens", &key, &body).await;
    assert_eq!((got.status, refused_by(&double)), (400, "counting_needs_a_plain_model"));
}
