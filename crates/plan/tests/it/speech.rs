//! What an agent's model says: words and calls, whole, while it comes, and cut.

use std::sync::Arc;

use interleaf_model::{Arguments, CallId, Extra, Json, Spoken, Tool, ToolCall};
use interleaf_plan::calls::{Listener, TextTools};
use proptest::prelude::*;
use serde_json::{Value, json};

fn tools() -> Vec<Tool> {
    let city = json!({"type": "object", "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}, "any": {},
    }});
    vec![
        Tool::new("get_weather", "Looks.", city),
        Tool::new("ping", "Pings.", json!({"type": "object"})),
    ]
}

fn text_tools() -> Arc<TextTools> {
    Arc::new(TextTools::new(&tools()))
}

fn call(name: &str, arguments: Value) -> Spoken {
    Spoken::Call { name: name.into(), arguments: Arguments::Object(Json::from(arguments)) }
}

fn text(text: &str) -> Spoken {
    Spoken::Text(text.to_owned())
}

/// What comes of a text that comes in pieces, joined.
fn heard(pieces: &[&str]) -> Vec<Spoken> {
    let mut listener = Listener::new(text_tools());
    let mut all: Vec<Spoken> = Vec::new();
    let mut take = |new: Vec<Spoken>| {
        for own in new {
            match (all.last_mut(), own) {
                (Some(Spoken::Text(before)), Spoken::Text(more)) => before.push_str(&more),
                (_, own) => all.push(own),
            }
        }
    };
    for piece in pieces {
        take(listener.push(piece));
    }
    take(listener.finish());
    all
}

/// The same, whatever the spelling of its JSON.
fn plain(spoken: &[Spoken]) -> Vec<(String, Option<Value>)> {
    let of = |own: &Spoken| match own {
        Spoken::Text(text) => (text.clone(), None),
        Spoken::Call { name, arguments } => {
            let value = match arguments {
                Arguments::Object(json) => json.to_value(),
                Arguments::Invalid(text) => json!({"invalid": &**text}),
            };
            (name.to_string(), Some(value))
        }
    };
    spoken.iter().map(of).collect()
}

#[test]
fn words_and_calls_come_in_their_order() {
    let said = "I will look.\n\n<tools>\n<invoke name=\"get_weather\"><parameter name=\"city\">Oslo</parameter>\n<parameter name=\"days\">2</parameter></invoke>\n<invoke name=\"ping\"></invoke></tools>";
    let expected = vec![
        text("I will look."),
        call("get_weather", json!({"city": "Oslo", "days": 2})),
        call("ping", json!({})),
    ];
    assert_eq!(plain(&text_tools().speech(said, false)), plain(&expected));
    assert_eq!(text_tools().speech("Just words, 1 < 2.\n", false), [text("Just words, 1 < 2.\n")]);
    assert_eq!(text_tools().speech("", false), []);
}

#[test]
fn a_call_of_a_tool_that_is_not_declared_is_a_call() {
    let said = "<tools><invoke name=\"fly\"><parameter name=\"to\">Oslo</parameter></invoke><invoke name=\"ping\"></invoke></tools>";
    let expected = vec![call("fly", json!({"to": "Oslo"})), call("ping", json!({}))];
    assert_eq!(plain(&text_tools().speech(said, false)), plain(&expected));
}

#[test]
fn a_call_that_cannot_be_read_is_a_call_with_unreadable_arguments() {
    for said in [
        "<tools><invoke name=\"get_weather\">Oslo, please</invoke></tools>",
        "<tools><invoke name=\"get_weather\"><parameter name=\"city\">Os",
    ] {
        let spoken = text_tools().speech(said, false);
        let [Spoken::Call { name, arguments: Arguments::Invalid(raw) }] = &spoken[..] else {
            panic!("{spoken:?}");
        };
        assert_eq!(name.as_str(), "get_weather");
        assert!(said.contains(&**raw), "{raw}");
    }
}

#[test]
fn half_a_tag_is_never_shown() {
    let said = "Now:\n<tools>\n<invoke name=\"ping\"></invoke></tools>";
    for end in 0..said.len() {
        let mut listener = Listener::new(text_tools());
        let shown = listener.push(&said[..end]);
        let words = shown.iter().filter_map(|own| match own {
            Spoken::Text(text) => Some(text.as_str()),
            Spoken::Call { .. } => None,
        });
        assert!(!words.collect::<String>().contains('<'), "{end}");
    }
    // What only looks like a tag is words as soon as that is known.
    let mut listener = Listener::new(text_tools());
    assert_eq!(listener.push("a <"), [text("a")]);
    assert_eq!(listener.push("b> c"), [text(" <b> c")]);
}

