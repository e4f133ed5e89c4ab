use proptest::prelude::*;
use proptest::sample::{Index, select};

use interleaf_wire::Vendor;
use interleaf_wire::lint::lint;
use interleaf_wire::openai_chat::{decode_messages, decode_request};

/// A body that has every feature once, to be broken in any place.
const BODY: &str = r#"{"model":"m","messages":[
{"role":"developer","content":"be brief"},
{"role":"user","id":"m1","at":1763200800,"content":[{"type":"text","text":"hé"},
 {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}},
 {"type":"file","file":{"file_id":"file-1","filename":"a.pdf"}},
 {"type":"input_audio","input_audio":{"data":"UklG","format":"wav"}},{"type":"odd"}]},
{"role":"assistant","content":null,"thinking_blocks":[{"type":"thinking","thinking":"t","signature":"s"}],
 "tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"p\":1}"},
 "provider_specific_fields":{"thought_signature":"g"}},{"type":"custom","custom":{"name":"q","input":"x"}}]},
{"role":"tool","tool_call_id":"c1","is_error":true,"content":"no"},
{"role":"assistant","refusal":"r","function_call":{"name":"f","arguments":{}}},
{"role":"function","name":"f","content":"1"}],
"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"},"strict":true}},
 {"type":"custom","custom":{"name":"q"}}],"functions":[{"name":"g"}],"seed":7,
"tool_choice":{"type":"function","function":{"name":"f"}},"response_format":{"type":"text"},
"params":{"max_tokens":5,"stop":["a"],"stream":true}}"#;

/// Pieces that turn one valid token into another.
const SPLICES: [&str; 16] = [
    "", "null", "[]", "{}", "\"\"", "1e9", "true", "\"tool\"", ",", ":", "{", "]", "\\", "\"",
    "\\ud800", "é",
];

/// Whatever is read or refused, a place in an error lies inside the text.
fn decode_both(text: &str) -> Result<(), TestCaseError> {
    let errors = [decode_messages(text).err(), decode_request(text).err()];
    for vendor in ["openai", "mistral", "deepseek", "vllm", "glm"] {
        let _ = Vendor::named(vendor).map(|vendor| lint(vendor, text));
    }
    for error in errors.into_iter().flatten() {
        if let Some((line, column)) = error.place().line_column {
            let width = text.split('\n').nth(line - 1).map(|line| line.chars().count());
            prop_assert!(column >= 1, "{error}");
            prop_assert!(width.is_some_and(|width| column <= width + 1), "{error}");
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        decode_both(&text)?;
    }

    #[test]
    fn a_broken_body_is_read_or_refused(
        cuts in prop::collection::vec((any::<Index>(), 0_usize..12, select(SPLICES.to_vec())), 1..4),
    ) {
        let mut body: Vec<char> = BODY.chars().collect();
        for (at, len, splice) in cuts {
            let start = at.index(body.len());
            let end = (start + len).min(body.len());
            body.splice(start..end, splice.chars());
        }
        decode_both(&body.iter().collect::<String>())?;
    }

    #[test]
    fn a_value_of_any_type_in_any_place_is_read_or_refused(
        tokens in prop::collection::vec((any::<Index>(), select(SPLICES[1..8].to_vec())), 1..4),
    ) {
        let mut body = BODY.to_owned();
        for (at, token) in tokens {
            // The body stays JSON: only whole strings and numbers are replaced.
            let values: Vec<(usize, &str)> = body
                .match_indices(':')
                .filter_map(|(i, _)| {
                    let rest = &body[i + 1..];
                    let value: &serde_json::value::RawValue =
                        serde_json::Deserializer::from_str(rest).into_iter().next()?.ok()?;
                    Some((i + 1, value.get()))
                })
                .collect();
            prop_assume!(!values.is_empty());
            let (start, value) = values[at.index(values.len())];
            let end = start + value.len();
            body.replace_range(start..end, token);
        }
        decode_both(&body)?;
    }

    #[test]
    fn every_call_result_and_text_arrives(
        turns in prop::collection::vec((".{0,20}", "[a-z]{1,8}", ".{0,20}"), 0..6),
    ) {
        let mut chat = Vec::new();
        for (i, (said, tool, answered)) in turns.iter().enumerate() {
            let id = format!("c{i}");
            chat.push(serde_json::json!({"role": "assistant", "content": said, "tool_calls": [
                {"id": id, "type": "function", "function": {"name": tool, "arguments": "{}"}}]}));
            chat.push(serde_json::json!({"role": "tool", "tool_call_id": id, "content": answered}));
        }
        let messages = decode_messages(&serde_json::Value::from(chat).to_string()).unwrap();
        let read: Vec<_> = messages
            .chunks(2)
            .map(|pair| {
                let call = pair[0].calls().next().unwrap();
                assert_eq!(call.id, pair[1].as_result().unwrap().call);
                (pair[0].text().into_owned(), call.name.to_string(), pair[1].text().into_owned())
            })
            .collect();
        prop_assert_eq!(read, turns);
    }
}
