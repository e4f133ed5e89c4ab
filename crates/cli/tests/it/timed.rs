//! `--timeout` bounds all that is done until an answer is there.

use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use super::send::{Server, good, ran, send, session};
use super::text;

#[test]
fn input_that_does_not_end_is_not_waited_for() {
    let mut command = send(&["-", "--timeout", "0.2"], "http://127.0.0.1:9");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let input = child.stdin.take();
    let (ended, is_ended) = channel::<()>();
    // If nothing bounds it, the test fails in place of hanging.
    let closes = thread::spawn(move || {
        let hangs = is_ended.recv_timeout(Duration::from_secs(120));
        drop(input);
        hangs == Err(RecvTimeoutError::Timeout)
    });
    let output = child.wait_with_output().unwrap();
    ended.send(()).unwrap_or_default();
    assert!(!closes.join().unwrap(), "it waits for its input");
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(8), "{err}");
    assert!(err.contains("<stdin>: it was not read to its end within 0.2 s"), "{err}");
}

#[test]
fn a_store_that_another_program_holds_is_not_waited_for() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("s.db");
    let store = format!("sqlite:{}", path.display());
    let id = session(&store);
    let server = Server::start(vec![good()]);
    // A store gives up by itself after five seconds, with another exit code.
    for (hold, flags) in [
        ("BEGIN IMMEDIATE", &[][..]),
        ("BEGIN IMMEDIATE", &["--user", "And now?"]),
        ("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE", &[]),
    ] {
        let other = Connection::open(&path).unwrap();
        other.execute_batch(hold).unwrap();
        let mut command = send(&["--session", &id, "--timeout", "2"], &server.url);
        let (code, _, err) = ran(command.args(flags).env("INTERLEAF_STORE", &store));
        assert_eq!(code, Some(8), "{hold}: {err}");
        assert!(err.contains("(the total time-out)"), "{hold}: {err}");
        assert!(server.seen().is_empty());
    }
}

#[test]
fn a_request_that_takes_long_to_make_is_told_as_such() {
    let scratch = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", scratch.path().join("s.db").display());
    let id = session(&store);
    let long = scratch.path().join("long.txt");
    std::fs::write(&long, "A line of what is known of it. ".repeat(400_000)).unwrap();
    let long = long.to_str().unwrap();
    // In a session the request is made to its end: one that does not fit is told as such.
    for of in [&["--user", "x", "--window", "8000"][..], &["--session", &id, "--window", "9000000"]]
    {
        let mut command = send(of, "http://127.0.0.1:9");
        let flags = ["--info-file", long, "--timeout", "1"];
        let (code, _, err) = ran(command.args(flags).env("INTERLEAF_STORE", &store));
        assert_eq!(code, Some(8), "{of:?}: {err}");
        assert!(err.contains("the request was not made within 1"), "{of:?}: {err}");
    }
}

#[cfg(unix)]
#[test]
fn the_error_says_that_it_was_the_key_that_took_the_time() {
    let mut command = send(&["--user", "x", "--timeout", "2"], "http://127.0.0.1:9");
    let (code, _, err) = ran(command.args(["--key-command", "sleep 100"]));
    assert_eq!(code, Some(8), "{err}");
    assert!(err.contains("the key did not come within 2.0 s (the total time-out)"), "{err}");
}