#[test]
fn a_call_comes_out_when_its_block_is_closed() {
    let mut listener = Listener::new(text_tools());
    assert_eq!(listener.push("<tools><invoke name=\"ping\"></invoke></tool"), []);
    assert_eq!(plain(&listener.push("s> and")), plain(&[call("ping", json!({}))]));
    assert_eq!(plain(&listener.finish()), plain(&[text("and")]));
}

#[test]
fn every_recorded_reply_comes_out_the_same_in_pieces() {
    let forms = include_str!("../../../../fixtures/plan/replies/forms.jsonl");
    let mut n = 0;
    for line in forms.lines().filter(|line| !line.trim().is_empty()) {
        let form: Value = serde_json::from_str(line).unwrap();
        let Some(reply) = form.get("text").or_else(|| form.get("reply")).and_then(Value::as_str)
        else {
            continue;
        };
        n += 1;
        let whole = heard(&[reply]);
        let chars: Vec<String> = reply.chars().map(String::from).collect();
        let chars: Vec<&str> = chars.iter().map(String::as_str).collect();
        assert_eq!(heard(&chars), whole, "{reply}");
        let calls = |all: &[Spoken]| {
            plain(all).into_iter().filter(|(_, call)| call.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(calls(&whole), calls(&text_tools().speech(reply, false)), "{reply}");
    }
    assert!(n > 20, "{n}");
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        "[ -~\n]{0,30}".prop_map(Value::from),
        Just(json!("</parameter></invoke></tools>")),
        Just(json!("<tools><invoke name=\"ping\"></invoke></tools>")),
        Just(json!([1, "<a>", {"b": null}])),
    ]
}

fn made() -> impl Strategy<Value = ToolCall> {
    let name = prop::sample::select(vec!["get_weather", "ping", "unknown_one"]);
    let fields = prop::collection::vec(
        (prop::sample::select(vec!["city", "days", "any", "x y"]), value()),
        0..4,
    );
    (name, fields).prop_map(|(name, fields)| {
        let object: serde_json::Map<String, Value> =
            fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        ToolCall {
            id: CallId::new("c").unwrap(),
            name: name.into(),
            arguments: Arguments::Object(Json::from(Value::Object(object))),
            extra: Extra::NONE,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// What is written for an answer reads back as that answer: whole, in pieces, and cut at
    /// every byte as a beginning of it.
    #[test]
    fn calls_that_are_written_read_back_whole_in_pieces_and_cut(
        words in "[a-zA-Z ,.<\n]{0,40}",
        calls in prop::collection::vec(made(), 1..4),
        step in 1..9_usize,
    ) {
        let words = words.trim().to_owned();
        prop_assume!(text_tools().read(&words).refusals.is_empty());
        let calls: Vec<&ToolCall> = calls.iter().collect();
        let block = text_tools().write_made(&calls);
        let said = if words.is_empty() { block } else { format!("{words}\n\n{block}") };
        let mut expected: Vec<Spoken> = (!words.is_empty()).then(|| text(&words)).into_iter().collect();
        expected.extend(calls.iter().map(|call| Spoken::Call {
            name: call.name.clone(), arguments: call.arguments.clone(),
        }));
        prop_assert_eq!(plain(&text_tools().speech(&said, false)), plain(&expected));
        let chars: Vec<char> = said.chars().collect();
        let pieces: Vec<String> = chars.chunks(step).map(|own| own.iter().collect()).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        prop_assert_eq!(plain(&heard(&pieces)), plain(&expected));
        for end in (0..said.len()).filter(|&end| said.is_char_boundary(end)) {
            let cut = plain(&text_tools().speech(&said[..end], true));
            for (n, own) in cut.iter().enumerate() {
                match &own.1 {
                    None => prop_assert!(expected.len() > n && words.starts_with(&own.0), "{:?}", own),
                    Some(_) => prop_assert_eq!(own, &plain(&expected)[n]),
                }
            }
        }
    }
}
