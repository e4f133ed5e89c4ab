//! Bodies against machine-readable definitions made by others: the types of the
//! vendors' own SDKs, by `tests/definitions/check.py`.
//!
//! It runs where the packages are: `INTERLEAF_DEFINITIONS_PYTHON` names the Python of
//! an environment that has them, as `.ci/run` makes one. Else `python3` is tried, and
//! the test says that it is skipped if that has them not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod drawn;
mod fixtures;
mod written;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use interleaf_wire::Family;
use serde_json::Value;
use serde_json::value::RawValue;

/// How the script says that it lacks a package.
const SKIPPED: i32 = 77;

/// What names the Python that has the packages.
const PYTHON: &str = "INTERLEAF_DEFINITIONS_PYTHON";

/// What a body is.
#[derive(Clone, Copy)]
enum Kind {
    Request,
    Answer,
    /// A list of the data of a stream's events; one of Bedrock's stands below its name.
    Stream,
    /// A stream's bytes, and the same answer written whole.
    Sent,
}

/// A body, and how a person finds out where it came from.
struct Case {
    kind: Kind,
    family: Family,
    name: String,
    body: String,
}

/// What the definitions say of the bodies: the faults, by the names of the cases, and
/// how many bodies of each API there were. Nothing if there are no definitions.
fn check(file: &str, cases: &[Case]) -> Option<(Vec<(String, Value)>, Value)> {
    let mut lines = String::new();
    for Case { kind, family, name, body } in cases {
        let kind = match kind {
            Kind::Request => "request",
            Kind::Answer => "answer",
            Kind::Stream => "stream",
            Kind::Sent => "sent",
        };
        let body: &RawValue = serde_json::from_str(body).unwrap();
        let body = body.get().replace(['\n', '\r'], " ");
        let (api, name) = (Value::from(family.as_str()), Value::from(name.as_str()));
        let line = format!(r#"{{"kind":"{kind}","api":{api},"name":{name},"body":{body}}}"#);
        writeln!(lines, "{line}").unwrap();
    }
    // A file, so that the script can write while it reads.
    let input = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    fs::write(&input, lines).unwrap();
    let named = std::env::var(PYTHON).ok();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/definitions/check.py");
    let output = Command::new(named.as_deref().unwrap_or("python3"))
        .arg(script)
        .stdin(File::open(input).unwrap())
        .output();
    let output = match output {
        Ok(output) if output.status.code() != Some(SKIPPED) => output,
        other => {
            let why = other.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
            let why = why.unwrap_or_else(|e| format!("python3: {e}"));
            assert_eq!(named, None, "{PYTHON} names no Python with the packages: {why}");
            tell(&format!("SKIPPED: bodies are not held against the vendors' types: {why}"));
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8(output.stdout).unwrap();
    let mut told: Vec<Value> =
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let checked = told.pop().unwrap()["checked"].take();
    let name = |case: &Value| format!("{}: {}", case["api"].as_str().unwrap(), case["name"]);
    Some((told.iter().map(|case| (name(case), case["faults"].clone())).collect(), checked))
}

/// Says something that is seen even if the test passes.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", text.trim_end());
}

#[test]
fn what_we_write_is_what_the_vendors_define() {
    let mut cases = drawn::bodies();
    cases.extend(fixtures::as_they_are());
    cases.extend(fixtures::carried());
    if let Some((refused, checked)) = check("definitions.jsonl", &cases) {
        let list: String =
            refused.iter().map(|(name, faults)| format!("\n{name}\n{faults:#}")).collect();
        assert!(refused.is_empty(), "{} of {} refused:{list}", refused.len(), cases.len());
        tell(&format!("held against the vendors' types: {checked}"));
    }
}

#[test]
fn the_answers_and_streams_that_we_write_are_what_the_vendors_define() {
    let cases = written::answers();
    if let Some((refused, checked)) = check("definitions-answers.jsonl", &cases) {
        let list: String =
            refused.iter().map(|(name, faults)| format!("\n{name}\n{faults:#}")).collect();
        assert!(refused.is_empty(), "{} of {} refused:{list}", refused.len(), cases.len());
        tell(&format!("answers held against the vendors' types: {checked}"));
    }
}

/// Types that see nothing would take everything.
#[test]
fn what_is_wrong_deep_inside_is_refused() {
    let wrong = fixtures::wrong();
    let mut wrong = wrong;
    wrong.extend(written::wrong());
    if let Some((refused, _)) = check("definitions-wrong.jsonl", &wrong) {
        assert_eq!(refused.len(), wrong.len(), "{refused:#?}");
    }
}
