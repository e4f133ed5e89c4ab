//! Sessions at the command line: nothing is lost, and nothing is doubled.

mod copies;
mod records;
mod stores;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::help::examples;
use super::{CHAT, PROGRAM, interleaf, root, run_with, text};

const FIRST: &str = "01980000-0000-7000-8000-000000000001";
const SUBCOMMANDS: [&str; 17] = [
    "ls",
    "show",
    "new",
    "append",
    "query",
    "op",
    "fork",
    "mark",
    "roll-back",
    "todo",
    "info",
    "note",
    "summary",
    "search",
    "export",
    "import",
    "rm",
];

/// A store of our own.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn url(&self, name: &str) -> String {
        format!("sqlite:{}", self.path(name).display())
    }

    /// What `interleaf sessions` prints; nothing goes wrong.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        run_in(&self.url("sessions.db"), arguments, "")
    }

    /// The one line that `interleaf sessions` refuses with.
    #[track_caller]
    fn refused(&self, arguments: &[&str]) -> String {
        let url = self.url("sessions.db");
        let all = [&["sessions", "--store", &url][..], arguments].concat();
        let output = run_with(&all, b"");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        text(&output.stderr).lines().next().unwrap().to_owned()
    }

    fn new_session(&self) -> String {
        self.run(&["new", "--title", "Fog"]).trim().to_owned()
    }
}

#[track_caller]
fn run_in(url: &str, arguments: &[&str], input: &str) -> String {
    let all = [&["sessions", "--store", url][..], arguments].concat();
    let output = run_with(&all, input.as_bytes());
    assert_eq!(text(&output.stderr), "", "{arguments:?}");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    text(&output.stdout)
}

