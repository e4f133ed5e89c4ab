//! Unknown fields of a body survive a round trip (D9).

use proptest::prelude::*;

use interleaf_samples::strategy::json;

use super::rewritten;

/// A body with a place for an unknown field on every level.
const BODY: &str = r#"{"model":"m","messages":[
{"role":"system","content":"s"@1},
{"role":"user","content":[{"type":"text","text":"t"@2},
 {"type":"image_url","image_url":{"url":"https://example.org/a"@3}@4},
 {"type":"file","file":{"file_id":"f"@5}@6},
 {"type":"input_audio","input_audio":{"data":"UklG","format":"wav"@7}@8}]@9},
{"role":"assistant","content":"a","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"@10}@11},
 {"id":"c2","type":"custom","custom":{"name":"g","input":"x"@12}@13}]@14},
{"role":"tool","tool_call_id":"c1","content":"1"@15},
{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"2"@16}]}],
"tools":[{"type":"function","function":{"name":"f"@17}@18},{"type":"web_search"@19}],"stream":true@20}"#;

const N_PLACES: usize = 20;

fn field(number: usize, value: &str) -> String {
    format!(r#","x_{number}":{value}"#)
}

fn filled(value: impl Fn(usize) -> String) -> String {
    // From the end, so that the place 1 is not found in 10.
    (1..=N_PLACES)
        .rev()
        .fold(BODY.to_owned(), |body, number| body.replace(&format!("@{number}"), &value(number)))
}

proptest! {
    #[test]
    fn a_field_of_any_value_on_any_level_comes_back_byte_for_byte(
        values in prop::collection::vec(json(), N_PLACES),
    ) {
        let body = filled(|number| field(number, values[number - 1].as_str()));
        let (once, _) = rewritten(&body, "openai");
        for (i, value) in values.iter().enumerate() {
            let expected = &field(i + 1, value.as_str())[1..];
            prop_assert!(once.contains(expected), "{expected} in {once}");
        }
        prop_assert_eq!(&rewritten(&once, "openai").0, &once);
    }
}

#[test]
fn parts_of_an_unknown_type_come_back_as_they_came() {
    let body = r#"{"messages":[{"role":"user","content":[{"type": "video_url", "n" : 1e2}]}]}"#;
    assert_eq!(rewritten(body, "openai").0, body);
}
