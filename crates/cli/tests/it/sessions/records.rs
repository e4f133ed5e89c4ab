//! What a session keeps beside its conversation.

use std::fs;

use serde_json::{Value, json};

use super::{Place, run_in};
use crate::{CHAT, interleaf, run_with, stdout, text};

#[test]
fn a_command_that_is_refused_changes_nothing() {
    let place = Place::new();
    let id = place.new_session();
    place.run(&["todo", &id, "--add", "kept"]);
    let before = place.run(&["export", &id, "--format", "jsonl"]);
    for refused in [
        &["todo", &id, "--add", "one", "--done", "99"][..],
        &["todo", &id, "--done", "1", "--remove", "7"],
        &["todo", &id, "--add", "one", "--add", " "],
        &["info", &id, "--add", "README.md=what it is for", "--remove", "nowhere"],
        &["note", &id, "--add", "src=one", "--read", "src/main.rs", "--remove", "9"],
        &["note", &id, "--add", "src=one", "--add", "src"],
    ] {
        assert!(place.refused(refused).starts_with("error: "), "{refused:?}");
        assert_eq!(place.run(&["export", &id, "--format", "jsonl"]), before, "{refused:?}");
    }
    let all = place.run(&["todo", &id, "--add", "one", "--done", "1", "--done", "2"]);
    assert!(all.starts_with("## TODO\n- [x] 1 kept\n- [x] 2 one\n"), "{all}");
}

