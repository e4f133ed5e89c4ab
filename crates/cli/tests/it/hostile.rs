//! What somebody put into an argument or into the data does nothing to the screen, and gives no
//! key away.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use super::{CHAT, SESSION, interleaf, text};

/// It makes what follows red, hides it, and shows it again.
const EVIL: &str = "\u{1b}[31mEVIL\u{1b}[8mhidden\u{1b}[0m";

/// Runs a command in a store of its own, and gives all that it prints, in color.
fn printed(store: &str, arguments: &[&str]) -> String {
    let mut command = interleaf(arguments);
    command.args(["--color", "always"]).env("INTERLEAF_STORE", store).stdin(Stdio::null());
    let output = command.output().unwrap();
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn a_key_in_the_place_of_any_value_is_not_printed() {
    let keys = [
        "sk-ant-api03-AAAABBBBCCCCDDDDEEEEFFFF",
        "ghp_AAAABBBBCCCCDDDDEEEEFFFFGGGG",
        "AKIAAAABBBBCCCCDDDDE",
    ];
    for key in keys {
        for flag in ["place", "window", "vendor", "part", "max-tokens", "color", "to", "unknown"] {
            let flag = format!("--{flag}={key}");
            for color in ["--color=always", "--color=never"] {
                let output = interleaf(&["build", CHAT, &flag, color]).output().unwrap();
                let said = text(&output.stderr);
                assert_eq!(output.status.code(), Some(2), "{flag} {said}");
                assert!(!said.contains("BBBB"), "{flag} {said}");
            }
        }
        let bare = format!("--{key}");
        for arguments in [
            &["switch", "--session", "0199", "--to", "openai", "--price", key][..],
            &["replay", CHAT, "--price", key, "--out", "/no/such"],
            &["replay", CHAT, "--rules", key, "--out", "/no/such"],
            &["sessions", "todo", "0199", "--until", key],
            &["build", CHAT, &bare],
            &[&bare],
            &[key],
        ] {
            let said = printed("memory:", arguments);
            assert!(said.contains("***") || arguments.contains(&"--until"), "{said}");
            assert!(!said.contains("BBBB"), "{arguments:?} {said}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_not_overwritten_by_a_replay() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("replay.json");
    std::os::unix::fs::symlink("/no/such/file", &link).unwrap();
    let out = folder.path().to_str().unwrap();
    let said = printed("memory:", &["replay", "fixtures/replay-session.jsonl", "--out", out]);
    assert!(said.contains("replay.json: this is a link to nothing"), "{said}");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn no_style_of_the_data_reaches_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let store = format!("sqlite:{}", path("s.db"));
    let evil_file = path(&format!("{EVIL}.jsonl"));
    let heading = format!("## Agent Context: {EVIL}\n\nx");
    let body = |n: usize| {
        let said = json!({"role": "user", "content": format!("{EVIL} {n}")});
        let context = json!({"role": "user", "content": heading});
        json!({"model": EVIL, "messages": [said, context]}).to_string()
    };
    fs::write(&evil_file, format!("{}\n{}\n", body(1), body(2))).unwrap();
    let id = printed(&store, &["sessions", "new", "--title", EVIL]);
    let id = id.trim();
    let source = format!("{EVIL}={EVIL}\nmore");
    let other = format!("{EVIL}={EVIL}\nless");
    let message = json!({"id": EVIL, "role": "user", "content": EVIL}).to_string();
    let (useful, mark) = (format!("{evil_file}={EVIL}"), format!("0={EVIL}"));
    let summary = path("summary");
    fs::write(&summary, EVIL).unwrap();
    let bad = format!("{{\"{EVIL}\":1}}");
    let (out, folder_note) = (path(&format!("out {EVIL}")), format!("{EVIL}/x={EVIL}"));
    let request = ["--session", id, "--to", "anthropic", "--model", EVIL, "--place", "delta"];
    let with = |before: &[&'static str], context: &str| -> Vec<String> {
        let all = [before, &request, &["--context", context]].concat();
        all.into_iter().map(str::to_owned).collect()
    };
    let plain = |all: &[&str]| -> Vec<String> { all.iter().map(|&a| a.to_owned()).collect() };
    let commands = [
        plain(&["sessions", "append", id, &message]),
        plain(&["sessions", "append", id, "--user", EVIL]),
        plain(&["sessions", "todo", id, "--add", EVIL]),
        plain(&["sessions", "note", id, "--add", &folder_note]),
        plain(&["sessions", "info", id, "--add", &useful]),
        plain(&["sessions", "mark", id, &mark]),
        with(&["build", "--record"], &source),
        plain(&["sessions", "append", id, "--assistant", EVIL]),
        plain(&["sessions", "append", id, "--user", EVIL]),
        with(&["build", "--explain", "--record"], &other),
        plain(&["sessions", "append", id, "--user", EVIL]),
        with(&["explain"], &source),
        with(&["build", "--explain"], &source),
        plain(&["explain", "--session", id, "--sent"]),
        plain(&["switch", "--session", id, "--to", "openai", "--model", EVIL]),
        plain(&["sessions", "summary", id, &summary, "--through", EVIL]),
        plain(&["sessions", "summary", id]),
        plain(&["sessions", "todo", id]),
        plain(&["sessions", "note", id]),
        plain(&["sessions", "info", id]),
        plain(&["sessions", "show", id]),
        plain(&["sessions", "ls"]),
        plain(&["sessions", "search", "EVIL"]),
        plain(&["sessions", "query", id]),
        plain(&["compact", id, "--without-model"]),
        plain(&["replay", id, "--out", &out]),
        plain(&["replay", &evil_file, "--out", &out]),
        plain(&["replay", EVIL, "--out", &out]),
        plain(&["show", &evil_file]),
        plain(&["lint", &evil_file]),
        plain(&["build", &evil_file]),
        plain(&["build", EVIL]),
        plain(&["build", SESSION, "--place", EVIL]),
        plain(&["build", SESSION, "--to", EVIL]),
        plain(&["sessions", "append", id, &bad]),
        plain(&["sessions", "op", id, &bad]),
        plain(&[EVIL]),
    ];
    let mut evils = 0;
    for arguments in &commands {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let printed = printed(&store, &arguments);
        evils += usize::from(printed.contains("EVIL"));
        for style in ["\u{1b}[31mEVIL", "\u{1b}[8m"] {
            assert!(!printed.contains(style), "{arguments:?} {printed:?}");
        }
        let output = interleaf(&arguments).env("INTERLEAF_STORE", &store).output().unwrap();
        let piped = text(&output.stdout) + &text(&output.stderr);
        assert!(!piped.contains('\u{1b}'), "{arguments:?} {piped:?}");
    }
    assert!(evils >= 20, "only {evils} of the commands said anything of it");
}
