//! No error shows a key, and none moves the cursor.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_model::Secret;
use interleaf_wire::{ApiError, Decoder, Error, Family, NameMap, decode_error, write_error};
use proptest::prelude::*;
use proptest::sample::select;

/// Keys as their makers make them; none is real.
const KEYS: [&str; 14] = [
    "sk-proj-0123456789abcdefghij",
    "sk-ant-api03-abcdefghij.klmnopqrst",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "gsk_0123456789abcdefghij",
    "xai-0123456789abcdefghij",
    "hf_abcdefghijklmnopqrstuv",
    "nvapi-0123456789abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
    "0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef.AbCdEfGh12345678",
    "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0",
    "ghp_0123456789abcdefghij",
    "pplx-0123456789abcdefghij",
];

fn all_of(error: &ApiError) -> String {
    format!(
        "{error} {error:?} {} {:?} {:?} {:?}",
        error.message(),
        error.code(),
        error.param(),
        error.request_id()
    )
}

#[test]
fn a_key_is_masked_in_every_field_of_an_error() {
    for key in KEYS {
        let body = format!(
            r#"{{"error":{{"message":"bad key: {key}.","type":"{key}","code":"{key}","param":"headers.{key}"}}}}"#
        );
        let error = decode_error(Family::OpenaiChat, 401, [], body.as_bytes());
        let shown = all_of(&error);
        assert!(!shown.contains(&key[4..]), "{key}: {shown}");
        assert_eq!(error.message(), format!("bad key: {}***.", &key[..4]));
        let error = decode_error(Family::OpenaiChat, 500, [("x-request-id", key)], b"{}");
        let is_number = key.starts_with('0') || key.starts_with("A1");
        assert_eq!(error.request_id() == Some(key), is_number, "{key}");
    }
}

#[test]
fn a_key_is_known_inside_of_a_word_and_after_its_scheme() {
    let table = [
        ("apikeysk-0123456789abcdefghij", "apikeysk-0***"),
        ("key=sk-0123456789abcdefghij&x=1", "key=sk-0***&x=1"),
        ("(Bearer tok3n.of-mine)", "(Bearer tok3***)"),
        ("a task-management-configuration", "a task-management-configuration"),
        ("Bearer authentication is missing", "Bearer authentication is missing"),
        (
            "Item 'rs_68af4030baa48193b0b43b4c2a176a1a0e6967589f080e77' of type 'reasoning'",
            "Item 'rs_68af4030baa48193b0b43b4c2a176a1a0e6967589f080e77' of type 'reasoning'",
        ),
        (
            "tool_use ids: toolu_01A09q90qw90lq917835lq9, call_abcDEF0123456789abcdefgh",
            "tool_use ids: toolu_01A09q90qw90lq917835lq9, call_abcDEF0123456789abcdefgh",
        ),
        (
            "us.anthropic.claude-3-5-sonnet-20241022-v2:0 is not there",
            "us.anthropic.claude-3-5-sonnet-20241022-v2:0 is not there",
        ),
    ];
    for (said, shown) in table {
        let error = decode_error(Family::OpenaiChat, 400, [], said.as_bytes());
        assert_eq!(error.message(), shown);
    }
}

#[test]
fn a_server_moves_no_cursor_and_adds_no_line_to_a_log() {
    let said = "one\r\n\u{1b}[2Jtwo \u{202e}eerht\u{2066}\u{2028}";
    let error =
        decode_error(Family::OpenaiChat, 500, [("x-request-id", "a\u{7}b")], said.as_bytes());
    assert_eq!(error.to_string(), "one\\r\\n\\u{1b}[2Jtwo \\u{202e}eerht\\u{2066}");
    assert_eq!(Error::from(error.clone()).to_string(), error.to_string());
    assert_eq!(write_error(Family::OpenaiChat, &error).headers, []);
}

#[test]
fn a_body_that_is_too_large_for_an_error_is_quoted_by_its_head() {
    let body = format!("[{}0]", "0,".repeat(5_000_000));
    let error = decode_error(Family::Gemini, 500, [], body.as_bytes());
    assert!(error.message().starts_with("[0,0,") && error.message().chars().count() == 1001);
}

