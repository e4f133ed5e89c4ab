//! What an answer held goes back to the API that gave it: in place, in order, and the
//! vendor's own parts byte for byte.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use interleaf_model::{Body, Entry, Message, Parts, Prompt, Provenance, Reply, ToolResult};
use interleaf_samples::strategy::json_object;
use interleaf_wire::{Family, NameMap, Options, Vendor, decode_response, encode};
use proptest::prelude::*;

/// An answer of thinking, text, a call and text, around a part that only its owner knows.
/// Gives the answer, the model, and what must stand in the next request in this order.
fn answer(family: Family, own: &str) -> Option<(String, &'static str, Vec<String>)> {
    Some(match family {
        // Its answers have no order of parts, and no parts that only it knows.
        Family::OpenaiChat => return None,
        Family::OpenaiResponses => {
            let own = format!(
                r#"{{"type":"compaction","id":"cmp_1","encrypted_content":"e","x":{own}}}"#
            );
            let answer = format!(
                r#"{{"object":"response","status":"completed","model":"gpt-5","output":[
                {{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sealed"}},
                {{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[
                    {{"type":"output_text","text":"before","annotations":[]}}]}},
                {own},
                {{"type":"message","id":"msg_2","role":"assistant","status":"completed","content":[
                    {{"type":"output_text","text":"after","annotations":[]}}]}},
                {{"type":"function_call","id":"fc_1","call_id":"c1","name":"ls","arguments":"{{}}"}}]}}"#
            );
            (
                answer,
                "gpt-5",
                vec!["sealed".into(), "before".into(), own, "after".into(), "\"ls\"".into()],
            )
        }
        Family::Anthropic => {
            let own = format!(r#"{{"type":"compaction","content":"short","x":{own}}}"#);
            let answer = format!(
                r#"{{"type":"message","role":"assistant","model":"claude-sonnet-4-5","stop_reason":"tool_use","content":[
                {{"type":"thinking","thinking":"why","signature":"c2VhbA=="}},
                {{"type":"text","text":"before"}},{own},
                {{"type":"tool_use","id":"c1","name":"ls","input":{{}}}},
                {{"type":"text","text":"after"}}]}}"#
            );
            let order = vec!["why".into(), "before".into(), own, "\"ls\"".into(), "after".into()];
            (answer, "claude-sonnet-4-5", order)
        }
        Family::Gemini => {
            let own =
                format!(r#"{{"executableCode":{{"language":"PYTHON","code":"1"}},"x":{own}}}"#);
            let answer = format!(
                r#"{{"modelVersion":"gemini-2.5-pro","candidates":[{{"finishReason":"STOP","content":{{"role":"model","parts":[
                {{"text":"why","thought":true,"thoughtSignature":"c2VhbA=="}},
                {{"text":"before"}},{own},
                {{"functionCall":{{"id":"c1","name":"ls","args":{{}}}},"thoughtSignature":"c2lnbg=="}},
                {{"text":"after"}}]}}}}]}}"#
            );
            let order = vec![
                "c2VhbA==".into(),
                "before".into(),
                own,
                "\"ls\"".into(),
                "c2lnbg==".into(),
                "after".into(),
            ];
            (answer, "gemini-2.5-pro", order)
        }
        Family::Bedrock => {
            let own = format!(
                r#"{{"citationsContent":{{"content":[{{"text":"cited"}}],"citations":[]}},"x":{own}}}"#
            );
            let answer = format!(
                r#"{{"output":{{"message":{{"role":"assistant","content":[
                {{"reasoningContent":{{"reasoningText":{{"text":"why","signature":"c2VhbA=="}}}}}},
                {{"text":"before"}},{own},
                {{"toolUse":{{"toolUseId":"c1","name":"ls","input":{{}}}}}},
                {{"text":"after"}}]}}}},"stopReason":"tool_use"}}"#
            );
            let order = vec!["why".into(), "before".into(), own, "\"ls\"".into(), "after".into()];
            (answer, "anthropic.claude-sonnet-4-5", order)
        }
    })
}

/// The request that goes on after an answer.
fn next_body(family: Family, answer: &str, model: &str) -> String {
    let reply = decode_response(family, answer, &NameMap::default()).unwrap();
    body_after(family, reply, &Options::model(model))
}

fn body_after(family: Family, reply: Reply, options: &Options) -> String {
    let result = |call: &interleaf_model::ToolCall| {
        let parts =
            Parts::one(interleaf_model::ContentPart::Text(interleaf_model::Text::new("ok")));
        let name = Some(call.name.clone());
        let status = interleaf_model::Status::Ok;
        Message::from(Body::Tool(ToolResult { call: call.id.clone(), name, status, parts }))
    };
    let results: Vec<Message> = reply.message.calls().map(result).collect();
    let mut messages = vec![Message::user("go"), reply.message];
    messages.extend(results);
    let entry = |message| Entry { message: Arc::new(message), provenance: Provenance::Original };
    let prompt = Prompt::check(messages.into_iter().map(entry).collect(), Arc::new([])).unwrap();
    let body = encode(&prompt, Vendor::of(family), options).unwrap().to_bytes();
    String::from_utf8(body).unwrap()
}

#[test]
fn unbound_thinking_stays_out_and_all_else_goes_back() {
    let mut n_families = 0;
    for family in Family::ALL {
        let Some((answer, model, order)) = answer(family, "{}") else { continue };
        n_families += 1;
        let reply = decode_response(family, &answer, &NameMap::default()).unwrap();
        let mut options = Options::model(model);
        options.unbound_thinking = [reply.message.id.clone()].into();
        let body = body_after(family, reply, &options);
        assert!(!body.contains(&order[0]), "{family}: {body}");
        assert!(body.contains(&order[1]), "{family}: {body}");
    }
    assert!(n_families >= 4, "{n_families}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn parts_go_back_in_place_and_the_vendors_own_byte_for_byte(own in json_object()) {
        // Half a surrogate pair is no text: an encoder cannot tell whether the API takes it.
        prop_assume!(serde_json::from_str::<serde_json::Value>(own.as_str()).is_ok());
        for family in Family::ALL {
            let Some((answer, model, order)) = answer(family, own.as_str()) else { continue };
            let body = next_body(family, &answer, model);
            let mut at = 0;
            for piece in order {
                let found = body[at..].find(&piece);
                prop_assert!(found.is_some(), "{family}: no {piece} from {at} on in {body}");
                at += found.unwrap_or_default() + piece.len();
            }
        }
    }
}
