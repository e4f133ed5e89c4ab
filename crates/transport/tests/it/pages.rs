//! The code on the pages is code that is compiled.

use std::path::Path;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The lines of a text without their indentation and their remarks.
fn lines(text: &str) -> Vec<&str> {
    let plain = text.lines().map(|line| line.split(" // ").next().unwrap_or(line).trim());
    plain.filter(|line| !line.is_empty()).collect()
}

/// The first piece of Rust in a text.
fn code(text: &str, fence: &str) -> String {
    let (_, code) = text.split_once(fence).unwrap();
    code.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_agent_in_the_readme_is_the_one_that_the_documentation_of_the_crate_compiles() {
    let readme = code(&read("../../README.md"), "```rust\n");
    let documented = code(&read("src/transport.rs"), "/// ```no_run\n");
    let documented = documented.lines().map(|line| line.trim_start_matches("///").trim());
    let shown: Vec<&str> = documented.filter(|line| !line.starts_with("# ")).collect();
    assert_eq!(lines(&readme), lines(&shown.join("\n")));
}
