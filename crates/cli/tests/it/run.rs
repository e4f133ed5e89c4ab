//! An agent in a folder, against the doubles.

use serde_json::Value;

use super::{PROGRAM, interleaf, text};

/// Has the double serve an agent in a folder, and gives its exit code and output.
fn ran(store: &str, folder: &std::path::Path, flags: &[&str]) -> (Option<i32>, String, String) {
    let double = ["double", "--", PROGRAM, "run"];
    let mut command = interleaf(&[&double[..], flags].concat());
    command.env("INTERLEAF_STORE", store).current_dir(folder).env("HOME", folder);
    let done = command.output().unwrap();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

#[test]
fn an_agent_works_in_a_folder_and_its_session_goes_on() {
    let scratch = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", scratch.path().join("s.db").display());
    std::fs::write(scratch.path().join("AGENTS.md"), "Be brief.").unwrap();
    for (vendor, model) in [("anthropic", "claude-sonnet-4-5"), ("openai", "gpt-4.1")] {
        let whom = ["--vendor", vendor, "--model", model];
        let (code, out, err) = ran(&store, scratch.path(), &[&["Look."], &whom[..]].concat());
        assert_eq!(code, Some(0), "{err}");
        // The double repeats what it was told.
        assert!(out.contains("Be brief."), "{out}");
        assert!(err.contains("read(") && err.contains("completed: "), "{err}");
        assert!(err.contains("\n  read = "), "a result has the name of its tool: {err}");
        assert!(err.contains("\n  agent wants write("), "what was refused is shown: {err}");
        assert!(!err.contains("= [exit code"), "nothing was allowed: {err}");
        let id = err.lines().find_map(|line| line.strip_prefix("session: ")).unwrap();
        let flags = ["--session", id, "And now?", "--json", "--rounds", "1"];
        let (code, out, err) = ran(&store, scratch.path(), &flags);
        assert_eq!(code, Some(10), "{err}");
        let ended: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(ended["end"], "out of budget: its limit of rounds");
        assert_eq!((&ended["session"], &ended["requests"]), (&id.into(), &1.into()));
    }
}

#[test]
fn a_price_that_is_not_known_is_not_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", scratch.path().join("s.db").display());
    let flags =
        ["Look.", "--vendor", "anthropic", "--model", "claude-of-tomorrow", "--rounds", "1"];
    let (code, _, err) = ran(&store, scratch.path(), &flags);
    assert_eq!(code, Some(10), "{err}");
    assert!(err.contains(": 1 request, ") && err.contains(" tokens, price unknown\n"), "{err}");
}

#[test]
fn an_agent_that_nobody_serves_leaves_no_session() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("s.db");
    let mut command = interleaf(&["run", "Look."]);
    let done = command.env("INTERLEAF_STORE", format!("sqlite:{}", file.display())).output();
    let done = done.unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("name who is to be asked"));
    assert!(!file.exists());
}
