//! What `build` prints is a request, and `explain` tells the truth about it.

use serde_json::Value;

use super::{SESSION, run_with, stdout, text};

const BROKEN: &str = "fixtures/broken-session.json";

fn build(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).unwrap()
}

fn from<'a>(request: &'a Value, from: &str) -> Vec<&'a Value> {
    let messages = request["messages"].as_array().unwrap();
    messages.iter().filter(|message| message["from"] == from).collect()
}

#[test]
fn a_request_is_its_own_stable_prefix() {
    let directory = tempfile::tempdir().unwrap();
    let before = directory.path().join("before.json");
    let flags = ["--todo", "- [ ] one", "--role", "You wait.", "--context", "tide=low"];
    for file in [SESSION, BROKEN] {
        let request = stdout(&[&["build", file][..], &flags].concat());
        std::fs::write(&before, &request).unwrap();
        let previous = ["--json", "--previous", before.to_str().unwrap()];
        let report = build(&[&["explain", file][..], &flags, &previous].concat());
        let request: Value = serde_json::from_str(&request).unwrap();
        let messages = request["messages"].as_array().unwrap().len();
        assert_eq!(report["stable_prefix"]["messages"], messages);
        assert_eq!(report["breakpoint"], request["breakpoint"]);
        assert_eq!(report["placement"]["index"], request["context"][0]);
    }
}

#[test]
fn building_twice_gives_the_same_bytes() {
    let arguments = ["build", BROKEN, "--todo", "x", "--window", "400"];
    assert_eq!(stdout(&arguments), stdout(&arguments));
}

#[test]
fn a_window_is_kept_and_what_must_stay_stays() {
    for window in ["900", "1400", "2600", "3400"] {
        let arguments = [SESSION, "--todo", "thank Mira", "--window", window, "--pin", "m5"];
        let report = build(&[&["explain", "--json"][..], &arguments].concat());
        let limit = window.parse::<u64>().unwrap() * 7 / 8 + 1;
        let tokens = report["tokens"].as_object().unwrap();
        assert!(tokens.values().filter_map(Value::as_u64).sum::<u64>() <= limit, "{tokens:?}");
        let request = build(&[&["build"][..], &arguments].concat());
        let messages = request["messages"].as_array().unwrap();
        for id in ["m0", "m5", "m6", "m7", "m13", "m36"] {
            assert!(messages.iter().any(|message| message["id"] == id), "{id} {window}");
        }
        let left_out = messages.len() < 41;
        assert_eq!(from(&request, "notice").len(), usize::from(left_out), "{window}");
    }
}

#[test]
fn a_turn_is_made_up_only_for_an_api_that_asks_for_one() {
    let input = br#"[{"role": "assistant", "content": "yes?"}, {"role": "user", "content": "hi"}]"#;
    let n_messages = |flags: &[&str]| {
        let output = run_with(&[&["build", "-"][..], flags].concat(), input);
        let request: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
        request["messages"].as_array().unwrap().len()
    };
    assert_eq!(n_messages(&[]), 2);
    assert_eq!(n_messages(&["--to", "openai-chat", "--model", "gpt-5"]), 2);
    assert_eq!(n_messages(&["--to", "anthropic", "--model", "claude-sonnet-4-5"]), 3);
}

#[test]
fn what_is_kept_fills_the_window() {
    for window in [1_200_u64, 1_500, 2_500, 4_000] {
        let text = window.to_string();
        let report = build(&["explain", "--json", SESSION, "--window", &text]);
        let tokens = report["tokens"].as_object().unwrap();
        let total: u64 = tokens.values().filter_map(Value::as_u64).sum();
        assert!(total * 10 >= window * 7 / 8 * 7, "{total} of {window}");
    }
}

#[test]
fn every_line_of_a_batch_has_its_answer() {
    let lines = [
        r#"{"messages": [{"role": "user", "content": "hi"}], "model": "m", "params": {}}"#,
        r#"{"messages": [{"role": "tool", "tool_call_id": "c9", "content": "orphan"}]}"#,
        "{\"messages\": [{\"role\": \"user\", \"content\": \"caf\u{e9}\"}]}",
        r#"{"interleaf": 1, "messages": [{"role": "user", "parts": [{"type": "text", "text": "x"}]}]}"#,
        "[]",
        "",
    ];
    let mut input = format!("\u{feff}{}", lines.join("\r\n")).into_bytes();
    input.extend(b"\n\xff\n");
    let output = run_with(&["build", "-", "--plain", "--batch"], &input);
    assert_eq!(output.status.code(), Some(0));
    let printed = text(&output.stdout);
    let kinds: Vec<bool> = printed
        .lines()
        .map(|line| {
            let answer: Value = serde_json::from_str(line).unwrap();
            assert_eq!(answer.as_object().unwrap().len(), 1);
            answer.get("body").is_some()
        })
        .collect();
    assert_eq!(kinds, [true, false, true, true, false, false, false], "{printed}");
}

#[test]
fn arguments_with_line_breaks_stay_on_the_line_of_a_batch() {
    let transcript = r#"{"interleaf": 1, "messages": [{"role": "user", "parts": [{"type": "text", "text": "x\ny"}]}, {"role": "assistant", "parts": [{"type": "call", "id": "c", "name": "t", "arguments": {"a":	1}}]}]}"#;
    let output = run_with(&["build", "-", "--plain", "--batch"], transcript.as_bytes());
    let printed = text(&output.stdout);
    assert_eq!(printed.lines().count(), 1);
    assert!(printed.contains(r#""arguments":{"a":	1}"#), "{printed}");
    assert!(printed.contains(r#""text":"x\ny""#), "{printed}");
}

#[test]
fn the_report_for_people_has_no_colors_in_a_pipe() {
    let output = run_with(&["build", BROKEN, "--explain"], b"");
    let report = text(&output.stderr);
    assert!(report.contains("2 dropped, 2 moved, 2 made"), "{report}");
    assert!(!report.contains('\u{1b}'));
    let colored = run_with(&["build", BROKEN, "--explain", "--color", "always"], b"");
    assert!(text(&colored.stderr).contains('\u{1b}'));
    assert!(!text(&colored.stdout).contains('\u{1b}'));
}

#[test]
fn nothing_is_printed_while_it_waits() {
    let output = run_with(&["build", BROKEN, "--wait"], b"");
    assert_eq!(text(&output.stdout), "");
    assert_eq!(text(&output.stderr), "no request yet: waiting for the results of c4 (aerator)\n");
    assert_eq!(output.status.code(), Some(1));
}
