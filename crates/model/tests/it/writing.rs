//! Our writer of JSON against that of `serde_json`.

use std::collections::BTreeMap;

use interleaf_model::{Json, json_text};
use interleaf_samples::strategy::message;
use proptest::prelude::*;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Every way in which serde describes a value.
#[derive(Debug, Clone, Serialize)]
enum Shape {
    Nothing,
    One(String),
    Two(i64, f64),
    Named { text: String, byte: u8, letter: char, flag: bool },
}

#[derive(Debug, Clone, Serialize)]
struct Whole {
    shapes: Vec<Shape>,
    numbered: BTreeMap<i32, Option<u64>>,
    flagged: BTreeMap<bool, ()>,
    lettered: BTreeMap<char, (i8, u128)>,
    named: BTreeMap<String, Value>,
    raw: Option<Box<RawValue>>,
    #[serde(flatten)]
    more: BTreeMap<String, f32>,
}

/// Texts with everything that has to be escaped, at every distance from the start.
fn text() -> impl Strategy<Value = String> {
    let letter = prop_oneof![
        8 => any::<char>(),
        8 => proptest::char::range('a', 'z'),
        4 => proptest::char::range('\0', '"'),
        1 => Just('\\'),
        1 => Just('\u{7f}'),
        1 => Just('\u{80}'),
    ];
    proptest::collection::vec(letter, 0..40).prop_map(String::from_iter)
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Nothing),
        text().prop_map(Shape::One),
        (any::<i64>(), any::<f64>()).prop_map(|(a, b)| Shape::Two(a, b)),
        (text(), any::<u8>(), any::<char>(), any::<bool>())
            .prop_map(|(text, byte, letter, flag)| Shape::Named { text, byte, letter, flag }),
    ]
}

fn whole() -> impl Strategy<Value = Whole> {
    let maps = (any::<BTreeMap<i32, Option<u64>>>(), any::<BTreeMap<bool, ()>>());
    let more = (any::<BTreeMap<char, (i8, u128)>>(), any::<BTreeMap<String, f32>>());
    (proptest::collection::vec(shape(), 0..6), maps, more, text()).prop_map(
        |(shapes, (numbered, flagged), (lettered, more), said)| {
            let raw = serde_json::to_string_pretty(&json!({"said": said}));
            let raw = raw.and_then(RawValue::from_string).ok();
            let named = BTreeMap::from([(said.clone(), json!([said, null, 1.5, {"a": -1}]))]);
            Whole { shapes, numbered, flagged, lettered, named, raw, more }
        },
    )
}

proptest! {
    #[test]
    fn a_text_is_written_as_serde_json_writes_it(text in text()) {
        prop_assert_eq!(json_text(&text).unwrap(), serde_json::to_string(&text).unwrap());
    }

    #[test]
    fn every_shape_of_value_is_written_as_serde_json_writes_it(whole in whole()) {
        prop_assert_eq!(json_text(&whole).unwrap(), serde_json::to_string(&whole).unwrap());
    }

    #[test]
    fn a_message_is_written_as_serde_json_writes_it(message in message()) {
        prop_assert_eq!(json_text(&message).unwrap(), serde_json::to_string(&message).unwrap());
    }
}

#[test]
fn every_byte_that_has_to_be_escaped_is_escaped_at_every_place() {
    for special in (0..=0x7f_u8).map(char::from) {
        for before in 0..20 {
            let text = format!("{}{special}é{special}", "x".repeat(before));
            assert_eq!(json_text(&text).unwrap(), serde_json::to_string(&text).unwrap());
        }
    }
}

#[test]
fn json_that_is_passed_on_stays_byte_for_byte() {
    let json = Json::parse("{ \"a\" : [1.0, 2e5] }").unwrap();
    assert_eq!(json_text(&[&json]).unwrap(), "[{ \"a\" : [1.0, 2e5] }]");
}

#[test]
fn a_map_whose_keys_are_no_texts_is_an_error() {
    let keys = BTreeMap::from([(vec![1], 2)]);
    assert_eq!(
        json_text(&keys).unwrap_err().to_string(),
        serde_json::to_string(&keys).unwrap_err().to_string()
    );
    assert!(json_text(&BTreeMap::from([(None::<u8>, 2)])).is_err());
}
