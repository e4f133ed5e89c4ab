//! Standard input, closed pipes, colors, files that are replaced.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use super::{CHAT, SESSION, interleaf, root, run_with, stdout, text};

#[test]
fn standard_input_is_a_file_like_any_other() {
    let input = fs::read(root().join(CHAT)).unwrap();
    let output = run_with(&["show", "-"], &input);
    let named = text(&output.stdout).replace("<stdin>", CHAT);
    assert_eq!(named, stdout(&["show", CHAT]));
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let mut input = b"\xef\xbb\xbf".to_vec();
    input.extend(fs::read(root().join(CHAT)).unwrap());
    assert_eq!(run_with(&["show", "-"], &input).status.code(), Some(0));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    // Far more than a pipe holds.
    let messages = vec![r#"{"role": "user", "content": "once more"}"#; 50_000];
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("long.json");
    fs::write(&file, format!("[{}]", messages.join(","))).unwrap();
    let mut command = interleaf(&["show", file.to_str().unwrap(), "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0];
    let mut pipe = child.stdout.take().unwrap();
    pipe.read_exact(&mut first).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn colors_are_for_terminals_and_for_who_asks() {
    let colored = |arguments: &[&str], variable: Option<(&str, &str)>| {
        let mut command = interleaf(arguments);
        command.envs(variable);
        text(&command.output().unwrap().stdout).contains('\u{1b}')
    };
    assert!(!colored(&["show", SESSION], None));
    assert!(colored(&["show", SESSION, "--color", "always"], None));
    assert!(colored(&["show", SESSION], Some(("CLICOLOR_FORCE", "1"))));
    assert!(!colored(&["show", SESSION], Some(("NO_COLOR", "1"))));
    assert!(!colored(&["show", SESSION, "--json", "--color", "always"], None));
}

#[test]
fn hidden_messages_are_dimmed() {
    let shown = stdout(&["op", CHAT, "--keep-last", "1", "--color", "always"]);
    let dimmed = shown.lines().filter(|line| line.starts_with("\u{1b}[2m    ·"));
    assert_eq!(dimmed.count(), 5, "{shown}");
}

#[test]
fn text_of_a_message_can_not_draw_on_the_screen() {
    let input = br#"[{"role": "user", "content": "\u001b[2Jgone", "name": "x\u0007"}]"#;
    let output = run_with(&["show", "-"], input);
    assert!(!text(&output.stdout).contains('\u{1b}'));
}

#[test]
fn writing_replaces_the_file_and_leaves_nothing_beside_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("session.json");
    fs::copy(root().join(SESSION), &file).unwrap();
    let name = file.to_str().unwrap();
    stdout(&["op", name, "--keep-last", "3", "--write", name]);
    assert!(stdout(&["show", name]).contains("5 of 40 messages visible"));
    stdout(&["op", name, "--roll-back", "0", "--write", name]);
    assert!(stdout(&["show", name]).contains("40 messages:"));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn writing_keeps_links_and_permissions() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let directory = tempfile::tempdir().unwrap();
    let (file, link) = (directory.path().join("file.json"), directory.path().join("link.json"));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&file, &link).unwrap();
    stdout(&["op", CHAT, "--clear", "--write", link.to_str().unwrap()]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&file).unwrap().contains("\"interleaf\": 1"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}
