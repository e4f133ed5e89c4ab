//! `interleaf send` to servers that do odd things.

use super::send::{Said, Server, good, ran, send};
use super::{CHAT, interleaf, text};

#[test]
fn an_answer_that_has_ended_is_taken_though_the_connection_stays_open() {
    let server = Server::start(vec![Said { stalls: true, ..good() }]);
    let (code, out, errors) = ran(&mut send(&[CHAT, "--stream"], &server.url));
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("[call toolu_01 "), "{out}");
}

#[test]
fn the_token_of_an_aws_session_shows_in_no_error() {
    let token = "FwoGZXIvYXdzEBYaDsessiontokenofmine0123456789";
    let body = format!("{{\"message\":\"no such token: {token}\"}}").into_bytes();
    let head = "403 Forbidden\r\ncontent-type: application/json";
    let server = Server::start(vec![Said { head, body, stalls: false }]);
    let mut command = interleaf(&["send", CHAT, "--vendor", "bedrock", "--model", "a-model"]);
    command.args(["--base-url", &server.url]).env("NO_PROXY", "127.0.0.1");
    command.env("AWS_ACCESS_KEY_ID", "ASIAEXAMPLE").env("AWS_SECRET_ACCESS_KEY", "never-sent");
    command.env("AWS_SESSION_TOKEN", token).env("AWS_REGION", "eu-west-1");
    let output = command.output().unwrap();
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(said.contains("no such token: ***"), "{said}");
    assert!(server.seen()[0].contains(token));
}
