//! The demo, on every API and at every width.

use std::process::Output;

use super::{interleaf, text};

/// Runs the demo in a scratch folder, which must be empty afterwards.
fn shown(flags: &[&str]) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let mut command = interleaf(&[&["demo"], flags].concat());
    let Output { status, stdout, stderr } = command.env("TMPDIR", scratch.path()).output().unwrap();
    assert_eq!((status.code(), text(&stderr)), (Some(0), String::new()), "{flags:?}");
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "something is left");
    text(&stdout)
}

/// The figures of each request: tokens, read, expected.
fn figures(shown: &str) -> Vec<[u64; 3]> {
    let is_request = |line: &&str| line.contains(" agent ") || line.contains(" scout ");
    let rows = shown.lines().filter(|line| line.starts_with(' ')).filter(is_request);
    let last = |row: &str| {
        let mut figures = row.split_whitespace().rev().map(|word| word.parse().unwrap());
        let (expected, read) = (figures.next().unwrap(), figures.next().unwrap());
        [figures.next().unwrap(), read, expected]
    };
    rows.filter(|row| !row.contains('→')).map(last).collect()
}

#[test]
fn the_demo_works_on_every_api_and_the_cache_reads_what_was_expected() {
    for api in ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock"] {
        let shown = shown(&["--api", api]);
        let rows = figures(&shown);
        assert_eq!(rows.len(), 14, "{api}: {shown}");
        for [tokens, read, expected] in &rows {
            // Where the API never counted the same beginning, the figure is an estimate.
            let exact = api.starts_with("openai");
            let most = if exact { 0 } else { tokens / 40 };
            assert!(read.abs_diff(*expected) <= most, "{api}: {read} of {tokens}, {expected}");
        }
        assert!(rows.iter().any(|[_, read, _]| *read > 1_000), "{api}: {shown}");
        for part in ["compacted: 21 messages", "sΣ", "▌rTIN▌", "scout 2", "what it cost"] {
            assert!(shown.contains(part), "{api}: {part}: {shown}");
        }
    }
}

#[test]
fn the_demo_keeps_to_the_width_and_says_the_same_with_and_without_colors() {
    for width in ["80", "100", "120"] {
        let plain = shown(&["--width", width]);
        let most = width.parse().unwrap();
        assert!(plain.lines().all(|line| line.chars().count() <= most), "{plain}");
        let colored = shown(&["--width", width, "--color", "always"]);
        let mut bare = String::new();
        for piece in colored.split('\u{1b}') {
            let after = piece.strip_prefix('[').and_then(|style| style.split_once('m'));
            bare += after.map_or(piece, |(_, rest)| rest);
        }
        assert!(colored.contains("\u{1b}[") && !plain.contains('\u{1b}'));
        assert_eq!(bare.lines().count(), plain.lines().count());
        // The figures depend on the name of the temporary folder, and agents that work at once
        // on who comes first.
        let words = |text: &str| {
            let is_word = |word: &&str| word.chars().all(char::is_alphabetic);
            let words =
                |line: &str| line.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ");
            let mut lines: Vec<String> = text.lines().map(words).collect();
            lines.sort();
            lines
        };
        assert_eq!(words(&bare), words(&plain));
    }
}

#[test]
fn the_readme_shows_the_demo_as_its_page_does() {
    let read = |path: &str| std::fs::read_to_string(super::root().join(path)).unwrap();
    let (readme, page) = (read("README.md"), read("crates/cli/tests/commands/demo.md"));
    let (_, shown) = readme.split_once("```text\n no who ").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    assert!(page.contains(&format!(" no who {shown}")), "{shown}");
}
