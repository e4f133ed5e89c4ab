//! What a model says in scripts that need marks which show nothing, and what of it a terminal gets.

use serde_json::json;

use super::chat::Place;
use super::{PROGRAM, interleaf, text};

/// Joined and kept apart, hyphenated, from right to left, a tab; and an escape that was said so.
const SAID: &str = "می\u{200c}روم क्\u{200d}ष 👨\u{200d}👩\u{200d}👧 so\u{ad}ft\u{200f} a\tb \u{1b}[8mhidden \\u{200d}";

fn said(arguments: &[&str]) -> String {
    let place = Place::new();
    let brain = place.brain(&json!([SAID]).to_string());
    let whom = ["--vendor", "anthropic", "--model", "claude-sonnet-4-5"];
    let double = ["double", "--brain", &brain, "--", PROGRAM];
    let mut command = interleaf(&[&double, arguments, &whom].concat());
    place.set(&mut command);
    let done = command.output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    text(&done.stdout)
}

#[test]
fn what_is_no_terminal_gets_the_answer_as_it_was_said() {
    assert_eq!(said(&["run", "hi"]), format!("{SAID}\n"));
    assert_eq!(said(&["send", "--user", "hi"]), format!("{SAID}\n"));
}

#[test]
fn a_chat_shows_what_is_spelt_and_escapes_what_turns_words_around() {
    let replies = json!([SAID]).to_string();
    let flags = ["--vendor", "anthropic", "--model", "claude-sonnet-4-5"];
    let shown = Place::new().chat(&replies, &flags, "hi\n");
    assert!(
        shown.contains(&SAID.replace('\u{200f}', "\\u{200f}").replace('\u{1b}', "\\u{1b}")),
        "{shown}"
    );
}
