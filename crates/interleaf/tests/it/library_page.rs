//! The code on the library's page is the code that runs.

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The lines of a text without their indentation.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

#[test]
fn every_piece_of_code_on_the_page_is_in_the_example() {
    let (page, example) = (read("../../docs/library.md"), read("examples/agent_loop.rs"));
    let example = lines(&example);
    let blocks: Vec<&str> = page.split("```rust\n").skip(1).collect();
    assert!(blocks.len() > 5, "{} blocks", blocks.len());
    for block in blocks {
        let (code, _) = block.split_once("```").unwrap();
        let code = lines(code);
        let is_there = example.windows(code.len()).any(|window| window == code);
        assert!(is_there, "not in agent_loop.rs:\n{}", code.join("\n"));
    }
}
