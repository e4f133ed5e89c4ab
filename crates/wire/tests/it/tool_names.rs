//! Tool names that an API does not take.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_model::{Message, ToolName, notation};
use interleaf_wire::{
    Family, NameMap, Options, SessionEncoder, Vendor, decode_request, decode_tools, encode, lint,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::openai_chat::prompt;

fn tools(names: &[&str]) -> Vec<interleaf_model::Tool> {
    let list = names.iter().map(|name| json!({"type": "function", "function": {"name": name}}));
    let list = serde_json::Value::from(list.collect::<Vec<_>>());
    decode_tools(Family::OpenaiChat, &list.to_string()).unwrap().0
}

fn question() -> Vec<Message> {
    vec![Message::user("q")]
}

#[test]
fn a_name_that_is_refused_becomes_a_readable_one_and_comes_back() {
    let table = [
        ("notify.user", "notify_user"),
        ("fs/read file", "fs_read_file"),
        ("a..b", "a_b"),
        ("notify-user", "notify-user"),
    ];
    for (name, written) in table {
        let tools = tools(&[name]);
        for family in
            [Family::OpenaiChat, Family::OpenaiResponses, Family::Anthropic, Family::Bedrock]
        {
            let encoded = encode(
                &prompt(&question(), tools.clone()),
                Vendor::of(family),
                &Options::default(),
            );
            let encoded = encoded.unwrap();
            let body = String::from_utf8(encoded.to_bytes()).unwrap();
            assert!(body.contains(&format!("\"{written}\"")), "{family}: {body}");
            assert_eq!(encoded.names.original(written).as_str(), name);
            assert_eq!(NameMap::of(&tools, Vendor::of(family)), encoded.names);
        }
    }
}

#[test]
fn of_two_names_that_would_be_one_the_second_gets_a_short_suffix() {
    let names = NameMap::of(&tools(&["a.b", "a_b", "a/b"]), Vendor::of(Family::OpenaiChat));
    assert_eq!(names.original("a_b").as_str(), "a_b");
    let body = |names: &[&str]| {
        let prompt = prompt(&question(), tools(names));
        let encoded = encode(&prompt, Vendor::of(Family::OpenaiChat), &Options::default()).unwrap();
        let body: serde_json::Value = serde_json::from_slice(&encoded.to_bytes()).unwrap();
        let tools = body["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let written: Vec<String> = body(&["a.b", "a_b", "a/b"]);
    assert_eq!(written[1], "a_b");
    for name in [&written[0], &written[2]] {
        assert!(name.starts_with("a_b_") && name.len() == "a_b_".len() + 6, "{name}");
    }
    // Without the tool that has the name, the first one may.
    assert_eq!(body(&["a.b", "a/b"])[0], "a_b");
}

#[test]
fn a_call_of_a_tool_that_is_no_longer_declared_does_not_take_the_name_of_one_that_is() {
    let said = "u go\na [call c1 a.b]\nt c1= one\na [call c2 a_b]\nt c2= two\nu on\n";
    let prompt = prompt(&notation::parse(said).unwrap(), tools(&["a.b"]));
    let vendor = Vendor::of(Family::OpenaiChat);
    let encoded = encode(&prompt, vendor, &Options::model("m")).unwrap();
    let body: serde_json::Value = serde_json::from_slice(&encoded.to_bytes()).unwrap();
    let called = |at: usize| {
        let name = &body["messages"][at]["tool_calls"][0]["function"]["name"];
        name.as_str().unwrap().to_owned()
    };
    assert_eq!(called(1), "a_b");
    assert!(called(3).starts_with("a_b_"), "{body}");
    assert_eq!(encoded.names.original("a_b").as_str(), "a.b");
    assert_eq!(encoded.names.original(&called(3)).as_str(), "a_b");
}

/// Lint and the encoder go by the same row.
#[test]
fn gemini_gets_every_name_that_its_lint_takes_as_it_is() {
    let long = "n".repeat(128);
    let vendor = Vendor::of(Family::Gemini);
    for (name, is_taken) in [
        ("notify.user", true),
        ("mcp:fs-read", true),
        (long.as_str(), true),
        ("0day", false),
        ("a/b", false),
        (&format!("{long}n"), false),
    ] {
        let encoded = encode(&prompt(&question(), tools(&[name])), vendor, &Options::model("m"));
        let mut body: serde_json::Value =
            serde_json::from_slice(&encoded.unwrap().to_bytes()).unwrap();
        assert_eq!(lint::lint(vendor, &body.to_string()).unwrap(), [], "{name}");
        let written = &mut body["tools"][0]["functionDeclarations"][0]["name"];
        assert_eq!(written == name, is_taken, "{written}");
        *written = name.into();
        let faults = lint::lint(vendor, &body.to_string()).unwrap();
        assert_eq!(faults.is_empty(), is_taken, "{name}: {faults:?}");
    }
}

/// Turns are written one by one, so nothing but the name itself can tell them apart.
#[test]
fn tools_that_are_not_declared_never_share_a_name() {
    let names = ["a.b", "a_b", "a/b", "a b", "a.", "é", "ü"];
    let said: Vec<String> = (names.iter().enumerate())
        .map(|(n, name)| format!("a [call c{n} {name:?}]\nt c{n}= done\n"))
        .collect();
    let messages = notation::parse(&format!("u go\n{}u on\n", said.concat())).unwrap();
    for family in Family::ALL {
        for tools in [tools(&[]), tools(&["a b"])] {
            let prompt = prompt(&messages, tools);
            let encoded = encode(&prompt, Vendor::of(family), &Options::model("m")).unwrap();
            let body = String::from_utf8(encoded.to_bytes()).unwrap();
            let read = decode_request(family, &body).unwrap().messages;
            let back: Vec<ToolName> = (read.iter().flat_map(Message::calls))
                .map(|call| encoded.names.original(call.name.as_str()))
                .collect();
            assert_eq!(back.iter().map(ToolName::as_str).collect::<Vec<_>>(), names, "{family}");
        }
    }
}

#[test]
fn a_tool_keeps_its_readable_name_until_one_joins_that_is_called_so() {
    let written = |names: &[&str]| {
        let map = NameMap::of(&tools(names), Vendor::of(Family::OpenaiChat));
        let is_it = |written: &&str| map.original(written).as_str() == "notify.user";
        ["notify_user", "notify_user_FuPFBn"].into_iter().find(is_it)
    };
    let alone = written(&["notify.user"]);
    assert_eq!(alone, Some("notify_user"));
    for others in [["ls", "notify/user"], ["notify-user", "notify.all"]] {
        assert_eq!(written(&["notify.user", others[0], others[1]]), alone);
    }
    // The one that the API takes as it is has its name; the digits are of the other's own.
    let joined = written(&["notify.user", "notify_user"]);
    assert_ne!(joined, alone);
    assert_eq!(written(&["ls", "notify_user", "notify.user"]), joined);
}

#[test]
fn a_session_whose_tools_change_writes_what_a_request_from_scratch_does() {
    let history = r#"[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[
        {"id":"c","type":"function","function":{"name":"a.b","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c","content":"x"},{"role":"user","content":"r"}]"#;
    let messages = decode_request(Family::OpenaiChat, history).unwrap().messages;
    for family in Family::ALL {
        let mut session = SessionEncoder::new();
        for names in [&["a.b"][..], &["a.b", "a_b"], &["a_b"], &[], &["a.b"]] {
            let prompt = prompt(&messages, tools(names));
            let options = Options::default();
            let kept = session.encode(&prompt, Vendor::of(family), &options).unwrap();
            let scratch = encode(&prompt, Vendor::of(family), &options).unwrap();
            assert_eq!(kept.to_bytes(), scratch.to_bytes(), "{family} {names:?}");
        }
    }
}

proptest! {
    #[test]
    fn names_are_legal_and_told_apart(
        names in prop::collection::hash_set("[a_.é /-]{0,3}|[a-b.]{62,70}", 1..8),
        family in select(&Family::ALL[..]),
    ) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (tools, vendor) = (tools(&names), Vendor::of(family));
        let map = NameMap::of(&tools, vendor);
        let encoded = encode(&prompt(&question(), tools), vendor, &Options::default()).unwrap();
        prop_assert_eq!(&encoded.names, &map);
        let body = encoded.to_bytes();
        let read = decode_request(family, std::str::from_utf8(&body).unwrap()).unwrap();
        let alphabet = vendor.quirks.tool_names;
        let back: Vec<ToolName> = read.tools.iter().map(|tool| {
            assert!(alphabet.takes(tool.name.as_str()), "{}", tool.name);
            map.original(tool.name.as_str())
        }).collect();
        let back: Vec<&str> = back.iter().map(ToolName::as_str).collect();
        prop_assert_eq!(back, names);
    }
}