fn shown(decoder: &Decoder, said: &str) -> Vec<String> {
    let as_text = serde_json::Value::from(said);
    let refused = format!(r#"{{"type":"error","error":{{"message":{as_text},"code":{as_text}}}}}"#);
    let mut errors = vec![
        decoder.whole(401, [("x-request-id", said)], refused.as_bytes()).unwrap_err(),
        decoder.whole(401, [], said.as_bytes()).unwrap_err(),
        decoder.whole(200, [], refused.as_bytes()).unwrap_err(),
    ];
    for event in [format!("data: {refused}\n\n"), format!("data: {{{said}\n\n")] {
        let mut stream = decoder.stream();
        errors.push(stream.push(event.as_bytes()).unwrap_err());
        errors.push(stream.finish().unwrap_err());
    }
    // What is no event at all, and what is no text.
    for line in [format!("<{said}").into_bytes(), [b"<\xff", said.as_bytes()].concat()] {
        let mut stream = decoder.stream();
        stream.push(&line).unwrap();
        errors.push(stream.finish().unwrap_err());
        let mut stream = decoder.stream();
        let ended = [line.as_slice(), b"\n"].concat();
        errors.push(stream.push(&ended).err().unwrap_or_else(|| stream.finish().unwrap_err()));
    }
    errors.iter().map(|error| format!("{error} {error:?} {}", error.message())).collect()
}

#[test]
fn the_key_of_the_request_is_known_however_it_is_repeated() {
    let key = "tok/en+0f~mine-98765-wxyz";
    let decoder = Decoder::new(Family::OpenaiChat, NameMap::default()).hiding(&Secret::new(key));
    let spaced: String = key.chars().flat_map(|c| [c, ' ']).collect();
    let table = [
        (format!("bad key {key}, sorry"), "bad key ***, sorry"),
        (format!("bad key {spaced}, sorry"), "bad key *** , sorry"),
        (format!("bad key {}\n  {}, sorry", &key[..9], &key[9..]), "bad key ***, sorry"),
        ("key=tok%2Fen%2B0f%7Emine-98765-wxyz&x=1".to_owned(), "key=***&x=1"),
        (r#"{"k":"tok\/en\u002b0f~mine-98765-wxyz"}"#.to_owned(), r#"{"k":"***"}"#),
        ("Basic dG9rL2VuKzBmfm1pbmUtOTg3NjUtd3h5eg== is wrong".to_owned(), "Basic *** is wrong"),
        (
            "Basic YXBpOnRvay9lbiswZn5taW5lLTk4NzY1LXd4eXo= is wrong".to_owned(),
            "Basic *** is wrong",
        ),
        ("it begins with tok/en+0f~mine and ends".to_owned(), "it begins with *** and ends"),
        ("it ends with ine-98765-wxyz.".to_owned(), "it ends with ***."),
        ("die tägliche Übung: 100 % é".to_owned(), "die tägliche Übung: 100 % é"),
    ];
    for (said, shown) in table {
        assert_eq!(decoder.hidden(&said), shown, "{said}");
    }
}

#[test]
fn a_key_that_holds_what_looks_like_an_escape_is_known() {
    for key in [r"ab%2Fcd%41ef-98765", r"ab\/cd\nef-98765-x", "2Fabcdefghijkl"] {
        let decoder =
            Decoder::new(Family::OpenaiChat, NameMap::default()).hiding(&Secret::new(key));
        let escaped = key.replace('%', "%25").replace('\\', r"\\");
        for said in [key, &escaped] {
            assert_eq!(decoder.hidden(&format!("is {said}, so")), "is ***, so", "{said}");
        }
        for before in ["%", r"\", r"\u00"] {
            let shown = decoder.hidden(&format!("{before}{key}"));
            assert!(!shown.contains(&key[2..8]), "{before}{key}: {shown}");
        }
    }
}

#[test]
fn a_long_key_in_a_long_text_takes_no_time_of_both_lengths() {
    let key: String = (0..20_000_u32).map(|i| char::from(b'a' + (i * i % 23) as u8)).collect();
    let decoder = Decoder::new(Family::OpenaiChat, NameMap::default()).hiding(&Secret::new(key));
    let text = "The quick brown fox. ".repeat(50_000);
    assert_eq!(decoder.hidden(&text), text);
}

#[test]
fn a_line_that_is_no_text_is_quoted_by_its_head() {
    let decoder = Decoder::new(Family::OpenaiChat, NameMap::default());
    let line = ["data: ".as_bytes(), &[0xff; 100_000], b"\n"].concat();
    let error = decoder.stream().push(&line).unwrap_err();
    assert!(error.to_string().len() < 10_000, "{}", error.to_string().len());
}

#[test]
fn a_short_key_garbles_no_text() {
    let shown = |key: &str, said: &str| {
        Decoder::new(Family::OpenaiChat, NameMap::default()).hiding(&Secret::new(key)).hidden(said)
    };
    let said = "double trouble: req_double01 in the test of a";
    for key in ["a", "in", "the", "test", "of a"] {
        assert_eq!(shown(key, said), said, "{key}");
    }
    assert_eq!(shown("double", said), "*** trouble: req_double01 in the test of a");
}

proptest! {
    #[test]
    fn the_key_of_the_request_shows_in_no_error_wherever_it_stands(
        key in r"[A-Za-z0-9+/=_.~%\\-]{8,60}",
        family in select(vec![Family::OpenaiChat, Family::Anthropic, Family::Gemini, Family::OpenaiResponses]),
        n_before in 0_usize..1100,
        after in "[a-z ]{0,20}",
    ) {
        let decoder = Decoder::new(family, NameMap::default()).hiding(&Secret::new(key.as_str()));
        let said = format!("{}{key}{after}", "é".repeat(n_before));
        for shown in shown(&decoder, &said) {
            // Not even half of it, where a text is cut.
            prop_assert!(!shown.contains(&key[..6]), "{key}: {shown}");
        }
    }
}
