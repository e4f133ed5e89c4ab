//! Nothing of a body is left out, and nothing put in, without a word.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_wire::{AdjustmentKind, Family, Vendor, decode_request, encode, lint};
use serde_json::{Value, json};

use super::openai_chat::prompt;

/// A body of one family in the form of another, and what was changed.
fn sent(from: Family, body: &Value, to: Family) -> (Value, Vec<(AdjustmentKind, String)>) {
    let request = decode_request(from, &body.to_string()).unwrap();
    let prompt = prompt(&request.messages, request.tools.clone());
    let encoded = encode(&prompt, Vendor::of(to), &request.options).unwrap();
    let told = encoded.adjustments.iter().map(|told| (told.kind, told.detail.clone()));
    (serde_json::from_slice(&encoded.to_bytes()).unwrap(), told.collect())
}

fn text(at: usize, is_marked: bool) -> Value {
    let mut part = json!({"type": "text", "text": format!("text {at}")});
    if is_marked {
        part["cache_control"] = json!({"type": "ephemeral"});
    }
    part
}

#[test]
fn unknown_keys_of_a_chat_body_are_told_to_every_other_api() {
    let body = json!({"model": "m", "max_tokens": 99, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "q", "zed": 1}], "foo": 1}]});
    for family in Family::ALL.into_iter().filter(|family| *family != Family::OpenaiChat) {
        let (_, told) = sent(Family::OpenaiChat, &body, family);
        let dropped = |detail: &str| (AdjustmentKind::FieldsDropped, detail.to_owned());
        assert_eq!(told, [dropped("openai's foo"), dropped("openai's zed")], "{family}");
    }
}

#[test]
fn cache_marks_that_give_way_are_told() {
    let body = |n_marks: usize| {
        let parts: Vec<Value> = (0..6).map(|at| text(at, at < n_marks)).collect();
        json!({"model": "claude-sonnet-4-5", "max_tokens": 9,
            "messages": [{"role": "user", "content": parts}]})
    };
    let (sent_as, told) = sent(Family::Anthropic, &body(4), Family::Anthropic);
    assert_eq!((sent_as, told), (body(4), Vec::new()));
    // Of five none stays: ours are set where the next request can use them.
    let (sent_as, told) = sent(Family::Anthropic, &body(5), Family::Anthropic);
    let detail = "cache_control gives way to the cache marks that are set anew";
    assert_eq!(told, vec![(AdjustmentKind::FieldsDropped, detail.to_owned()); 5]);
    let parts = sent_as["messages"][0]["content"].as_array().unwrap();
    let marked = |part: &Value| part.get("cache_control").is_some();
    assert_eq!(
        parts.iter().map(marked).collect::<Vec<_>>(),
        [[false; 5].as_slice(), &[true]].concat()
    );
}

#[test]
fn cache_points_that_give_way_are_told() {
    let mut parts = Vec::new();
    for at in 0..5 {
        parts.extend([
            json!({"text": format!("text {at}")}),
            json!({"cachePoint": {"type": "default"}}),
        ]);
    }
    let body = json!({"modelId": "m", "messages": [{"role": "user", "content": parts}]});
    let (sent_as, told) = sent(Family::Bedrock, &body, Family::Bedrock);
    let detail = "cachePoint gives way to the cache marks that are set anew";
    assert_eq!(told, vec![(AdjustmentKind::FieldsDropped, detail.to_owned()); 5]);
    assert_eq!(sent_as["messages"][0]["content"].as_array().unwrap().len(), 6);
}

#[test]
fn a_result_of_gemini_under_the_name_of_another_tool_is_told() {
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "b", "response": {"output": "x"}}}]}]});
    let (sent_as, told) = sent(Family::Gemini, &body, Family::Gemini);
    assert_eq!(sent_as["contents"][2]["parts"][0]["functionResponse"]["name"], "a");
    let detail = "b became a, which is what was called";
    assert_eq!(told, [(AdjustmentKind::ToolNameRewritten, detail.to_owned())]);
}

#[test]
fn a_result_of_gemini_under_the_name_of_another_tool_is_told_where_the_name_is_not_sent() {
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "b", "response": {"output": "x"}}}]}]});
    for (family, is_told) in [
        (Family::Anthropic, true),
        (Family::Bedrock, true),
        (Family::OpenaiResponses, true),
        (Family::OpenaiChat, false),
    ] {
        let (sent_as, told) = sent(Family::Gemini, &body, family);
        let is_rewritten = |(kind, _): &(_, String)| *kind == AdjustmentKind::ToolNameRewritten;
        assert_eq!(told.iter().any(is_rewritten), is_told, "{family}: {told:?}");
        assert_eq!(sent_as.to_string().contains("\"b\""), !is_told, "{family}: {sent_as}");
    }
}

#[test]
fn results_of_gemini_without_ids_answer_the_calls_of_two_contents_in_their_order() {
    let call = |n: u8| json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"n": n}}}]});
    let answer = |n: u8| json!({"functionResponse": {"name": "f", "response": {"n": n}}});
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "q"}]}, call(1), call(2),
        {"role": "user", "parts": [answer(1), answer(2)]}]});
    let request = decode_request(Family::Gemini, &body.to_string()).unwrap();
    let calls = request.messages.iter().flat_map(|message| message.calls()).map(|call| &call.id);
    let results = request.messages.iter().filter_map(|message| message.as_result());
    assert!(calls.eq(results.map(|result| &result.call)), "{:?}", request.messages);
}

#[test]
fn lint_sees_a_result_whose_content_is_a_number() {
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "a", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": 5}]}]});
    let faults = lint::lint(Vendor::of(Family::Anthropic), &body.to_string()).unwrap();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(faults[0].pointer, "/messages/2/content/0/content");
}

/// White space inside an empty list makes no difference, to reader and lint.
#[test]
fn an_empty_list_of_calls_of_another_api_is_nothing_however_it_is_written() {
    for empty in ["[]", "[ ]", "[\n]", "{ }", "\"\"", "null"] {
        let body = format!(
            r#"{{"model":"m","max_tokens":9,"messages":[{{"role":"user","content":"q","tool_calls":{empty}}}]}}"#
        );
        assert!(decode_request(Family::Anthropic, &body).is_ok(), "{empty}");
        let faults = lint::lint(Vendor::of(Family::Anthropic), &body).unwrap();
        assert_eq!(faults, [], "{empty}");
    }
}
