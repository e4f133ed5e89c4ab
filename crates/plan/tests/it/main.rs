//! The plan crate as its users meet it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "the helpers of a test fail like a test")]

mod bounds;
mod corpus;
mod exchange;
mod forms;
mod kept;
mod laws;
mod merging;
mod paths;
mod plans;
mod repairs;
mod schedules;
mod speech;
mod texts;

use std::path::{Path, PathBuf};

use interleaf_plan::{Plan, Results};

/// A file of the repository's fixtures.
fn fixture(name: &str) -> String {
    let path: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/plan").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The worked example: draw a logo, then render a page with it.
fn logo() -> (Plan, Results) {
    let plan = Plan::read(&fixture("logo.json"), &[]).unwrap();
    let results = Results::read(&fixture("logo-results.json"), &plan).unwrap();
    (plan, results)
}
