//! `interleaf send` in a session that is compacted on the way, and `interleaf compact`.

use serde_json::Value;

use super::send::{Server, good, ran, send};
use super::{PROGRAM, SESSION, interleaf, text};

/// A script tells a summary from a digest by what is printed when it is done.
#[test]
fn compact_prints_one_json_object_with_what_was_planned_and_what_came_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("s.db").display());
    let policy = folder.path().join("policy.json");
    std::fs::write(&policy, r#"{"summary_tokens": 800}"#).unwrap();
    let run_to = |code: i32, arguments: &[&str]| {
        let output = interleaf(arguments).env("INTERLEAF_STORE", &store).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout).trim().to_owned()
    };
    let run = |arguments: &[&str]| run_to(0, arguments);
    let compact = format!(
        "{PROGRAM} compact $0 --vendor anthropic --model claude-sonnet-4-5 --window 4000 --json \
         --policy {}",
        policy.display()
    );
    let compacted_to = |code: i32, flags: &str, double: &[&str]| -> Value {
        let id = run(&["sessions", "new"]);
        run(&["sessions", "append", &id, SESSION]);
        let script = format!("{compact} {flags}");
        let command = ["--any-signature", "--", "sh", "-c", &script, &id];
        let out = run_to(code, &[&["double"], double, &command].concat());
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"))
    };
    let compacted = |flags: &str, double: &[&str]| compacted_to(0, flags, double);
    let planned = compacted("--dry-run", &[]);
    assert!(planned["covered"].is_u64() && planned.get("done").is_none(), "{planned}");
    let at = "--base-url \"$ANTHROPIC_BASE_URL\"";
    let summary = compacted(at, &["--brain", "summariser"]);
    assert!(summary["covered"] == planned["covered"], "{summary}");
    let done = &summary["done"];
    assert_eq!((&done["without_model"], &done["because"]), (&Value::Null, &"asked".into()));
    assert!(done["after"].as_u64().unwrap() <= 800, "{done}");
    assert!(done["texts"][0]["spent"]["output"].as_u64().unwrap() > 0, "{done}");
    assert!(done["texts"][0]["price"].is_string(), "{done}");
    // The writer is down: there is a digest, and not what was asked for.
    let failed = compacted_to(1, &format!("{at} --retries 0"), &["--fault", "1=500"]);
    assert!(failed["done"]["without_model"]["failed"].is_string(), "{failed}");
    let digest = compacted("--without-model", &[]);
    assert_eq!(digest["done"]["without_model"], "asked");
    assert!(digest["done"]["after"].is_u64(), "{digest}");
}

#[test]
fn a_request_after_a_second_compaction_has_the_new_summary() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("s.db").display());
    let run = |arguments: &[&str]| {
        let output = interleaf(arguments).env("INTERLEAF_STORE", &store).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout).trim().to_owned()
    };
    let id = run(&["sessions", "new"]);
    for round in 0..2 {
        let server = Server::start(vec![good()]);
        for n in 0..6 {
            let said = format!("round {round}, question {n}: {}", "mend the clock ".repeat(200));
            run(&["sessions", "append", &id, "--user", &said]);
            run(&["sessions", "append", &id, "--assistant", "It is done."]);
        }
        run(&["sessions", "append", &id, "--user", "And now?"]);
        let arguments = ["--session", &id, "--window", "20000", "--compact-at", "0.1"];
        let mut sending = send(&arguments, &server.url);
        let (code, _, errors) = ran(sending.env("INTERLEAF_STORE", &store));
        assert_eq!(code, Some(0), "{errors}");
        assert!(errors.contains("compacted: "), "{errors}");
        let seen = server.seen();
        let last = seen.last().unwrap();
        let shown = last.matches("mend the clock").count();
        // One question is 200 of them: of those that are covered only a digest tells.
        assert!(shown < 300, "{round}: {shown} in a request of {} bytes", last.len());
    }
}
