//! `interleaf send` that is interrupted.

#![cfg(unix)]

use std::io::Read as _;
use std::process::{Child, Command, Output, Stdio};

use super::send::{Said, Server, send, session, shown, stream};
use super::{CHAT, is_heard, text};

/// Sends a signal to a program, once it has printed something.
fn interrupt(mut child: Child, signal: &str) -> Output {
    let mut first = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

#[test]
fn after_an_interrupt_what_came_is_kept_and_the_exit_code_is_130() {
    for signal in ["-INT", "-TERM", "-HUP"].into_iter().filter(|signal| is_heard(signal)) {
        let scratch = tempfile::tempdir().unwrap();
        let store = format!("sqlite:{}", scratch.path().join("s.db").display());
        let id = session(&store);
        let mut body = stream();
        let end = text(&body).find("toolu_01").unwrap();
        body.truncate(end);
        let head = "200 OK\r\ncontent-type: text/event-stream";
        let server = Server::start(vec![Said { head, body, stalls: true }]);
        let mut command = send(&["--session", &id], &server.url);
        command.env("INTERLEAF_STORE", &store).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = interrupt(command.spawn().unwrap(), signal);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{signal} {err}");
        assert!(err.contains("interrupted: what came is kept"), "{signal} {err}");
        assert!(err.contains("usage: at least ") && err.contains("price: at least "), "{err}");
        let shown = shown(&id, &store);
        assert!(shown.contains("I read both.") && !shown.contains("toolu_01"), "{signal} {shown}");
    }
}

#[test]
fn an_interrupt_does_not_say_that_something_is_kept_where_nothing_is() {
    if !is_heard("-INT") {
        return;
    }
    let mut body = stream();
    body.truncate(text(&body).find("toolu_01").unwrap());
    let head = "200 OK\r\ncontent-type: text/event-stream";
    let server = Server::start(vec![Said { head, body, stalls: true }]);
    let mut command = send(&[CHAT, "--stream"], &server.url);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = interrupt(command.spawn().unwrap(), "-INT");
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("interrupted") && !err.contains("kept"), "{err}");
}
