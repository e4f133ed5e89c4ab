//! JSON texts whose every byte matters.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use interleaf_model::Json;

/// Values that come back changed from a parser that understands them.
const TOKENS: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1e2",
    "1E+2",
    "1.0",
    "0.10",
    "1e999",
    "9007199254740993",
    "123456789012345678901234567890",
    "-1.5e-7",
    r#""""#,
    r#""text""#,
    r#""\u00e9\/\n""#,
    r#""\ud800""#,
    r#""[call]""#,
    "\"é漢👩\u{7f}\u{9b}\u{2028}\"",
    "[]",
    "[ ]",
    "{}",
    "{ }",
];

/// White space between tokens. Line breaks are rare, because the notation cannot
/// keep them and its laws pass such values over.
fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![40 => Just(""), 8 => Just(" "), 2 => Just("\t"), 1 => Just("\n"), 1 => Just("\r\n ")]
}

/// Any JSON value, with odd numbers, escapes, repeated keys and white space.
pub fn json() -> impl Strategy<Value = Json> {
    value_text().prop_filter_map("a JSON value", |text| Json::parse(text).ok()).boxed()
}

/// A JSON object, of the same oddness.
pub fn json_object() -> impl Strategy<Value = Json> {
    object_text(value_text())
        .prop_filter_map("a JSON object", |text| Json::parse(text).ok())
        .boxed()
}

fn value_text() -> impl Strategy<Value = String> {
    let leaf = select(TOKENS).prop_map(str::to_owned);
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![array_text(inner.clone()), object_text(inner)]
    })
}

fn array_text(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (space(), vec(inner, 0..3))
        .prop_map(|(gap, items)| format!("[{gap}{}{gap}]", items.join(&format!("{gap},{gap}"))))
}

fn object_text(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let key = select(&["b", "a", "", "z", "path", r"\u0041", "é", "a"][..]);
    (space(), vec((key, inner), 0..4)).prop_map(|(gap, fields)| {
        let fields = fields.into_iter().map(|(key, value)| format!("\"{key}\"{gap}:{gap}{value}"));
        let fields = fields.collect::<Vec<_>>().join(&format!("{gap},{gap}"));
        format!("{{{gap}{fields}{gap}}}")
    })
}
