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

const CALL: &str = "<tools><invoke name=\"get_weather\"><parameter name=\"city\">Oslo</parameter></invoke></tools>";
const JSON_CALL: &str = r#"{"name": "get_weather", "arguments": {"city": "Oslo"}}"#;

/// How many calls a text makes, whole and in pieces of every size up to its end.
fn n_calls(said: &str) -> usize {
    let is_call = |own: &&Spoken| matches!(own, Spoken::Call { .. });
    let whole = text_tools().speech(said, false);
    let n = whole.iter().filter(is_call).count();
    for size in [1, 7, 64, said.len()] {
        let pieces: Vec<String> = said
            .chars()
            .collect::<Vec<_>>()
            .chunks(size)
            .map(|piece| piece.iter().collect())
            .collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let in_pieces = heard(&pieces);
        assert_eq!(in_pieces.iter().filter(is_call).count(), n, "by {size}: {said}");
    }
    // Of what was cut, no call is kept that the whole would not make.
    let cut = text_tools().speech(said, true);
    assert!(cut.iter().filter(is_call).count() <= n, "cut: {said}");
    n
}

#[test]
fn a_call_in_a_comment_is_never_made() {
    for call in [CALL, JSON_CALL, "[TOOL_CALLS]ping[ARGS]{}"] {
        for said in [
            format!("<!-- {call} -->"),
            format!("<!--\n{call}\n-->\nThat is how it is done."),
            format!("I will not.\n<!-- not now: {call}"),
            format!("```xml\n<!-- {call} -->\n```"),
            format!("<tools><!-- {call} --></tools>"),
        ] {
            assert_eq!(n_calls(&said), 0, "{said}");
        }
        let said = format!("<!-- an example: {call} -->\nSo:\n{CALL}");
        assert_eq!(n_calls(&said), 1, "{said}");
        assert_eq!(n_calls(&format!("<!-- none -->{call}")), 1, "{call}");
    }
    // Between the parameters of a call a comment is no end of it.
    let said = CALL.replace("<parameter", "<!-- the city --><parameter");
    assert_eq!(n_calls(&said), 1);
}

#[test]
fn e8_a_call_in_a_fence_is_made_if_the_answer_ends_with_it() {
    for language in ["", "xml", "json", "text", "tool_call"] {
        for call in [CALL, JSON_CALL] {
            for said in [
                format!("```{language}\n{call}\n```"),
                format!("```{language}\n{call}\n```\n\n"),
                format!("```{language}\n{call}"),
                format!("I look it up.\n\n```{language}\n{call}\n```"),
                format!("<think>Hm, `ls`?</think>\nFirst this:\n```{language}\n{call}\n```\n"),
                format!("```{language}\n{call}\n```<|im_end|>"),
            ] {
                assert_eq!(n_calls(&said), 1, "{said}");
            }
            let both = format!("Both:\n```{language}\n{call}\n```\n\n```{language}\n{call}\n```");
            assert_eq!(n_calls(&both), 2, "{both}");
        }
    }
    let wrapped = format!("<tools>\n```xml\n{}\n```\n</tools>", &CALL[7..CALL.len() - 8]);
    assert_eq!(n_calls(&wrapped), 1, "{wrapped}");
}

#[test]
fn a_call_in_a_fence_after_which_something_is_said_shows_how_a_call_is_written() {
    for language in ["", "xml", "json", "text"] {
        for call in [CALL, JSON_CALL] {
            for said in [
                format!("You would write:\n```{language}\n{call}\n```\nShall I?"),
                format!("```{language}\n{call}\n```\n\nThis asks for the weather."),
                format!("A:\n```{language}\n{call}\n```\nB:\n```{language}\n{call}\n```\nWhich?"),
                format!("```{language}\n{call}\n```\n```python\nprint(1)\n```"),
                format!("- so:\n  ```{language}\n  {call}\n  ```\n- or not at all"),
            ] {
                assert_eq!(n_calls(&said), 0, "{said}");
                assert_eq!(text_tools().speech(&said, false), [text(&said)]);
            }
        }
    }
    // Nothing but calls is written in such a language.
    let said = "```tool_code\nping()\n```\nI wait for what it says.";
    assert_eq!(n_calls(said), 1);
    // Who asked for a call takes any.
    let said = format!("Here it is:\n```xml\n{CALL}\n```\nThat is all.");
    assert_eq!(text_tools().read(&said).calls.len(), 1);
}

#[test]
fn a_fence_that_is_called_an_example_holds_none_also_at_the_end() {
    for call in [CALL, JSON_CALL] {
        for words in ["For example:", "It looks like this:\n", "**Example**", "Zum Beispiel:"] {
            let said = format!("Calls are written in XML. {words}\n```xml\n{call}\n```");
            assert_eq!(n_calls(&said), 0, "{said}");
            assert_eq!(text_tools().speech(&said, false), [text(&said)]);
            let two = format!("{words}\n```xml\n{call}\n```\n```xml\n{call}\n```\n");
            assert_eq!(n_calls(&two), 0, "{two}");
        }
        let others = [
            "It looks like the build failed. Let me read the log:",
            "I'll open examples/agent.rs:",
            "Now I fetch example.com:",
            "I open the example:",
            "Осталось примерно три файла:",
            "e.g. the log, which I read now:",
        ];
        for words in others {
            let said = format!("{words}\n```xml\n{call}\n```");
            assert_eq!(n_calls(&said), 1, "{said}");
        }
        // What was an example before says nothing of what comes now.
        let said = format!("That was an example. Now I look.\nSo:\n```xml\n{call}\n```");
        assert_eq!(n_calls(&said), 1, "{said}");
        // Outside of a fence a call is a call.
        assert_eq!(n_calls(&format!("For example:\n{CALL}")), 1);
    }
}

#[test]
fn a_code_block_beside_a_call_stays_whole() {
    let json = format!("<tool_call>{JSON_CALL}</tool_call>");
    let marked = "<|python_tag|>{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Oslo\"}}";
    for made in [CALL, json.as_str(), marked] {
        for block in ["```\nplain code\n```", "```rust\nfn main() {}\n```", "~~~\ncode\n~~~"] {
            for gap in ["\n", "\n\n"] {
                let oslo = || call("get_weather", json!({"city": "Oslo"}));
                let before = format!("See\n{block}{gap}{made}");
                let expected = plain(&[text(&format!("See\n{block}")), oslo()]);
                assert_eq!(plain(&text_tools().speech(&before, false)), expected, "{before}");
                assert_eq!(plain(&heard(&[&before])), expected, "{before}");
                let bytes: Vec<String> = before.chars().map(String::from).collect();
                let bytes: Vec<&str> = bytes.iter().map(String::as_str).collect();
                assert_eq!(plain(&heard(&bytes)), expected, "{before}");
                let after = format!("{made}{gap}{block}");
                let expected = plain(&[oslo(), text(block)]);
                assert_eq!(plain(&text_tools().speech(&after, false)), expected, "{after}");
            }
        }
    }
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
