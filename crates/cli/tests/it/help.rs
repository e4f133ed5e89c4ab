//! The help is good for what it says.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{PROGRAM, root, stdout, text};

/// A command, and those above it.
type Words = Vec<String>;

/// Every command with its help, as the help of the one above it lists them.
fn commands() -> Vec<(Words, String)> {
    let mut all = Vec::new();
    let mut open: Vec<Words> = vec![Vec::new()];
    while let Some(words) = open.pop() {
        let help = help(&words);
        let list = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
        for line in list.lines().take_while(|line| !line.is_empty()) {
            let name = line.split_whitespace().next().unwrap();
            open.push(words.iter().cloned().chain([name.to_owned()]).collect());
        }
        all.push((words, help));
    }
    assert!(all.len() >= 30, "{} commands", all.len());
    all
}

fn help(words: &[String]) -> String {
    let arguments: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
    stdout(&arguments)
}

/// The lines of the section EXAMPLES.
pub(crate) fn examples(help: &str) -> String {
    let (_, rest) = help.split_once("EXAMPLES\n").unwrap();
    let lines: Vec<&str> = rest.lines().take_while(|line| line.starts_with("  ")).collect();
    lines.join("\n")
}

#[test]
fn every_command_has_a_sentence_and_an_example() {
    for (words, help) in commands() {
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        let Some((name, above)) = words.split_last() else { continue };
        let sentence = help.lines().next().unwrap();
        let overview = self::help(above);
        let mut lines = overview.lines().map(str::trim_start);
        let mut says = lines.by_ref().filter_map(|line| line.strip_prefix(name.as_str()));
        assert!(says.any(|line| line.trim_start() == sentence), "{words:?}: {sentence}");
        assert!(examples(&help).contains(&format!("interleaf {} ", words.join(" "))), "{help}");
    }
}

/// The examples of `completions` write into the home directory, those of `send`, `run`, `chat` and
/// `resume` cost money, and the rest is about a session that was run in the folder.
const SKIPPED: [&str; 8] = ["completions", "send", "run", "chat", "resume", "todo", "info", "note"];

#[test]
fn the_examples_work_from_the_root() {
    let programs = Path::new(PROGRAM).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(programs).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(paths).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let store = scratch.path().join("sessions.db");
    // Those further down name files that a person has.
    let at_top = commands().into_iter().filter(|(words, _)| words.len() < 2);
    for (_, help) in at_top.filter(|(words, _)| !SKIPPED.iter().any(|it| words == &[*it])) {
        let script = format!("set -e\n{}", examples(&help));
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(root()).env("PATH", &path).stdin(Stdio::null());
        shell.env("INTERLEAF_STORE", format!("sqlite:{}", store.display()));
        let output = shell.output().unwrap();
        let stderr = text(&output.stderr);
        // What was changed is said there.
        let said =
            ["changed: ", "dropped: ", "made: ", "moved: ", "altered: ", "note: ", "rewritten: "];
        let is_said = |line: &str| said.iter().any(|start| line.starts_with(start));
        assert!(stderr.lines().all(is_said), "{script}\n{stderr}");
        assert!(output.status.success(), "{script}\n{stderr}");
        assert!(output.stdout.len() > 300, "{script}");
    }
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&["completions", shell]);
        let of_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let known: HashSet<&str> = script.split(|c| !of_word(c)).collect();
        for (words, _) in commands() {
            assert!(words.iter().all(|word| known.contains(&**word)), "{shell} {words:?}");
        }
    }
}
