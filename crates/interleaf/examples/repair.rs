//! A broken history becomes a request that every API takes, and the report says what was
//! mended.
//!
//! `cargo run -p interleaf --example repair`

use std::sync::Arc;

use interleaf::assemble::{Outcome, Recipe, View, assemble};
use interleaf::model::{Requirements, notation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A call without its result, and a result without its call.
    let broken = "u list the files\na [call c1 ls]\nt lost= src\nu and now?\n";
    let view = View::of(notation::parse(broken)?.into_iter().map(Arc::new));
    let assembly = assemble(&view, &Recipe::new(), Requirements::STRICT, None)?;
    let Outcome::Ready(prompt) = assembly.outcome else { return Err("it waits".into()) };
    for entry in prompt.entries() {
        println!("{}", notation::print_line(&entry.message, 80));
    }
    assert_eq!(assembly.report.findings().count(), 2);
    for (step, finding) in assembly.report.findings() {
        println!("{step}: {} {} because {}", finding.message, finding.kind, finding.cause);
    }
    Ok(())
}
