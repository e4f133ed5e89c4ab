//! Raw JSON that a parser would change, in every place that keeps it.

use interleaf_model::{Arguments, Json, Message, Transcript, notation};

/// Objects that a round trip through a parsed value would not give back.
const DELICATE: &[&str] = &[
    r#"{"n":1e2}"#,
    r#"{"n":1E+2,"m":-0,"x":0.10}"#,
    r#"{"n":123456789012345678901234567890}"#,
    r#"{"n":1e999}"#,
    r#"{"z":1,"a":2,"m":3}"#,
    r#"{"a":1,"a":2}"#,
    r#"{ "a" :  [ 1 ,2 ] }"#,
    "{\t\"a\":\t1}",
    r#"{"path":"a\/b\u00e9\ud83d\ude00"}"#,
    r#"{"half":"\ud800"}"#,
    "{\"raw\":\"é\u{7f}\u{9b}\u{2028}\"}",
    r#"{"deep":[[[[[[[[{}]]]]]]]]}"#,
];

/// The JSON of a message that holds `json` as a value of three kinds.
fn transcript_with(json: &str) -> String {
    format!(
        r#"{{"interleaf": 1, "messages": [{{"role": "assistant", "parts": [
            {{"type": "call", "id": "c1", "name": "ls", "arguments": {json}, "extra": {{"google": {json}}}}},
            {{"type": "opaque", "owner": "openai", "value": {json}}}
        ], "extra": {{"openai": {json}}}}}]}}"#
    )
}

fn kept(message: &Message) -> Vec<&str> {
    let mut kept: Vec<&str> = message.calls().map(|call| call.arguments.as_str()).collect();
    for part in message.parts() {
        if let interleaf_model::PartRef::Opaque(opaque) = part {
            kept.push(opaque.value.as_str());
        }
    }
    let extras = message.calls().map(|call| &call.extra).chain([&message.extra]);
    kept.extend(extras.flat_map(|extra| extra.iter().map(|(_, fields)| fields.as_str())));
    kept
}

#[test]
fn arguments_opaque_values_and_extras_are_kept_byte_for_byte() {
    for &json in DELICATE {
        let read = Transcript::read(&transcript_with(json)).unwrap();
        assert_eq!(kept(&read.messages[0]), [json; 4]);
        let again = Transcript::read(&read.write()).unwrap();
        assert_eq!(kept(&again.messages[0]), [json; 4]);
        let parsed = notation::parse(&notation::print_whole(&read.messages[0])).unwrap();
        assert_eq!(kept(&parsed[0]), [json; 4]);
    }
}

#[test]
fn line_breaks_in_the_arguments_of_a_plain_call_survive_the_notation() {
    let json = "{\n  \"a\": 1,\r\n\t\"b\": 2\n}";
    let line = format!("a [call c1 ls {}]", serde_json::Value::from(json));
    let messages = notation::parse(&line).unwrap();
    assert_eq!(kept(&messages[0]), [json]);
    assert_eq!(notation::print_whole(&messages[0]), line);
}

#[test]
fn the_notation_turns_line_breaks_in_other_raw_json_into_spaces() {
    let read = Transcript::read(&transcript_with("{\n\"a\":\t1\r\n}")).unwrap();
    let parsed = notation::parse(&notation::print_whole(&read.messages[0])).unwrap();
    assert_eq!(kept(&parsed[0]), ["{ \"a\":\t1  }"; 4]);
}

#[test]
fn arguments_that_are_no_object_are_kept_as_text() {
    for text in ["{\"path\": \"a", "[1, 2]", "\"x\"", "{}{}", "\u{a0}{}", "ls -la"] {
        assert_eq!(Arguments::from_text(text), Arguments::Invalid(text.into()));
    }
    assert_eq!(Arguments::from_text(" \n"), Arguments::none());
    assert_eq!(Arguments::from_text(" {\"a\": 1}\n").as_str(), "{\"a\": 1}");
}

#[test]
fn json_is_equal_where_its_text_is() {
    assert_eq!(Json::parse(" 1e2\n").unwrap(), Json::parse("1e2").unwrap());
    assert_ne!(Json::parse("1e2").unwrap(), Json::parse("100.0").unwrap());
}

#[test]
fn the_place_of_a_fault_in_json_counts_the_white_space_before_it() {
    let error = Json::parse("\n\n  {\"é\": x}").unwrap_err();
    assert_eq!(error.place().line_column, Some((3, 9)));
}
