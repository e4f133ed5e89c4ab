//! The four brains.

use interleaf_doubles::{Api, Double, Obliging, Script, Settings, Summariser, Truth, fitting};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::send;
use crate::exchanges::question;

async fn double(settings: Settings) -> Double {
    Double::start(settings).await.unwrap()
}

fn message(answer: &Value) -> &Value {
    &answer["choices"][0]["message"]
}

#[tokio::test]
async fn a_script_is_said_line_by_line_and_its_end_is_an_error() {
    let script = r#"[
        "Hello.",
        {"thinking": "Hm.", "text": "I look.", "calls": [{"name": "ls", "arguments": {"path": "."}, "id": "c1"}]},
        {"parts": [{"call": {"name": "ls"}}, {"text": "cut"}], "finish": "length"}
    ]"#;
    let double = double(Settings::new().with_brain(Script::read(script).unwrap())).await;
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(send(&double, Api::OpenAiChat, &question(Api::OpenAiChat)).await.json());
    }
    // A client would try again after a 500.
    assert_eq!(double.requests()[3].status, 400);
    assert_eq!(message(&answers[0])["content"], "Hello.");
    assert_eq!(message(&answers[1])["tool_calls"][0]["id"], "c1");
    assert_eq!(answers[2]["choices"][0]["finish_reason"], "length");
    let over = "The script has 3 replies, and they are used up.";
    assert_eq!(answers[3]["error"]["message"], over);
}

