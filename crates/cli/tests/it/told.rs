//! What was changed is said, and a text never names a file.

use std::fs;

use serde_json::Value;

use super::rules::{all_rules, fixture};
use super::{CHAT, SESSION, root, run_with, stdout, text};

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

/// Whether two bodies say the same: the order of fields and the form of numbers mean nothing.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let same =
                |(name, value): (&String, &Value)| b.get(name).is_some_and(|b| is_same(value, b));
            a.len() == b.len() && a.iter().all(same)
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (a, b) => a == b,
    }
}

#[test]
fn what_lint_fix_changes_is_said_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let mut bodies: Vec<(String, String)> = all_rules()
        .map(|(family, rule)| {
            let body = fs::read_to_string(root().join(fixture(rule, "bad"))).unwrap();
            (family.to_string(), body)
        })
        .collect();
    let more = [
        (
            "openai-chat",
            r#"{"model":"gpt-4o","max_tokens":9,"messages":[{"role":"user","content":"q"}]}"#,
        ),
        (
            "openai-chat",
            r#"{"model":"gpt-4o","functions":[{"name":"f"}],"messages":[{"role":"user","content":"q"},
            {"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},
            {"role":"function","name":"f","content":"1"}]}"#,
        ),
        (
            "gemini",
            r#"{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"assistant","parts":[{"text":"a"}]},
            {"role":"user","parts":[{"text":"r"}]}]}"#,
        ),
        ("bedrock", r#"{"modelId":"m","messages":[{"role":"user","content":"q"}]}"#),
    ];
    bodies.extend(more.map(|(family, body)| (family.to_owned(), body.to_owned())));
    let mut n_changed = 0;
    for (family, body) in bodies {
        let path = report.to_str().unwrap();
        let fix = ["lint", "-", "--api", &family, "--fix", "--report", path];
        let output = run_with(&fix, body.as_bytes());
        let Ok(after) = serde_json::from_slice::<Value>(&output.stdout) else { continue };
        let before: Value = serde_json::from_str(&body).unwrap();
        let is_changed = !is_same(&before, &after);
        let told = text(&output.stderr);
        assert_eq!(told.contains("rewritten: "), is_changed, "{body}\n{told}");
        let report: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
        assert_eq!(report.get("rewritten").is_some(), is_changed, "{report}");
        n_changed += usize::from(is_changed);
    }
    assert!(n_changed > 50, "{n_changed}");
}

#[test]
fn append_says_what_of_a_body_it_leaves_out_and_which_message_it_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("s.db").display());
    let id = text(&run_with(&["sessions", "new", "--store", &store], b"").stdout);
    let append = ["sessions", "append", id.trim(), "-", "--store", &store];
    let body = r#"{"model":"gpt-4o","temperature":0,"messages":[{"role":"user","content":"q"}]}"#;
    assert!(said(&append, body).contains("left out: model, temperature"));
    let blank = r#"[{"role":"user","content":"q"},{"role":"user","content":" "}]"#;
    let told = said(&append, blank);
    assert!(told.contains("messages[1]") && told.contains("hint: "), "{told}");
}

#[test]
fn explain_says_why_it_tells_nothing_of_the_prompt_cache_at_an_earlier_point() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("s.db").display());
    let id = text(&run_with(&["sessions", "new", "--store", &store], b"").stdout);
    let user = ["--user", "Which files?", "--store", &store];
    run_with(&[&["sessions", "append", id.trim()], &user[..]].concat(), b"");
    let of = ["explain", "--session", id.trim(), "--store", &store];
    let to = ["--to", "openai-chat", "--model", "gpt-5"];
    for (flags, is_told) in [(&["--at", "1"][..], false), (&["--plain"], false), (&[], true)] {
        let output = run_with(&[&of, &to[..], flags].concat(), b"");
        let (shown, told) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(shown.contains("# prompt cache"), is_told, "{flags:?} {shown}");
        let note = "note: the prompt cache is told of a session's next request, and --";
        assert_eq!(told.contains(note), !is_told, "{flags:?} {told}");
    }
    // Of a request that was recorded there it is known.
    run_with(&[&["build"], &of[1..], &to[..], &["--record"]].concat(), b"");
    let next = ["--user", "And now?", "--store", &store];
    run_with(&[&["sessions", "append", id.trim()], &next[..]].concat(), b"");
    run_with(&[&["build"], &of[1..], &to[..], &["--record"]].concat(), b"");
    for (at, cause) in [("1", "there is no request before it"), ("3", "against request 0")] {
        let output = run_with(&[&of, &to[..], &["--at", at]].concat(), b"");
        let (shown, told) = (text(&output.stdout), text(&output.stderr));
        assert!(shown.contains("# prompt cache") && shown.contains(cause), "{at} {shown}");
        assert!(!told.contains("the prompt cache is told"), "{at} {told}");
    }
}
