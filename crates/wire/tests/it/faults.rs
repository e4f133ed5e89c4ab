//! The same fault in a body of any API is named by its place and its rule.

use interleaf_wire::ErrorKind::{self, Form, Syntax};
use interleaf_wire::{Family, decode_request};

/// Where a family keeps its turns, and how it begins one of the user's.
fn words(family: Family) -> (&'static str, &'static str) {
    match family {
        Family::OpenaiChat | Family::Anthropic | Family::Bedrock => ("messages", "content"),
        Family::OpenaiResponses => ("input", "content"),
        Family::Gemini => ("contents", "parts"),
    }
}

/// A fault, in a body whose list of turns is LIST and whose turn holds CONTENT.
const FAULTS: [(&str, ErrorKind, &str); 8] = [
    ("", Syntax, "line 1 column 1: EOF while parsing a value"),
    ("{", Syntax, "line 1 column 2: EOF while parsing an object"),
    ("7", Form, "line 1 column 1: must be an object, not a number"),
    ("{}", Form, "line 1 column 1: a request needs `LIST`"),
    ("{\n \"LIST\":[7]}", Form, "LIST[0], line 2 column AT: must be an object, not a number"),
    (
        r#"{"LIST":[{"role":7,"CONTENT":[]}]}"#,
        Form,
        "LIST[0].role, line 1 column ROLE: must be a string, not a number",
    ),
    (
        r#"{"LIST":[{"role":"robot","CONTENT":[]}]}"#,
        Form,
        r#"LIST[0].role, line 1 column ROLE: unknown role "robot""#,
    ),
    (
        r#"{"LIST":[{"role":"user","CONTENT":[7]}]}"#,
        Form,
        "LIST[0].CONTENT[0], line 1 column PART: must be an object, not a number",
    ),
];

#[test]
fn a_fault_is_named_by_place_and_rule_on_every_api() {
    for family in Family::ALL {
        let (list, content) = words(family);
        for (text, kind, expected) in FAULTS {
            let text = text.replace("LIST", list).replace("CONTENT", content);
            let column = |piece: &str, skip: usize| {
                let line = text.lines().last().unwrap_or_default();
                line.find(piece).map_or(0, |at| at + skip + 1).to_string()
            };
            let expected = expected
                .replace("LIST", list)
                .replace("CONTENT", content)
                .replace("AT", &column("[7]", 1))
                .replace("ROLE", &column("\"role\":", 7))
                .replace("PART", &column("[7]", 1));
            let error = decode_request(family, &text).err();
            // A request to continue an answer that the API has may say nothing itself.
            if family == Family::OpenaiResponses && text == "{}" {
                assert_eq!(error, None);
                continue;
            }
            let told = error.as_ref().map(ToString::to_string).unwrap_or_default();
            // A family may say more: which roles there are, for example.
            assert!(told.starts_with(&expected), "{family}: {text}\n{told}\n{expected}");
            assert_eq!(error.map(|error| error.kind()), Some(kind), "{family}: {text}");
        }
    }
}

#[test]
fn half_a_surrogate_pair_in_a_text_is_a_fault_with_a_place() {
    let text = |family: Family| match family {
        Family::OpenaiChat | Family::Anthropic => {
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"\ud800"}]}]}"#
        }
        Family::OpenaiResponses => {
            r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"\ud800"}]}]}"#
        }
        Family::Gemini => r#"{"contents":[{"role":"user","parts":[{"text":"\ud800"}]}]}"#,
        Family::Bedrock => r#"{"messages":[{"role":"user","content":[{"text":"\ud800"}]}]}"#,
    };
    for family in Family::ALL {
        let (list, content) = words(family);
        let error = decode_request(family, text(family)).err();
        let told = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(
            told.starts_with(&format!("{list}[0].{content}[0].text, line 1 column ")),
            "{told}"
        );
    }
}