#[test]
fn a_script_that_cannot_be_read_says_where() {
    for (script, place) in [
        ("{}", "a script is a list"),
        ("[7]", "/0: a reply is a string or an object"),
        (r#"["a", {"txt": "b"}]"#, "/1/txt: a reply has text"),
        (r#"[{"calls": [{}]}]"#, "/0/calls/0: a call has a name"),
        (r#"[{"finish": "soon"}]"#, "/0/finish: it is stop, calls, length or refusal"),
        (r#"[{"parts": [{"text": "a", "call": {}}]}]"#, "/0/parts/0: a part has one of"),
    ] {
        let error = Script::read(script).unwrap_err();
        assert!(error.starts_with(place), "{script}: {error}");
    }
}

#[tokio::test]
async fn the_truth_knows_the_calls_of_a_task_round_by_round() {
    let file = r#"[{"task": "the alarm", "steps": [[{"name": "ls"}, {"name": "pwd"}], [{"name": "ls"}]], "answer": "Mended."}]"#;
    let double = double(Settings::new().with_brain(Truth::read(file).unwrap())).await;
    let mut body = question(Api::OpenAiChat);
    body["messages"] = json!([{"role": "user", "content": "Mend the alarm."}]);
    let mut counts = Vec::new();
    let mut last = Value::Null;
    for _ in 0..3 {
        let answer = send(&double, Api::OpenAiChat, &body).await.json();
        last = message(&answer).clone();
        let calls = last["tool_calls"].as_array().cloned().unwrap_or_default();
        counts.push(calls.len());
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(last.clone());
        for call in calls {
            messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": "ok"}));
        }
    }
    assert_eq!((counts, &last["content"]), (vec![2, 1, 0], &json!("Mended.")));
    let answer = send(&double, Api::OpenAiChat, &question(Api::OpenAiChat)).await;
    assert_eq!(answer.json()["error"]["message"], "No message names a task of the file.");
}

#[tokio::test]
async fn the_obliging_brain_does_as_it_is_told_and_says_the_same_to_the_same() {
    let double = double(Settings::new().with_brain(Obliging::new().with_rounds(0))).await;
    let mut body = question(Api::OpenAiChat);
    let first = send(&double, Api::OpenAiChat, &body).await.json();
    let again = send(&double, Api::OpenAiChat, &body).await.json();
    assert_eq!(message(&first), message(&again));
    assert!(message(&first)["content"].as_str().unwrap().contains("- Which files?"));
    body["tool_choice"] = json!("required");
    let forced = send(&double, Api::OpenAiChat, &body).await.json();
    assert_eq!(message(&forced)["tool_calls"].as_array().unwrap().len(), 2);
    body["tool_choice"] = json!({"type": "function", "function": {"name": "pwd"}});
    let named = send(&double, Api::OpenAiChat, &body).await.json();
    assert_eq!(message(&named)["tool_calls"][0]["function"]["name"], "pwd");
    body["tool_choice"] = json!("none");
    let none = send(&double, Api::OpenAiChat, &body).await.json();
    assert!(message(&none)["tool_calls"].is_null());
}

/// What an engine says beside the results must not keep the model calling for ever.
#[tokio::test]
async fn what_is_said_right_after_results_is_no_new_question() {
    let double = double(Settings::new().with_brain(Obliging::new().with_rounds(2))).await;
    let mut body = question(Api::OpenAiChat);
    let mut counts = Vec::new();
    for _ in 0..4 {
        let answer = send(&double, Api::OpenAiChat, &body).await.json();
        let said = message(&answer).clone();
        let calls = said["tool_calls"].as_array().cloned().unwrap_or_default();
        counts.push(calls.is_empty());
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(said);
        let role = if calls.is_empty() { "And now?" } else { "Be careful." };
        for call in calls {
            messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": "ok"}));
        }
        messages.push(json!({"role": "user", "content": role}));
    }
    // Two rounds, an answer, and after the next question calls again.
    assert_eq!(counts, [false, false, true, false]);
}

#[tokio::test]
async fn a_summary_keeps_every_fact_but_the_one_it_is_told_to_forget() {
    let said = "Look at src/main.rs and id user_42.\nWe decided to use port 8080.\nNice weather.";
    let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": said}]});
    let facts = ["src/main.rs", "user_42", "8080", "We decided to use port 8080."];
    for (brain, forgotten) in [
        (Summariser::new(), ""),
        (Summariser::new().forgetting("src/main.rs"), "src/main.rs"),
        (Summariser::new().forgetting_nth(1), "user_42"),
    ] {
        let double = double(Settings::new().with_brain(brain)).await;
        let answer = send(&double, Api::OpenAiChat, &body).await.json();
        let summary = message(&answer)["content"].as_str().unwrap().to_owned();
        for fact in facts {
            assert_eq!(summary.contains(fact), fact != forgotten, "{fact}: {summary}");
        }
        assert!(!summary.contains("weather"));
    }
}

/// Schemas of tools as they are met.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "minLength": 9, "maxLength": 12})),
        Just(json!({"type": "string", "format": "date-time"})),
        Just(json!({"type": "string", "pattern": "^[a-z]{3}-\\d+$"})),
        Just(json!({"enum": ["on", 7, null]})),
        Just(json!({"const": {"a": 1}})),
        Just(json!({"type": ["integer", "null"]})),
        Just(json!({"type": "boolean"})),
        (-9i64..9, 0i64..5).prop_map(
            |(least, room)| json!({"type": "integer", "minimum": least, "maximum": least + room})
        ),
        (-9i64..9).prop_map(|over| json!({"type": "number", "exclusiveMinimum": over})),
        Just(json!({"type": "integer", "multipleOf": 5, "minimum": 3})),
        Just(json!({"$ref": "#/$defs/node"})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let fields = proptest::collection::btree_map("[a-z]{1,4}", inner.clone(), 0..4);
        prop_oneof![
            (fields, any::<bool>()).prop_map(|(fields, all)| {
                let required: Vec<&String> = fields.keys().filter(|_| all).collect();
                json!({"type": "object", "properties": fields, "required": required, "additionalProperties": false})
            }),
            (inner.clone(), 0u64..4).prop_map(|(items, least)| json!({"type": "array", "items": items, "minItems": least})),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"anyOf": [a, b]})),
            inner.prop_map(|part| json!({"allOf": [part]})),
        ]
    })
}

proptest! {
    #[test]
    fn arguments_fit_their_schema(field in schema(), seed in 0usize..20) {
        let node = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}}, "required": ["n"]});
        let schema = json!({"type": "object", "properties": {"x": field}, "required": ["x"], "$defs": {"node": node}});
        let arguments = fitting(&schema, seed);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(&arguments).map(|error| error.to_string()).collect();
        prop_assert!(errors.is_empty(), "{arguments} {errors:?}");
    }
}
