//! The help is good for what it says.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{PROGRAM, root, stdout, text};

const COMMANDS: [&str; 10] = [
    "show",
    "query",
    "op",
    "build",
    "explain",
    "sessions",
    "convert",
    "lint",
    "decode",
    "completions",
];

/// The lines of the section EXAMPLES.
pub(crate) fn examples(help: &str) -> String {
    let (_, rest) = help.split_once("EXAMPLES\n").unwrap();
    let lines: Vec<&str> = rest.lines().take_while(|line| line.starts_with("  ")).collect();
    lines.join("\n")
}

#[test]
fn every_command_has_a_sentence_and_examples() {
    let overview = stdout(&["--help"]);
    for command in COMMANDS {
        let help = stdout(&[command, "--help"]);
        let sentence = help.lines().next().unwrap();
        assert!(overview.contains(&format!("{command:<13}{sentence}")), "{sentence}");
        assert!(examples(&help).contains(&format!("interleaf {command} ")), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}

#[test]
fn the_examples_work_from_the_root() {
    let programs = Path::new(PROGRAM).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(programs).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(paths).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let store = scratch.path().join("sessions.db");
    // Those of `completions` write into the home directory.
    let own = COMMANDS.into_iter().filter(|&command| command != "completions");
    for arguments in own.map(|command| vec![command, "-h"]).chain([vec!["--help"]]) {
        let script = format!("set -e\n{}", examples(&stdout(&arguments)));
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(root()).env("PATH", &path).stdin(Stdio::null());
        shell.env("INTERLEAF_STORE", format!("sqlite:{}", store.display()));
        let output = shell.output().unwrap();
        let stderr = text(&output.stderr);
        // What could not travel is said there.
        assert!(stderr.is_empty() || script.contains("convert"), "{script}\n{stderr}");
        assert!(output.status.success(), "{script}\n{stderr}");
        assert!(output.stdout.len() > 300, "{script}");
    }
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&["completions", shell]);
        for command in COMMANDS {
            assert!(script.contains(command), "{shell} {command}");
        }
    }
}
