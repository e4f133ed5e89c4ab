use std::sync::LazyLock;

use interleaf_model::{ErrorKind, Transcript};
use interleaf_samples::strategy::transcript;
use jsonschema::Validator;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use crate::bad_transcripts::{self, Breaks};

const SCHEMA: &str = include_str!("../../../../docs/transcript.schema.json");
const TRANSCRIPT_PAGE: &str = include_str!("../../../../docs/transcript.md");
const NOTATION_PAGE: &str = include_str!("../../../../docs/notation.md");

static VALIDATOR: LazyLock<Option<Validator>> =
    LazyLock::new(|| jsonschema::validator_for(&serde_json::from_str(SCHEMA).ok()?).ok());

fn passes(value: &Value) -> bool {
    VALIDATOR.as_ref().is_some_and(|validator| validator.is_valid(value))
}

/// The first fenced block of that language.
fn fenced<'a>(page: &'a str, language: &str) -> &'a str {
    let start = page.split_once(&format!("```{language}\n")).map_or("", |(_, rest)| rest);
    start.split_once("```").map_or("", |(block, _)| block)
}

#[test]
fn the_schema_is_a_valid_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    assert!(VALIDATOR.is_some());
}

#[test]
fn the_example_of_the_page_passes_the_schema_and_is_written_back_as_it_stands() {
    let example = fenced(TRANSCRIPT_PAGE, "json");
    assert!(passes(&serde_json::from_str(example).unwrap()));
    let transcript = Transcript::read(example).unwrap();
    let written: Value = serde_json::from_str(&transcript.write()).unwrap();
    assert_eq!(Transcript::read(&written.to_string()).unwrap(), transcript);
    // Counters are written in full, so only the log is the same text.
    let log = |text: &str| text.split("\"view\"").next().map(str::to_owned);
    assert_eq!(log(&transcript.write()), log(example));
}

#[test]
fn the_example_of_the_notation_page_parses() {
    let messages = interleaf_model::notation::parse(fenced(NOTATION_PAGE, "text")).unwrap();
    assert_eq!(messages.len(), 6);
}

#[test]
fn the_page_names_every_field_of_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let definitions = schema["$defs"].as_object().unwrap().values().chain([&schema]);
    for definition in definitions {
        for field in definition["properties"].as_object().into_iter().flat_map(|p| p.keys()) {
            assert!(TRANSCRIPT_PAGE.contains(&format!("`{field}`")), "{field}");
        }
    }
}

#[test]
fn the_schema_refuses_what_breaks_the_shape_and_nothing_else() {
    for bad in bad_transcripts::ALL {
        let text = bad.text();
        if bad.breaks() == Breaks::Json {
            continue;
        }
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(passes(&value), bad.breaks() == Breaks::Meaning, "{text}");
    }
}

#[test]
fn the_schema_and_the_reader_agree_on_what_is_blank() {
    let mut value: Value = serde_json::from_str(
        r#"{"interleaf": 1, "messages": [{"role": "tool", "call": "", "parts": [{"type": "text", "text": ""}]}]}"#,
    )
    .unwrap();
    for c in ('\0'..'\u{3100}').chain(['\u{feff}']) {
        value["messages"][0]["call"] = Value::from(c.to_string());
        assert_eq!(passes(&value), !c.is_whitespace(), "{c:?}");
        assert_eq!(Transcript::read(&value.to_string()).is_ok(), !c.is_whitespace(), "{c:?}");
    }
}

/// The value with one of its inner values, or one of its keys, changed.
fn changed(value: &mut Value, at: Index, change: Index) {
    fn walk<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
        if *left == 0 {
            return Some(value);
        }
        *left -= 1;
        match value {
            Value::Array(items) => items.iter_mut().find_map(|item| walk(item, left)),
            Value::Object(fields) => fields.values_mut().find_map(|field| walk(field, left)),
            _ => None,
        }
    }
    fn size(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(size).sum(),
            Value::Object(fields) => fields.values().map(size).sum(),
            _ => 0,
        }
    }
    let mut left = at.index(size(value));
    let Some(found) = walk(value, &mut left) else {
        return;
    };
    match (change.index(5), found) {
        (0, found) => *found = Value::from("text"),
        (1, found) => *found = Value::from(vec![Value::from(-1)]),
        (2, Value::Object(fields)) => drop(fields.insert("name".to_owned(), Value::from("x"))),
        (3, Value::Object(fields)) => {
            let first = fields.keys().next().cloned();
            first.and_then(|key| fields.remove(&key));
        }
        (4, Value::Array(items)) => items.clear(),
        (_, found) => *found = Value::from(7),
    }
}

proptest! {
    #[test]
    fn what_is_written_passes_the_schema(transcript in transcript(0..6)) {
        // Raw values may hold numbers and escapes that have no value in memory.
        if let Ok(value) = serde_json::from_str(&transcript.write()) {
            prop_assert!(passes(&value));
        }
    }

    #[test]
    fn the_reader_finds_no_fault_with_the_shape_of_what_passes_the_schema(
        transcript in transcript(1..3),
        at in any::<Index>(),
        change in any::<Index>(),
    ) {
        let Ok(mut value) = serde_json::from_str(&transcript.write()) else {
            return Ok(());
        };
        changed(&mut value, at, change);
        let read = Transcript::read(&value.to_string());
        let kind = read.as_ref().err().map(interleaf_model::Error::kind);
        if passes(&value) {
            prop_assert_ne!(kind, Some(ErrorKind::Form), "{:?}", read);
        } else {
            prop_assert!(kind.is_some(), "{}", value);
        }
    }
}
