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
fn every_piece_of_code_on_the_page_is_in_an_example() {
    let page = read("../../docs/library.md");
    let examples = [read("examples/agent_loop.rs"), read("../transport/examples/agent.rs")];
    let examples = [lines(&examples[0]), lines(&examples[1])];
    let blocks: Vec<&str> = page.split("```rust\n").skip(1).collect();
    assert!(blocks.len() > 5, "{} blocks", blocks.len());
    for block in blocks {
        let (code, _) = block.split_once("```").unwrap();
        let code = lines(code);
        let holds = |example: &Vec<&str>| example.windows(code.len()).any(|own| own == code);
        assert!(examples.iter().any(holds), "in no example:\n{}", code.join("\n"));
    }
}
