//! The five APIs: what one command prints, the others take.

use std::fs;

use serde_json::{Value, json};

use super::{CHAT, SESSION, root, run_with, stdout, text};

const APIS: [&str; 5] = ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock"];
const BROKEN: &str = "fixtures/broken-session.json";
const STREAM: &str = "fixtures/answer-stream.json";

/// What a successful run prints, whatever it says beside it.
#[track_caller]
fn run(arguments: &[&str], input: &str) -> String {
    let output = run_with(arguments, input.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{arguments:?} {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn what_is_built_passes_lint() {
    for api in APIS {
        for file in [SESSION, CHAT, BROKEN] {
            let body =
                run(&["build", file, "--to", api, "--todo", "x", "--cache", "--model", "m"], "");
            run(&["lint", "--api", api], &body);
        }
    }
}

#[test]
fn every_api_converts_to_every_other() {
    for from in APIS {
        let body = run(&["build", BROKEN, "--to", from, "--model", "m", "--max-tokens", "99"], "");
        for to in APIS {
            // Left out, the API is seen from the content.
            let converted = run(&["convert", "--to", to, "--model", "m"], &body);
            let flags = ["convert", "--from", from, "--to", to, "--model", "m"];
            assert_eq!(converted, run(&flags, &body));
            assert!(converted.contains("herons"), "{from} {to}");
            assert!(converted.contains("99"), "{from} {to}");
            run(&["lint", "--api", to], &converted);
            let again = run(&["convert", "--from", to, "--to", to], &converted);
            assert_eq!(converted, again, "{from} {to}");
        }
    }
}

#[test]
fn a_body_of_any_api_is_a_conversation() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("body.json");
    for api in APIS {
        fs::write(&file, run(&["build", CHAT, "--to", api, "--model", "m"], "")).unwrap();
        let shown = stdout(&["show", file.to_str().unwrap()]);
        assert!(shown.contains("Do, the ferry is due at eight."), "{api} {shown}");
        assert!(shown.contains("[call "), "{api} {shown}");
    }
}

#[test]
fn a_batch_says_the_same_as_single_runs() {
    let bodies = [
        r#"{"messages": [{"role": "user", "content": "hi"}], "model": "m", "params": {"max_tokens": 7}}"#,
        r#"{"messages": [{"role": "user", "content": "ho"}, {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}]}]}"#,
    ];
    for api in APIS {
        let flags = ["build", "-", "--to", api, "--plain"];
        let batch = run(&[&flags[..], &["--batch"]].concat(), &bodies.join("\n"));
        for (line, body) in batch.lines().zip(bodies) {
            let line: Value = serde_json::from_str(line).unwrap();
            let single: Value = serde_json::from_str(&run(&flags, body)).unwrap();
            assert_eq!(line, json!({"body": single}));
        }
        assert_eq!(batch.lines().count(), 2);
    }
}

#[test]
fn a_note_on_an_answer_of_a_batch_names_its_line() {
    let answer = |arguments: &str| {
        let call = json!({"id": "c", "type": "function",
            "function": {"name": "t", "arguments": arguments}});
        json!({"choices": [{"message": {"tool_calls": [call]}}]}).to_string()
    };
    let lines = [answer("{}"), answer(r#"{"a":1,"a":2}"#)].join("\n");
    let flags = ["decode", "-", "--api", "openai-chat", "--batch"];
    let told = text(&run_with(&flags, lines.as_bytes()).stderr);
    assert!(told.starts_with("note: <stdin>") && told.contains("line 2: "), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn tools_are_read_in_the_form_of_any_api() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tools.json");
    let tools = "fixtures/lighthouse-tools.json";
    let ours: Value = serde_json::from_str(&stdout(&["build", CHAT, "--tools", tools])).unwrap();
    assert_eq!(ours["tools"].as_array().unwrap().len(), 2);
    for api in APIS {
        let body = run(&["build", CHAT, "--to", api, "--tools", tools], "");
        let body: Value = serde_json::from_str(&body).unwrap();
        let list = body.pointer("/toolConfig/tools").unwrap_or(&body["tools"]);
        fs::write(&file, list.to_string()).unwrap();
        let read = stdout(&["build", CHAT, "--tools", file.to_str().unwrap()]);
        let read: Value = serde_json::from_str(&read).unwrap();
        let (read, ours) = (read["tools"].as_array().unwrap(), ours["tools"].as_array().unwrap());
        assert_eq!(read.len(), ours.len(), "{api}");
        for (read, ours) in read.iter().zip(ours) {
            for field in ["name", "description", "parameters"] {
                assert_eq!(read[field], ours[field], "{api}");
            }
        }
    }
}

#[test]
fn an_answer_is_the_same_with_and_without_its_envelope() {
    let whole = fs::read_to_string(root().join(STREAM)).unwrap();
    let decoded = run(&["decode", "-", "--form", "transcript"], &whole);
    let envelope: Value = serde_json::from_str(&whole).unwrap();
    let stream = envelope["response"].as_str().unwrap();
    assert_eq!(decoded, run(&["decode", "--api", "anthropic"], stream));
    let events: Vec<Value> = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    assert_eq!(decoded, run(&["decode"], &Value::from(events).to_string()));
}

#[test]
fn a_recording_is_printed_in_chat_form_and_an_answer_as_in_a_transcript() {
    let recording = fs::read_to_string(root().join(STREAM)).unwrap();
    assert_eq!(run(&["decode"], &recording), stdout(&["decode", STREAM, "--form", "chat"]));
    let envelope: Value = serde_json::from_str(&recording).unwrap();
    let answer = envelope["response"].as_str().unwrap();
    assert_eq!(run(&["decode"], answer), stdout(&["decode", STREAM, "--form", "transcript"]));
}

#[test]
fn a_reply_in_chat_form_goes_back_into_an_array_of_messages() {
    let decoded = stdout(&["decode", STREAM, "--form", "chat"]);
    let decoded: Value = serde_json::from_str(&decoded).unwrap();
    assert_eq!(decoded["finish"], "tool_calls");
    let messages = json!([{"role": "user", "content": "Is it full?"}, decoded["message"]]);
    let shown = run(&["show", "-"], &messages.to_string());
    assert!(shown.contains("[call toolu_sky forecast"), "{shown}");
}

#[test]
fn a_cut_stream_gives_up_what_came_and_is_an_error() {
    let whole: Value =
        serde_json::from_str(&fs::read_to_string(root().join(STREAM)).unwrap()).unwrap();
    let stream = whole["response"].as_str().unwrap();
    for cut in [10, stream.len() / 2, stream.len() - 80] {
        let output = run_with(&["decode", "--api", "anthropic"], &stream.as_bytes()[..cut]);
        assert_eq!(output.status.code(), Some(2), "{cut}");
        let came = text(&output.stdout);
        assert_eq!(came.contains(r#""finish":"cut""#), cut > 10, "{cut}: {came}");
    }
}
