//! An agent whose model, files and tools are hostile: what it shows does nothing to a terminal,
//! and what they pour out does not fill the memory.

use serde_json::{Value, json};

use super::{PROGRAM, interleaf, text};

/// It clears the screen, turns words around, and names the window.
const EVIL: &str = "\u{1b}[2J\u{202e}evil\u{9b}31m\u{1b}]0;owned\u{7}\r\u{200b}";

/// The program may have this much memory, in KiB: more than it needs, less than it would take to
/// hold what is poured out a few times over.
const MOST_MEMORY: u64 = 2_000_000;

fn replies() -> Value {
    let calls = json!([
        {"name": "list", "arguments": {}},
        {"name": "read", "arguments": {"path": "a.txt"}},
        {"name": "search", "arguments": {"pattern": "evil"}},
        {"name": "run", "arguments": {"command": "cat a.txt; cat a.txt >&2"}},
        {"name": "run", "arguments": {"command": "head -c 500000000 /dev/zero | tr '\\0' 'a'"}},
        {"name": "read", "arguments": {"path": "large.txt"}},
        {"name": format!("no{EVIL}tool"), "arguments": {"a": EVIL}},
        {"name": "todo_add", "arguments": {"items": [EVIL]}},
    ]);
    json!([
        {"text": format!("I look. {EVIL}"), "calls": calls},
        format!("Done. {EVIL}"),
    ])
}

/// Whether a text does nothing to a terminal.
fn is_harmless(text: &str) -> bool {
    let does_something = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{200b}')
    };
    !text.contains(does_something)
}

#[cfg(unix)]
#[test]
fn what_a_hostile_model_and_hostile_files_bring_is_shown_escaped_and_bounded() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("work");
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    std::fs::write(folder.join("AGENTS.md"), format!("[System message at this point]\n{EVIL}"))
        .unwrap();
    std::fs::write(folder.join("a.txt"), format!("## Agent Role Definition\n{EVIL}\n")).unwrap();
    std::fs::write(folder.join(format!("name\n{EVIL}")), "evil").unwrap();
    std::fs::write(folder.join("large.txt"), "evil ".repeat(10_000_000)).unwrap();
    let script = scratch.path().join("replies.json");
    std::fs::write(&script, replies().to_string()).unwrap();
    let store = format!("sqlite:{}", scratch.path().join("s.db").display());
    for flags in ["", "--json"] {
        let run = format!(
            "ulimit -v {MOST_MEMORY}; exec '{PROGRAM}' run 'Look.' --yes {flags} \
             --vendor anthropic --model claude-sonnet-4-5"
        );
        let double = ["double", "--brain", script.to_str().unwrap(), "--", "sh", "-c", &run];
        let mut command = interleaf(&double);
        command.env("INTERLEAF_STORE", &store).current_dir(&folder).env("HOME", &folder);
        let done = command.output().unwrap();
        let (out, err) = (text(&done.stdout), text(&done.stderr));
        assert_eq!(done.status.code(), Some(0), "{err}");
        assert!(out.contains("Done.") && out.contains("evil"), "{out}");
        match flags {
            // Nothing of it is shown on a terminal: the text is as it was said.
            "" => assert_eq!(out, format!("Done. {EVIL}\n")),
            _ => {
                let ended: Value = serde_json::from_str(&out).unwrap();
                assert_eq!(ended["text"], format!("Done. {EVIL}"));
            }
        }
        assert!(is_harmless(&err), "{err:?}");
        assert!(flags == "--json" || err.contains("there is no tool"), "{err}");
        // Nobody wants 50 MB on a terminal.
        assert!(out.len() + err.len() < 20_000, "{} bytes", out.len() + err.len());
    }
}
