//! `--json` is JSON, and says the same as the lines.

use serde_json::{Value, json};

use super::{CHAT, SESSION, stdout};

fn run(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).unwrap()
}

#[test]
fn show_counts_and_lists() {
    let shown = run(&["show", SESSION, "--json"]);
    assert_eq!(shown["log"], 40);
    assert_eq!(shown["roles"], json!({"system": 1, "user": 4, "assistant": 17, "tool": 18}));
    assert_eq!(shown["marks"], json!({"decision": [12], "pinned": [13]}));
    assert_eq!(shown["messages"].as_array().unwrap().len(), 40);
    assert_eq!(shown["messages"][13]["marks"], json!(["pinned"]));
}

#[test]
fn query_gives_places_and_messages() {
    let found = run(&["query", CHAT, "--role", "tool", "--json"]);
    let message = json!({
        "id": "m3",
        "role": "tool",
        "call": "call_lamp",
        "parts": [{"type": "text", "text": "lamp on, one flash every 10 s"}],
    });
    assert_eq!(found, json!([{"index": 3, "position": 3, "message": message}]));
}

#[test]
fn op_says_what_was_hidden_and_why() {
    let changed = run(&["op", SESSION, "--role", "tool", "--keep-last", "2", "--json"]);
    let visible: Vec<&Value> =
        changed["view"].as_array().unwrap().iter().map(|entry| &entry["index"]).collect();
    assert_eq!(visible, [13, 33, 34, 37, 38]);
    assert_eq!(changed["hidden"].as_array().unwrap().len(), 35);
    assert_eq!(changed["added"], json!([]));
    assert_eq!(changed["batch"], 1);
    let kinds: Vec<(&Value, &Value)> = changed["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| (&note["kind"], &note["indices"]))
        .collect();
    assert_eq!(
        kinds,
        [
            (&json!("pinned"), &json!([13])),
            (&json!("block_kept"), &json!([33])),
            (&json!("block_kept"), &json!([37])),
        ]
    );
}

#[test]
fn flags_and_json_are_the_same_operation() {
    let pairs: [(&[&str], &str); 5] = [
        (&["--keep-last", "5"], r#"{"truncate":{"keep_last":5}}"#),
        (
            &["--keep-range", "2..6", "--split-blocks"],
            r#"{"truncate":{"range":{"start":2,"end":6},"split_blocks":true}}"#,
        ),
        (
            &["--role", "user", "--remove-first", "1", "--others", "keep"],
            r#"{"truncate":{"role":"user","remove_first":1,"others":"keep"}}"#,
        ),
        (
            &["--filter-role", "tool", "--excludes", "ok"],
            r#"{"filter":{"roles":["tool"],"excludes":["ok"]}}"#,
        ),
        (&["--clear", "--drop-system"], r#"{"clear":{"keep_system":false}}"#),
    ];
    for (flags, operation) in pairs {
        let mut arguments = vec!["op", SESSION, "--json"];
        arguments.extend(flags);
        assert_eq!(run(&arguments), run(&["op", SESSION, "--json", operation]), "{operation}");
    }
}
