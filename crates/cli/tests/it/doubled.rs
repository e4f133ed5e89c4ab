//! `interleaf double` and the command that it runs.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

#[cfg(unix)]
use super::is_heard;
use super::{interleaf, text};

#[cfg(unix)]
/// Signals a double whose command has printed its process id, and gives the exit code.
fn signalled(signal: &str, script: &str) -> (Option<i32>, String) {
    let mut command = interleaf(&["double", "--", "sh", "-c", script]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut double = command.spawn().unwrap();
    let mut id = String::new();
    BufReader::new(double.stdout.as_mut().unwrap()).read_line(&mut id).unwrap();
    let sent = Command::new("kill").args([signal, &double.id().to_string()]).status().unwrap();
    assert!(sent.success());
    (double.wait().unwrap().code(), id.trim().to_owned())
}

#[cfg(unix)]
#[test]
fn a_signal_that_ends_a_double_ends_its_command_too() {
    let signals = [("-TERM", 143), ("-HUP", 129), ("-INT", 130)].into_iter();
    for (signal, code) in signals.filter(|(signal, _)| is_heard(signal)) {
        let (found, id) = signalled(signal, "echo $$; exec sleep 600");
        assert_eq!(found, Some(code), "{signal}");
        let alive = Command::new("kill").args(["-0", &id]).stderr(Stdio::null()).status().unwrap();
        assert!(!alive.success(), "{signal}: {id} is still there");
    }
}

#[cfg(unix)]
#[test]
fn a_command_may_come_to_its_end_in_its_own_way_or_is_killed() {
    let waits = "while :; do sleep 0.05; done";
    let (code, _) = signalled("-TERM", &format!("trap 'exit 7' TERM; echo $$; {waits}"));
    assert_eq!(code, Some(7));
    let (code, _) = signalled("-TERM", &format!("trap '' TERM; echo $$; {waits}"));
    assert_eq!(code, Some(137));
}

#[test]
fn the_log_tells_of_a_request_whose_client_left_before_its_answer() {
    let program = env!("CARGO_BIN_EXE_interleaf");
    let send = "send --user hi --vendor openai --model gpt-4.1 --first-byte-timeout 1 --retries 0";
    let script = format!("'{program}' {send}; true");
    let double = ["double", "--log", "--fault", "1=slow:ms=600000", "--", "sh", "-c", &script];
    let output = interleaf(&double).output().unwrap();
    let err = text(&output.stderr);
    let line = "note: 1 POST /v1/chat/completions the client left before the answer";
    assert!(err.contains(line), "{err}");
}

#[test]
fn the_exit_code_is_the_one_that_a_shell_would_give() {
    for (command, code) in [
        (&["sh", "-c", "exit 3"][..], 3),
        (&["sh", "-c", "kill -TERM $$"], 143),
        (&["no-such-command"], 127),
        (&["/"], 126),
    ] {
        let output = interleaf(&[&["double", "--"], command].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{command:?}: {}", text(&output.stderr));
    }
}