#[test]
fn every_command_has_a_sentence_and_examples_that_work() {
    let programs = Path::new(PROGRAM).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(programs).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(paths).unwrap();
    let overview = super::stdout(&["sessions", "--help"]);
    for command in SUBCOMMANDS {
        let place = Place::new();
        let id = place.run(&["import", CHAT]);
        place.run(&["op", id.trim(), "--keep-last", "2"]);
        let help = super::stdout(&["sessions", command, "--help"]);
        assert!(overview.contains(help.lines().next().unwrap()), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        // What the examples write goes where the test cleans up.
        let scratch = place.folder.path().to_str().unwrap();
        let script =
            format!("set -e\n{}", examples(&help).replace("/tmp/", &format!("{scratch}/")));
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(root()).env("PATH", &path).stdin(Stdio::null());
        shell.env("ID", id.trim()).env("INTERLEAF_STORE", place.url("sessions.db"));
        let output = shell.output().unwrap();
        assert_eq!(text(&output.stderr), "", "{script}");
        assert!(output.status.success(), "{script}");
        assert!(!output.stdout.is_empty(), "{script}");
    }
}

#[test]
fn the_default_store_lies_in_the_data_folder() {
    let place = Place::new();
    for (variable, file) in
        [("XDG_DATA_HOME", "interleaf/sessions.db"), ("HOME", ".local/share/interleaf/sessions.db")]
    {
        let home = tempfile::tempdir().unwrap();
        let mut new = interleaf(&["sessions", "new"]);
        for name in ["INTERLEAF_STORE", "XDG_DATA_HOME", "HOME"] {
            new.env_remove(name);
        }
        let output = new.env(variable, home.path()).output().unwrap();
        assert_eq!(text(&output.stderr), "");
        assert!(home.path().join(file).is_file(), "{variable}");
    }
    let mut new = interleaf(&["sessions", "new"]);
    new.env("INTERLEAF_STORE", place.url("named.db"));
    assert!(new.output().unwrap().status.success());
    assert!(place.path("named.db").is_file());
}

#[test]
fn two_programs_append_at_once() {
    let place = Place::new();
    let id = place.new_session();
    let url = place.url("sessions.db");
    let append = |writer: usize, n: usize| -> Child {
        let said = format!("{writer} says {n}");
        let mut command = interleaf(&["sessions", "append", &id, "--store", &url, "--user", &said]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for n in 0..12 {
        let both = [append(0, n), append(1, n)];
        for child in both {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
    }
    let transcript: Value = serde_json::from_str(&place.run(&["export", &id])).unwrap();
    let messages = transcript["messages"].as_array().unwrap();
    let field = |name: &str| -> BTreeSet<String> {
        messages.iter().map(|message| message.pointer(name).unwrap().to_string()).collect()
    };
    assert_eq!((messages.len(), field("/id").len(), field("/parts/0/text").len()), (24, 24, 24));
}

#[test]
fn of_writers_who_expect_the_same_one_wins() {
    let place = Place::new();
    let id = place.new_session();
    let url = place.url("sessions.db");
    let append = |n: usize| -> Child {
        let said = format!("writer {n}");
        let all = ["sessions", "append", &id, "--store", &url, "--expect", "0", "--user", &said];
        let mut command = interleaf(&all);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let writers: Vec<Child> = (0..4).map(append).collect();
    let ended: Vec<_> =
        writers.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let won = ended.iter().filter(|output| output.status.success()).count();
    assert_eq!(won, 1);
    for output in ended.iter().filter(|output| !output.status.success()) {
        assert_eq!(output.status.code(), Some(3));
        assert!(text(&output.stderr).contains("nothing was written"), "{}", text(&output.stderr));
    }
    assert!(place.run(&["show", &id]).contains("· 1 message"));
}

#[test]
fn a_decoded_answer_goes_into_a_session_with_its_parts_in_order() {
    let place = Place::new();
    let id = place.new_session();
    let answer = r#"{"type": "message", "id": "msg_1", "role": "assistant", "model": "claude-x",
        "content": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "text", "text": "First I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "sky"}},
            {"type": "text", "text": "Then I say."}],
        "stop_reason": "tool_use", "usage": {"input_tokens": 9, "output_tokens": 4}}"#;
    let decoded = text(&run_with(&["decode"], answer.as_bytes()).stdout);
    run_in(&place.url("sessions.db"), &["append", &id, "-"], &decoded);
    let transcript: Value = serde_json::from_str(&place.run(&["export", &id])).unwrap();
    let said = serde_json::from_str::<Value>(&decoded).unwrap();
    assert_eq!(transcript["messages"][0]["parts"], said["message"]["parts"]);
    let kinds = said["message"]["parts"].as_array().unwrap().iter().map(|part| &part["type"]);
    assert_eq!(kinds.collect::<Vec<_>>(), ["thinking", "text", "call", "text"]);
    assert_eq!(said["message"]["parts"][0]["signature"], "c2ln");
}

#[test]
fn messages_come_all_or_none() {
    let place = Place::new();
    let id = place.new_session();
    place.run(&["append", &id, CHAT]);
    let bad = r#"[{"role": "user", "content": "fine"}, {"role": "user", "content": "\n"}]"#;
    let refused = place.refused(&["append", &id, bad]);
    assert!(refused.contains("messages[1]: a user message must say something: its text is blank"));
    assert!(place.refused(&["append", &id, "[]"]).contains("there is no message in it"));
    assert!(place.refused(&["op", &id, "--mark", "0=seen", "--remove-last", "99"]).contains("99"));
    assert!(place.refused(&["mark", &id, "0=seen", "7=seen"]).contains("no message 7"));
    let transcript = place.run(&["export", &id]);
    assert!(!transcript.contains("fine") && !transcript.contains("seen"), "{transcript}");
    // Half a conversation is not taken for a whole one.
    let hidden = super::stdout(&["op", CHAT, "--keep-last", "1", "--write", "-"]);
    let file = place.path("hidden.json");
    fs::write(&file, hidden).unwrap();
    assert!(place.refused(&["append", &id, file.to_str().unwrap()]).contains("5 messages"));
}

#[test]
fn appended_messages_get_ids_of_their_own() {
    let place = Place::new();
    let id = place.new_session();
    let user = |id: &str| format!(r#"{{"id": "{id}", "role": "user", "content": "x"}}"#);
    for _ in 0..2 {
        place.run(&["append", &id, CHAT]);
    }
    place.run(&["append", &id, &user("own")]);
    let refused = place.refused(&["append", &id, &user("own")]);
    assert!(refused.contains("message.id: \"own\" is the id of message 14"), "{refused}");
    // A list is a history from elsewhere: its doubles are renamed, and a note says so.
    let list = format!("[{}, {}, {}]", user("own"), user("twice"), user("twice"));
    let url = place.url("sessions.db");
    let output = run_with(&["sessions", "--store", &url, "append", &id, &list], b"");
    let told = "note: message 15 is now \"m15\": another message has its id \"own\"\n\
                note: message 17 is now \"m17\": another message has its id \"twice\"\n";
    assert_eq!(text(&output.stderr), told);
    let transcript: Value = serde_json::from_str(&place.run(&["export", &id])).unwrap();
    let messages = transcript["messages"].as_array().unwrap();
    let ids: BTreeSet<&str> = messages.iter().map(|m| m["id"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), ids.contains("twice")), (18, true), "{ids:?}");
}

#[test]
fn calls_without_an_id_get_ids_of_their_own_in_every_turn() {
    let place = Place::new();
    let id = place.new_session();
    let turn = r#"[{"role": "assistant", "content": null, "tool_calls": [
            {"type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_0_0", "content": "src"}]"#;
    for _ in 0..3 {
        place.run(&["append", &id, turn]);
    }
    let transcript: Value = serde_json::from_str(&place.run(&["export", &id])).unwrap();
    let messages = transcript["messages"].as_array().unwrap();
    let calls: Vec<&str> =
        messages.iter().filter_map(|message| message["parts"][0]["id"].as_str()).collect();
    let results: Vec<&str> = messages.iter().filter_map(|m| m["call"].as_str()).collect();
    assert_eq!(calls, ["call_0_0", "call_0_0_2", "call_0_0_3"]);
    assert_eq!(calls, results);
}

#[test]
fn a_list_of_three_messages_is_three_messages() {
    let place = Place::new();
    let id = place.new_session();
    let three = r#"[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                    {"role": "user", "content": "c"}]"#;
    assert!(place.run(&["append", &id, three]).contains("3 messages at 0"));
    let one = place.path("one.json");
    fs::write(&one, r#"[{"role": "user", "content": "a"}]"#).unwrap();
    let imported = place.run(&["import", one.to_str().unwrap()]);
    assert!(place.run(&["show", imported.trim()]).contains("0 u a"));
    let odd = r#"[null, 1, {"role": "user", "content": "x"}]"#;
    assert!(place.refused(&["append", &id, odd]).contains("messages[0]"));
}

#[test]
fn a_store_that_cannot_be_used_is_left_as_it_is() {
    let place = Place::new();
    place.run(&["new", "--id", FIRST]);
    let database = place.path("sessions.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let refused = place.refused(&["new"]);
    assert!(refused.contains("newer") || refused.contains("99"), "{refused}");

    let other = place.path("other.db");
    fs::write(&other, "this is no database, but somebody's letter").unwrap();
    let url = place.url("other.db");
    let output = run_with(&["sessions", "new", "--store", &url], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("other.db"), "{}", text(&output.stderr));
    assert_eq!(fs::read(&other).unwrap(), b"this is no database, but somebody's letter");

    let output = run_with(&["sessions", "ls", "--store", "postgres://u:secret@127.0.0.1:1/d"], b"");
    assert_eq!(output.status.code(), Some(6));
    assert!(!text(&output.stderr).contains("secret"), "{}", text(&output.stderr));
    // A store that is not there is not made by those who only read it.
    let output = run_with(&["sessions", "import", "--from", &place.url("typo.db")], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(!place.path("typo.db").exists());
}
