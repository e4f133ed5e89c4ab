//! The fixtures are what other tests and the README take them for.

use std::fs;

use super::{CHAT, SESSION, root, stdout};

#[test]
fn the_session_is_written_as_we_write_transcripts() {
    let unchanged = stdout(&["op", SESSION, "--roll-back", "0", "--write", "-"]);
    assert_eq!(unchanged, fs::read_to_string(root().join(SESSION)).unwrap());
}

#[test]
fn the_session_fits_on_one_screen() {
    let shown = stdout(&["show", SESSION]);
    assert_eq!(shown.lines().count(), 41);
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}");
}

#[test]
fn the_chat_array_misses_a_result() {
    let calls = stdout(&["query", CHAT, "--role", "assistant", "--first", "1", "--json"]);
    assert!(calls.contains("call_lamp") && calls.contains("call_horn"));
    let results = stdout(&["query", CHAT, "--role", "tool", "--json"]);
    assert!(results.contains("call_lamp") && !results.contains("call_horn"));
}
