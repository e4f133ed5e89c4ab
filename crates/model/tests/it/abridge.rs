//! Long arguments are cut down to their form.

use interleaf_model::{Arguments, Json};
use interleaf_samples::strategy::{json, text};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

#[test]
fn members_that_come_first_stay_and_long_ones_are_cut() {
    let text = "x".repeat(1_500);
    let list: Vec<u32> = (0..2_000).collect();
    let value = json!({"path": "a.rs", "edit": {"new": text, "line": 3}, "list": list, "last": 1});
    let short = Arguments::from_json(Json::from(&value)).abridged().unwrap();
    let short: Value = serde_json::from_str(short.as_str()).unwrap();
    assert_eq!(short["path"], "a.rs");
    let cut = format!("{}[… 1380 characters left out …]", "x".repeat(120));
    assert_eq!(short["edit"], json!({"new": cut, "line": 3}));
    let shown = short["list"].as_array().unwrap();
    assert_eq!(shown[..3], [json!(0), json!(1), json!(2)]);
    let n_left_out = 2_000 - (shown.len() - 1);
    assert_eq!(shown.last().unwrap(), &json!(format!("[… {n_left_out} more left out …]")));
    assert_eq!(short["…"], "[… 1 more left out …]");
}

#[test]
fn escapes_and_characters_are_not_cut() {
    for (letter, width) in [("\\n", 2), ("\\u00e9", 6), ("\\ud83d\\ude00", 12), ("é", 2), ("👩", 4)]
    {
        for shift in 0..width {
            let text = format!("{}{}", "a".repeat(shift), letter.repeat(900));
            let arguments = Arguments::from_text(&format!(r#"{{"t": "{text}"}}"#));
            let short = arguments.abridged().unwrap();
            assert!(matches!(short, Arguments::Object(_)), "{short:?}");
        }
    }
    let short = Arguments::from_text(&"not JSON ".repeat(200)).abridged().unwrap();
    assert!(short.as_str().starts_with("not JSON not"), "{short:?}");
    assert!(short.as_str().ends_with(" characters left out …]"), "{short:?}");
}

proptest! {
    #[test]
    fn what_is_abridged_is_an_object_of_the_same_form_and_short(
        members in vec((prop_oneof![Just("k".to_owned()), text()], json(), text(), 0..60_usize), 1..12),
        space in select(&["", " ", "\n\t "][..]),
    ) {
        let member = |(at, (key, value, text, n)): (usize, &(String, Json, String, usize))| {
            let key = serde_json::to_string(&format!("{at}{key}")).unwrap();
            let value = match n % 3 {
                0 => value.as_str().to_owned(),
                1 => serde_json::to_string(&text.repeat(*n)).unwrap(),
                _ => format!("[{}]", vec![value.as_str(); n + 1].join(&format!("{space},"))),
            };
            format!("{space}{key}{space}:{space}{value}{space}")
        };
        let members: Vec<String> = members.iter().enumerate().map(member).collect();
        let arguments = Arguments::from_text(&format!("{{{}}}", members.join(",")));
        let Some(short) = arguments.abridged() else {
            return Ok(());
        };
        prop_assert!(short.as_str().len() < arguments.as_str().len());
        prop_assert!(short.as_str().len() < 3_000, "{}", short.as_str());
        if let Arguments::Object(json) = &arguments {
            prop_assert!(matches!(short, Arguments::Object(_)), "{short:?}");
            let whole = json.to_value();
            let Value::Object(short) = serde_json::from_str(short.as_str()).unwrap() else {
                panic!("{short:?}")
            };
            for (key, value) in short.iter().filter(|(key, _)| *key != "…") {
                let same = std::mem::discriminant(value) == std::mem::discriminant(&whole[key]);
                prop_assert!(same, "{key}: {value}");
            }
        }
    }
}

#[test]
fn the_note_counts_the_characters_of_the_text_and_not_of_its_json() {
    for character in ["\n", "é", "\u{1}", "🙂"] {
        let text = character.repeat(2_000);
        let json = serde_json::to_string(&json!({ "text": text })).unwrap();
        for json in [json.replace('é', "\\u00e9").replace('🙂', "\\ud83d\\ude42"), json] {
            let short = Arguments::from_text(&json).abridged().unwrap();
            let short: Value = serde_json::from_str(short.as_str()).unwrap();
            let short = short["text"].as_str().unwrap();
            let (head, note) = short.split_once("[… ").unwrap();
            let n: usize = note.split(' ').next().unwrap().parse().unwrap();
            assert_eq!(head.chars().count() + n, 2_000, "{json:.40}");
        }
    }
}
