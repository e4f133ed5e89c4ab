//! What was changed is said, and a text never names a file.

use std::fs;

use serde_json::Value;

use super::{CHAT, SESSION, run_with, stdout, text};

/// Two calls without a result, and a result without a call.
const DAMAGED: &str = r#"{"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": [
        {"type": "tool_use", "id": "c1", "name": "ls", "input": {}},
        {"type": "tool_use", "id": "c2", "name": "pwd", "input": {}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "c9", "content": "?"}]}]}"#;

fn said(arguments: &[&str], input: &str) -> String {
    text(&run_with(arguments, input.as_bytes()).stderr)
}

#[test]
fn lint_fix_says_what_it_changed() {
    let told = said(&["lint", "-", "--api", "anthropic", "--fix"], DAMAGED);
    assert!(told.contains("dropped: ") && told.contains("its call is not"), "{told}");
    assert_eq!(told.matches("made: ").count(), 2, "{told}");
    assert_eq!(said(&["lint", "-", "--api", "anthropic", "--fix", "--quiet"], DAMAGED), "");

    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let path = report.to_str().unwrap();
    run_with(&["lint", "-", "--fix", "--report", path], DAMAGED.as_bytes());
    let report: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
    let findings = report["steps"].as_array().unwrap().iter();
    let count: usize = findings.map(|step| step["findings"].as_array().unwrap().len()).sum();
    assert!(count >= 2, "{report}");
    assert_eq!(run_with(&["lint", CHAT, "--report", path], b"").status.code(), Some(2));
}

#[test]
fn build_says_in_one_line_what_it_changed() {
    let to = ["build", "-", "--to", "anthropic"];
    let told = said(&to, DAMAGED);
    assert!(told.starts_with("changed: 1 dropped, 2 made"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert_eq!(said(&[&to[..], &["--quiet"]].concat(), DAMAGED), "");
    let sound = r#"[{"role": "user", "content": "hi"}]"#;
    assert_eq!(said(&["build", "-", "--to", "gemini"], sound), "");
    assert_eq!(said(&["build", "-"], sound), "");
}

#[test]
fn a_body_without_a_model_or_with_that_of_another_api_is_remarked_on() {
    let sound = r#"[{"role": "user", "content": "hi"}]"#;
    let to = ["build", "-", "--to", "anthropic"];
    assert!(said(&to, sound).contains("names no model, and anthropic asks for one"));
    assert_eq!(said(&[&to[..], &["--model", "claude-sonnet-4-5"]].concat(), sound), "");

    let body = r#"{"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}"#;
    let convert = ["convert", "-", "--from", "openai-chat", "--to", "anthropic"];
    let told = said(&convert, body);
    assert!(told.contains("the model is still \"gpt-4.1\""), "{told}");
    assert!(!said(&[&convert[..], &["--model", "x"]].concat(), body).contains("model"));
    assert!(!said(&["convert", "-", "--to", "openai-chat"], body).contains("model"));
}

#[test]
fn a_text_that_begins_with_an_at_sign_is_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("todo.md");
    fs::write(&file, "1. from a file").unwrap();
    let at = format!("@{}", file.display());
    for flag in ["--system", "--role", "--todo", "--info", "--notes"] {
        let request = stdout(&["build", SESSION, flag, &at]);
        assert!(request.contains(&at) && !request.contains("from a file"), "{flag}");
    }
    let source = format!("tide={at}");
    assert!(stdout(&["build", SESSION, "--context", &source]).contains(&at));

    let path = file.to_str().unwrap();
    for flag in ["--system-file", "--role-file", "--todo-file", "--info-file", "--notes-file"] {
        assert!(stdout(&["build", SESSION, flag, path]).contains("1. from a file"), "{flag}");
    }
    let source = format!("tide={path}");
    assert!(stdout(&["build", SESSION, "--context-file", &source]).contains("1. from a file"));
    assert_eq!(run_with(&["op", CHAT, &at], b"").status.code(), Some(2));
    fs::write(&file, r#"{"truncate": {"keep_last": 1}}"#).unwrap();
    assert!(stdout(&["op", CHAT, "--operation-file", path]).contains("2 of 7 messages"));
    fs::write(&file, r#"{"role": "user", "content": "new"}"#).unwrap();
    assert!(stdout(&["op", CHAT, "--insert", "0", "--message-file", path]).contains("u new"));
}
