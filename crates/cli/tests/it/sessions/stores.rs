//! What a script learns when a store refuses, and what a command leaves on the disk.

use std::fs::{self, File};

use rusqlite::Connection;

use super::{FIRST, Place};
use crate::{CHAT, interleaf, run_with, text};

impl Place {
    fn connection(&self) -> Connection {
        Connection::open(self.path("sessions.db")).unwrap()
    }

    /// The exit code, and what is said.
    fn code(&self, arguments: &[&str]) -> (i32, String) {
        let url = self.url("sessions.db");
        let output = run_with(&[&["sessions", "--store", &url][..], arguments].concat(), b"");
        (output.status.code().unwrap(), text(&output.stderr))
    }
}

#[test]
fn the_exit_code_tells_busy_conflict_and_unavailable_from_bad_usage() {
    let place = Place::new();
    let id = place.new_session();
    let (code, told) = place.code(&["append", &id, "--user", "hello", "--expect", "7"]);
    assert_eq!((code, told.contains("nothing was written")), (3, true), "{told}");

    let other = place.connection();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (code, told) = place.code(&["append", &id, "--user", "hello"]);
    assert_eq!((code, told.contains("nothing was written")), (4, true), "{told}");
    other.execute_batch("ROLLBACK").unwrap();

    let nowhere = "postgres://me:s3cret@%2Fno%2Fsuch/db";
    let output = run_with(&["sessions", "ls", "--store", nowhere], b"");
    assert_eq!(output.status.code(), Some(6), "{}", text(&output.stderr));
    assert_eq!(place.code(&["append", &id]).0, 2);
    assert_eq!(place.code(&["show", FIRST]).0, 2);
}

#[test]
fn what_was_written_is_said_to_be_kept_when_the_output_is_full() {
    let place = Place::new();
    let id = place.new_session();
    let url = place.url("sessions.db");
    let mut append = interleaf(&["sessions", "append", &id, "--user", "kept", "--store", &url]);
    append.stdout(File::options().write(true).open("/dev/full").unwrap());
    let output = append.output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{told}");
    assert!(told.contains("what the command changed is kept"), "{told}");
    assert!(place.run(&["show", &id]).contains("0 u kept"));
}

#[test]
fn the_file_alone_is_whole_when_a_command_has_ended() {
    let place = Place::new();
    let id = place.new_session();
    for n in 1..=10 {
        place.run(&["append", &id, "--user", "again"]);
        let files: Vec<_> = fs::read_dir(place.folder.path()).unwrap().collect();
        assert_eq!(files.len(), 1, "{files:?}");
        fs::copy(place.path("sessions.db"), place.folder.path().join("../copy.db")).unwrap();
        let copied = format!("sqlite:{}", place.folder.path().join("../copy.db").display());
        let shown = super::run_in(&copied, &["show", &id], "");
        fs::remove_file(place.folder.path().join("../copy.db")).unwrap();
        assert_eq!(shown.matches(" u again").count(), n);
    }
}

#[test]
fn a_session_that_is_its_own_ancestor_is_refused_by_every_command() {
    let place = Place::new();
    let id = place.run(&["import", CHAT]).trim().to_owned();
    place.connection().execute_batch("UPDATE sessions SET parent = no, fork_seq = 2").unwrap();
    for command in [
        &["show", &id][..],
        &["append", &id, "--user", "hello"],
        &["export", &id],
        &["export", "--all"],
        &["fork", &id],
        &["import", "--from", &place.url("sessions.db")],
    ] {
        let (code, told) = place.code(command);
        assert_eq!(code, 2, "{command:?}: {told}");
        assert!(told.contains("is its own ancestor"), "{command:?}: {told}");
    }
}

#[test]
fn no_message_shows_the_password_of_a_store() {
    let url = "postgres://me:s3cret@%2Fno%2Fsuch/db";
    for arguments in [
        &["sessions", "ls", "--store", url][..],
        &["sessions", "ls", "--store", "host=h password=s3cret"],
        &["sessions", "ls", "--store", "sqlite:host=h password='s3cret'"],
        &["sessions", "ls", url],
        &["sessions", "show", url],
        &["sessions", url],
        &["show", url],
        &[url],
        &["sessions", "ls", "--limit", url],
        &["sessions", "ls", "--nope=password=s3cret"],
        &["sessions", "import", "--from", url],
    ] {
        let output = run_with(arguments, b"");
        let told = text(&output.stderr) + &text(&output.stdout);
        assert!(!told.contains("s3cret") && !told.is_empty(), "{arguments:?}: {told}");
    }
    let mut help = interleaf(&["sessions", "--help"]);
    let output = help.env("INTERLEAF_STORE", url).env("PGPASSWORD", "s3cret").output().unwrap();
    assert!(!text(&output.stdout).contains("s3cret"));
}

#[test]
fn hidden_characters_are_escaped_for_people_and_exact_for_programs() {
    let place = Place::new();
    let evil = "word \u{202e}drow\u{200b}\u{9b}2J\u{feff} end";
    let id = place.run(&["new", "--title", evil]).trim().to_owned();
    place.run(&["append", &id, "--user", evil]);
    place.run(&["todo", &id, "--add", evil]);
    for command in [
        &["show", &id][..],
        &["ls"],
        &["search", "word"],
        &["todo", &id],
        &["query", &id, "--role", "user"],
        &["op", &id, "--keep-last", "1", "--dry-run"],
    ] {
        let shown = place.run(command);
        let hidden = |c: char| c != '\n' && interleaf::model::is_hidden(c);
        assert!(!shown.contains(hidden), "{command:?}: {shown:?}");
        assert!(shown.contains("\\u{202e}drow\\u{200b"), "{command:?}: {shown:?}");
    }
    let refused = place.refused(&["show", evil]);
    assert!(refused.contains("\\u{202e}"), "{refused:?}");
    let wrong = run_with(&["show", "x.json", &format!("--{evil}")], b"");
    assert!(!text(&wrong.stderr).contains('\u{202e}'), "{:?}", text(&wrong.stderr));

    let json = place.run(&["show", &id, "--json"]);
    assert!(json.contains("\u{202e}drow\u{200b}"), "{json:?}");
    let exported = place.run(&["export", &id]);
    assert!(exported.contains("\u{202e}drow\u{200b}"), "{exported:?}");
}
