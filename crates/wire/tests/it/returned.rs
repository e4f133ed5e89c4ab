//! What an answer held goes back to the API that gave it: in place, in order, and the
//! vendor's own parts byte for byte.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use crate::{decode_response, decode_stream};
use interleaf_model::{Body, Entry, Message, Parts, Prompt, Provenance, Reply, ToolResult};
use interleaf_samples::strategy::json_object;
use interleaf_wire::{
    Adjustment, AdjustmentKind, AnswerHead, Family, NameMap, Options, Vendor, encode, write_stream,
};
use proptest::prelude::*;

/// An answer of thinking, text, a call and text, around a part that only its owner knows.
/// Gives the answer, the model, and what must stand in the next request in this order.
fn answer(family: Family, own: &str) -> (String, &'static str, Vec<String>) {
    match family {
        // Its answers have no order of parts: what only it knows stands on the message and
        // on the call.
        Family::OpenaiChat => {
            let answer = format!(
                r#"{{"model":"deepseek-chat","choices":[{{"finish_reason":"tool_calls","message":{{"role":"assistant",
                "reasoning_content":"why","content":"before","x":[{own}],"tool_calls":[
                {{"id":"c1","type":"function","function":{{"name":"ls","arguments":"{{}}"}},"y":[{own}]}}]}}}}]}}"#
            );
            let order =
                ["why", "before", "\"ls\"", &format!(r#""y":[{own}]"#), &format!(r#""x":[{own}]"#)];
            (answer, "deepseek-chat", order.map(str::to_owned).into())
        }
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
                {{"type":"function_call","id":"fc_1","call_id":"c1","name":"ls","arguments":"{{}}","status":"completed"}}]}}"#
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
                r#"{{"citationsContent":{{"content":[{{"text":"cited"}}],"citations":[{{"title":"t","x":{own}}}]}}}}"#
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
    }
}

/// Who takes back all that the family's answers hold.
fn vendor(family: Family) -> &'static Vendor {
    match family {
        Family::OpenaiChat => Vendor::named("deepseek").unwrap(),
        _ => Vendor::of(family),
    }
}

/// The same answer with fields that nobody knows on each part and item.
fn with_fields(answer: &str, own: &str) -> (String, usize) {
    let mut marked = answer.to_owned();
    let mut n = 0;
    for opening in [
        r#"{"type":"output_text","#,
        r#"{"type":"function_call","#,
        r#"{"type":"text","#,
        r#"{"type":"tool_use","#,
        r#"{"text":"before""#,
        r#"{"functionCall":"#,
        r#"{"toolUse":"#,
    ] {
        let with = opening.replacen('{', &format!(r#"{{"zz":{own},"#), 1);
        n += marked.matches(opening).count();
        marked = marked.replace(opening, &with);
    }
    (marked, n)
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
    let body = encode(&prompt, vendor(family), options).unwrap().to_bytes();
    String::from_utf8(body).unwrap()
}

#[test]
fn unbound_thinking_stays_out_and_all_else_goes_back() {
    for family in Family::ALL {
        let (answer, model, order) = answer(family, "{}");
        let reply = decode_response(family, &answer, &NameMap::default()).unwrap();
        let mut options = Options::model(model);
        options.unbound_thinking = [reply.message.id.clone()].into();
        let body = body_after(family, reply, &options);
        assert!(!body.contains(&order[0]), "{family}: {body}");
        assert!(body.contains(&order[1]), "{family}: {body}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn parts_go_back_in_place_and_the_vendors_own_byte_for_byte(own in json_object()) {
        for family in Family::ALL {
            let (answer, model, order) = answer(family, own.as_str());
            let body = next_body(family, &answer, model);
            let mut at = 0;
            for piece in order {
                let found = body[at..].find(&piece);
                prop_assert!(found.is_some(), "{family}: no {piece} from {at} on in {body}");
                at += found.unwrap_or_default() + piece.len();
            }
        }
    }

    #[test]
    fn fields_that_nobody_knows_go_back_with_their_parts(own in json_object()) {
        for family in Family::ALL {
            let (answer, model, _) = answer(family, "{}");
            let (marked, n_marks) = with_fields(&answer, own.as_str());
            prop_assert!(n_marks > 0 || family == Family::OpenaiChat);
            let body = next_body(family, &marked, model);
            let n_found = body.matches(&format!(r#""zz":{}"#, own.as_str())).count();
            prop_assert_eq!(n_found, n_marks, "{}: {}", family, body);
        }
    }

    #[test]
    fn a_streamed_answer_goes_back_as_the_whole_one_does(own in json_object(), n in 1_usize..40) {
        // An event is one line.
        let own = own.as_str().replace(['\n', '\r'], " ");
        for family in Family::ALL {
            let (answer, model, _) = answer(family, &own);
            let reply = decode_response(family, &answer, &NameMap::default()).unwrap();
            let written = write_stream(family, &reply, &AnswerHead::default(), n);
            // Nothing is known of what these answers cost.
            let is_loss = |it: &&Adjustment| it.kind != AdjustmentKind::UsageChanged;
            prop_assert_eq!(written.adjustments.iter().find(is_loss), None, "{}", family);
            let streamed = decode_stream(family, &written.bytes, &NameMap::default()).unwrap();
            let options = Options::model(model);
            let (whole, streamed) =
                (body_after(family, reply, &options), body_after(family, streamed, &options));
            prop_assert_eq!(whole, streamed, "{}", family);
        }
    }
}