#[test]
fn no_text_of_a_record_drives_the_terminal_or_passes_for_an_entry() {
    let place = Place::new();
    let id = place.new_session();
    place.run(&["append", &id, r#"{"id": "m1", "role": "user", "content": "hello"}"#]);
    let bad = "\u{1b}[2Jred\n- [x] 7 faked\n9 src: faked\r\u{9b}31m";
    let url = place.url("sessions.db");
    let named = format!("file{bad}={bad}");
    let mut info = interleaf(&["sessions", "info", &id, "--store", &url, "--add", &named]);
    let info = info.output().unwrap();
    let told = text(&info.stderr);
    assert!(told.starts_with("note: ") && told.contains(" cannot be read: "), "{told}");
    let printed = [
        place.run(&["todo", &id, "--add", bad]),
        text(&info.stdout),
        place.run(&["note", &id, "--add", &format!("folder{bad}={bad}")]),
        told,
    ];
    for (text, lines) in printed.iter().zip([2, 1, 1, 1]) {
        assert_eq!(text.lines().count(), lines, "{text:?}");
        assert!(!text.replace('\n', "").contains(char::is_control), "{text:?}");
    }
    // A summary may have lines, and none of it is left out.
    let long = format!("{bad}\n{}\n", "x".repeat(2000));
    let shown = run_in(&url, &["summary", &id, "-", "--through", "m1"], &long);
    assert_eq!((shown.lines().count(), shown.contains(&"x".repeat(2000))), (4, true), "{shown:?}");
    assert!(!shown.replace('\n', "").contains(char::is_control), "{shown:?}");
}

#[test]
fn a_text_may_begin_with_a_dash() {
    let place = Place::new();
    let id = place.new_session();
    fs::write(place.path("-f"), "").unwrap();
    assert_eq!(place.run(&["todo", &id, "--add", "- dash"]), "## TODO\n- [ ] 1 - dash\n");
    assert_eq!(place.run(&["note", &id, "--add", "-x=--y"]), "0 -x: --y\n");
    let url = place.url("sessions.db");
    let mut add = interleaf(&["sessions", "info", &id, "--store", &url, "--add", "-f=--y"]);
    let output = add.current_dir(place.folder.path()).output().unwrap();
    assert!(text(&output.stdout).ends_with("/-f: --y\n"), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn a_file_of_information_is_found_from_every_folder() {
    let place = Place::new();
    let id = place.new_session();
    place.run(&["append", &id, "--user", "hello"]);
    fs::write(place.path("notes.txt"), "the horn is red").unwrap();
    let url = place.url("sessions.db");
    let mut add = interleaf(&["sessions", "info", &id, "--store", &url, "--add", "notes.txt=why"]);
    let output = add.current_dir(place.folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let request = stdout(&["build", "--session", &id, "--store", &url]);
    assert!(request.contains("the horn is red"), "{request}");
    let mut gone = interleaf(&["sessions", "info", &id, "--store", &url, "--remove", "notes.txt"]);
    let output = gone.current_dir(place.folder.path()).output().unwrap();
    assert_eq!((text(&output.stdout), text(&output.stderr)), (String::new(), "(none)\n".into()));
    assert!(output.status.success());
}

#[test]
fn a_note_is_in_a_request_once_a_file_in_its_folder_was_read() {
    let place = Place::new();
    let id = place.new_session();
    place.run(&["append", &id, "--user", "hello"]);
    let url = place.url("sessions.db");
    let request = || stdout(&["build", "--session", &id, "--store", &url]);
    place.run(&["note", &id, "--add", "src=one folder for each API"]);
    place.run(&["note", &id, "--read", "other/main.rs"]);
    assert!(!request().contains("one folder"));
    place.run(&["note", &id, "--read", "src/wire/encode.rs"]);
    assert!(request().contains("one folder for each API"));
}

#[test]
fn what_is_found_in_an_insert_is_shown_at_its_own_place() {
    let place = Place::new();
    let id = place.new_session();
    place.run(&["append", &id, "--user", "first"]);
    let said = |text| json!({"role": "user", "parts": [{"type": "text", "text": text}]});
    let insert = json!({"insert": {"position": 1, "messages": [said("alpha"), said("beta")]}});
    place.run(&["op", &id, &insert.to_string()]);
    place.run(&["append", &id, "--user", "gamma"]);
    for (word, index) in [("alpha", 1), ("beta", 2), ("gamma", 3)] {
        let hits: Value = serde_json::from_str(&place.run(&["search", word, "--json"])).unwrap();
        assert_eq!(hits[0]["index"], index, "{word}");
    }
    assert!(place.run(&["search", "beta"]).ends_with("\n   2 alpha beta\n"));
}

#[test]
fn what_build_records_is_what_it_prints_also_if_thinking_is_bound_or_the_block_stays() {
    let place = Place::new();
    let id = place.run(&["new"]);
    let id = id.trim();
    place.run(&["append", id, "--user", "go"]);
    let store = place.url("sessions.db");
    let made = |todo: &str, more: &[&str]| {
        let build = ["build", "--session", id, "--store", &store, "--quiet"];
        let to = ["--to", "anthropic", "--model", "claude-sonnet-5-5", "--todo", todo];
        let place = ["--place", "sticky"];
        let output = run_with(&[&build, &to[..], &place, more].concat(), b"");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    made("one", &["--record"]);
    for n in 0..4 {
        let answer = format!(
            r#"{{"id": "msg_{n}", "type": "message", "role": "assistant", "content": [
                {{"type": "thinking", "thinking": "hm", "signature": "s"}},
                {{"type": "tool_use", "id": "c{n}", "name": "ls", "input": {{}}}}],
                "model": "claude-sonnet-5-5", "stop_reason": "tool_use",
                "usage": {{"input_tokens": 10, "output_tokens": 5}}}}"#
        );
        let result = format!(r#"{{"role": "tool", "tool_call_id": "c{n}", "content": "src"}}"#);
        run_in(
            &store,
            &["append", id, "-"],
            &text(&run_with(&["decode"], answer.as_bytes()).stdout),
        );
        place.run(&["append", id, &result]);
        // Where the block changes and moves, the thinking after it goes.
        let todo = if n < 2 { "one" } else { "two" };
        let seen = made(todo, &[]);
        let recorded = made(todo, &["--record"]);
        assert_eq!(seen, recorded, "{n}");
        let sent = run_with(&["build", "--session", id, "--store", &store, "--sent"], b"");
        assert_eq!(text(&sent.stdout), recorded, "{n}");
        assert_eq!(recorded.contains("\"thinking\":\"hm\""), n != 2, "{recorded}");
    }
}

#[test]
fn items_that_several_processes_add_at_once_are_all_there() {
    let place = Place::new();
    let id = place.new_session();
    let store = place.url("sessions.db");
    let add = |n: usize| {
        (0..6).for_each(|i| _ = run_in(&store, &["todo", &id, "--add", &format!("{n}.{i}")], ""));
    };
    std::thread::scope(|scope| (0..4).for_each(|n| _ = scope.spawn(move || add(n))));
    assert_eq!(place.run(&["todo", &id]).lines().filter(|line| line.contains("[ ]")).count(), 24);
}

#[test]
fn h2_every_command_counts_a_request_alike() {
    let place = Place::new();
    let id = place.run(&["import", CHAT]);
    let (id, url) = (id.trim(), place.url("sessions.db"));
    let ask = |command: &str, more: &[&str]| -> String {
        let common = ["--store", &url, "--session", id, "--todo", "1. look"];
        let output = run_with(&[&[command][..], &common, more].concat(), b"");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let openai = ["--vendor", "openai", "--model", "gpt-5"];
    ask("build", &[&openai[..], &["--record", "--quiet"]].concat());
    let next: Value =
        serde_json::from_str(&ask("explain", &[&openai[..], &["--json"]].concat())).unwrap();
    let told: Value = serde_json::from_str(&ask_sent(&url, id)).unwrap();
    let (next, sent) = (&next["impact"], &told["requests"][0]["impact"]);
    assert_eq!(next["cause"], "same");
    assert_eq!(next["tokens"], sent["tokens"]);
    assert_eq!(sent.get("by_bytes"), None);
    let switch = ask("switch", &["--to", "anthropic", "--model", "claude-sonnet-4-5", "--json"]);
    let switch: Value = serde_json::from_str(&switch).unwrap();
    assert_eq!(switch["from"]["tokens"], sent["tokens"]);
}

/// What `explain --sent` tells.
fn ask_sent(url: &str, id: &str) -> String {
    let output = run_with(&["explain", "--store", url, "--session", id, "--sent", "--json"], b"");
    text(&output.stdout)
}

#[test]
fn c15_thinking_that_is_told_as_dropped_is_not_in_the_recorded_body() {
    let place = Place::new();
    let store = place.url("sessions.db");
    let id = place.run(&["new"]).trim().to_owned();
    place.run(&["append", &id, "--user", "q1"]);
    let report = place.path("report.json");
    let build = |todo: &str| {
        let to = ["build", "--session", &id, "--store", &store, "--record", "--to", "anthropic"];
        let how = ["--model", "claude-sonnet-4-5", "--bound-thinking", "--place", "tail"];
        let told = ["--todo", todo, "--report", report.to_str().unwrap()];
        let done = interleaf(&[to.as_slice(), &how, &told].concat()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        (text(&done.stdout).to_owned(), fs::read_to_string(&report).unwrap())
    };
    build("state 1");
    let mut thoughts = Vec::new();
    for n in [1, 2] {
        let answer = format!(
            r#"{{"type":"message","role":"assistant","stop_reason":"tool_use","content":[
                {{"type":"thinking","thinking":"thought {n}","signature":"c2ln"}},
                {{"type":"tool_use","id":"t{n}","name":"f","input":{{}}}}],
                "usage":{{"input_tokens":9,"output_tokens":4}}}}"#
        );
        let decode = ["decode", "-", "--api", "anthropic", "--form", "transcript"];
        let said = run_with(&decode, answer.as_bytes());
        let file = place.path("said.json");
        fs::write(&file, said.stdout).unwrap();
        place.run(&["append", &id, file.to_str().unwrap()]);
        let result = format!(r#"{{"role":"tool","tool_call_id":"t{n}","content":"r"}}"#);
        place.run(&["append", &id, &result]);
        let (body, report) = build(&format!("state {}", n + 1));
        thoughts.push(format!("thought {n}"));
        assert!(report.contains("thinking_dropped"), "{report}");
        assert!(!thoughts.iter().any(|thought| body.contains(thought)), "{body}");
    }
}
