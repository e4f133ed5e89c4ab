//! Bad input: exit code 2, one clear line, nothing printed, nothing written.
//!
//! `tests/commands/bad-input.md` has many more, for people to read.

use std::fs;

use super::{CHAT, run_with, text};

/// Runs the program on something bad, and expects exactly this on standard error.
#[track_caller]
fn refused(arguments: &[&str], input: &[u8], stderr: &str) {
    let output = run_with(arguments, input);
    assert_eq!(text(&output.stderr), stderr);
    assert_eq!(text(&output.stdout), "");
    assert_eq!(output.status.code(), Some(2));
}

/// Tries to change a conversation that cannot be read, and expects no file.
#[track_caller]
fn refused_without_writing(input: &[u8], stderr: &str) {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out.json");
    refused(&["op", "-", "--keep-last", "1", "--write", out.to_str().unwrap()], input, stderr);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn malformed_json() {
    refused_without_writing(
        b"{\"interleaf\": 1,\n\"messages\": [}",
        "error: <stdin>: line 2 column 14: expected value\n",
    );
}

#[test]
fn unknown_role() {
    refused_without_writing(
        b"[{\"role\": \"robot\", \"content\": \"beep\"}]",
        "error: <stdin>: messages[0].role, line 1 column 11: unknown role \"robot\": it must be \
         system, developer, user, assistant, tool or function\n",
    );
}

#[test]
fn tool_result_without_id() {
    refused_without_writing(
        b"{\"interleaf\": 1, \"messages\": [{\"role\": \"tool\", \"parts\": [{\"type\": \"text\", \"text\": \"42\"}]}]}",
        "error: <stdin>: messages[0], line 1 column 31: a tool message needs `call`, the id of \
         the call that it answers\n",
    );
}

#[test]
fn not_utf_8_names_the_byte() {
    refused_without_writing(b"[\"\xff\"]", "error: <stdin>: byte 2, line 1: this is not UTF-8\n");
}

#[test]
fn nothing_at_all() {
    let output = run_with(&["show", "-"], b"");
    assert!(text(&output.stderr).starts_with("error: <stdin>: there is nothing in it\nhint: "));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn index_out_of_range() {
    refused(
        &["op", CHAT, "--mark", "7=pinned"],
        b"",
        "error: fixtures/chat-array.json: index: there is no message 7 in a log of 7\n",
    );
    refused(
        &["op", CHAT, r#"{"truncate":{"range":{"start":0,"end":8}}}"#],
        b"",
        "error: fixtures/chat-array.json: truncate.range: it ends at 8, but there are 7\n",
    );
}

#[test]
fn contradictory_truncate() {
    refused(
        &["op", CHAT, "--keep-first", "1", "--remove-first", "1"],
        b"",
        "error: fixtures/chat-array.json: truncate.remove_first: keep_* and remove_* contradict \
         each other: use one kind\n",
    );
}

#[test]
fn a_file_of_200_megabytes_is_refused_before_it_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let large = directory.path().join("large.json");
    fs::File::create(&large).unwrap().set_len(200_000_000).unwrap();
    let large = large.to_str().unwrap();
    let stderr = format!(
        "error: {large}: 200000000 bytes are more than the limit of 134217728 bytes\n\
         hint: --max-input raises the limit, for example --max-input 1G\n"
    );
    refused(&["show", large], b"", &stderr);
}

#[test]
fn standard_input_is_read_up_to_the_limit() {
    let endless = vec![b' '; 100_000];
    refused(
        &["show", "-", "--max-input", "4K"],
        &endless,
        "error: <stdin>: this is more than the limit of 4096 bytes\n\
         hint: --max-input raises the limit, for example --max-input 1G\n",
    );
}

#[test]
fn an_old_file_survives_a_failed_change() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out.json");
    fs::write(&out, "precious").unwrap();
    refused(
        &["op", CHAT, "--remove-last", "8", "--write", out.to_str().unwrap()],
        b"",
        "error: fixtures/chat-array.json: truncate.remove_last: 8 cannot be removed: \
         there are 7\n",
    );
    assert_eq!(fs::read_to_string(&out).unwrap(), "precious");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn out_that_can_not_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let stderr = format!("error: {path}: cannot be written: this is a directory, not a file\n");
    refused(&["op", CHAT, "--clear", "--write", path], b"", &stderr);
    let nowhere = format!("{path}/no/out.json");
    let stderr = format!("error: {nowhere}: cannot be written: there is no such directory\n");
    refused(&["op", CHAT, "--clear", "--write", &nowhere], b"", &stderr);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn json_nested_without_end_is_refused_quietly() {
    let mut deep = b"[{\"role\": \"user\", \"content\": ".to_vec();
    deep.extend(std::iter::repeat_n(b'[', 1_000_000));
    let output = run_with(&["show", "-"], &deep);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).starts_with("error: <stdin>: line 1 column "));
}
