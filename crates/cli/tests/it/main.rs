//! The program as its users meet it: run, with its output looked at.

#![expect(clippy::unwrap_used, clippy::panic, reason = "the helpers of a test fail like a test")]

mod api;
mod bad_input;
mod build;
mod chat;
mod demo;
mod doubled;
mod fixtures;
mod help;
mod hostile;
mod interrupted;
mod json;
mod literate;
mod plan_run;
mod questions;
mod repository;
mod rows;
mod rules;
mod run;
mod run_hostile;
mod send;
mod send_compacted;
mod send_odd;
mod sessions;
mod settled;
mod spelling;
mod streams;
mod terminal;
mod timed;
mod told;
mod wrong;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_interleaf");
const SESSION: &str = "fixtures/agent-session.json";
const CHAT: &str = "fixtures/chat-array.json";

/// The root of the repository, where the examples are run.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn interleaf(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).current_dir(root());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

/// Whether a program that a test starts is ended by this signal: under `nohup`, or in the
/// background of a script, some are ignored.
#[cfg(unix)]
fn is_heard(signal: &str) -> bool {
    let number = match signal {
        "-HUP" => 1,
        "-INT" => 2,
        _ => return true,
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_none_or(|mask| mask >> (number - 1) & 1 == 0)
}

/// Runs the program with something on its standard input.
fn run_with(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = interleaf(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that refuses its input early closes the pipe, and rightly so.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// What a successful run prints. What `build` says of its request beside it is not looked at.
#[track_caller]
fn stdout(arguments: &[&str]) -> String {
    let output = run_with(arguments, b"");
    let told = text(&output.stderr);
    let is_said = |line: &&str| line.starts_with("changed: ") || line.contains("names no model");
    let is_build = arguments.first() == Some(&"build");
    let other: Vec<&str> = told.lines().filter(|line| !(is_build && is_said(line))).collect();
    assert_eq!(other, [""; 0], "{arguments:?}");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    text(&output.stdout)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
