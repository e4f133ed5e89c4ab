//! Many inputs, a line each, and an answer to each on a line of its own.

use std::path::Path;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::arguments::ByteCount;
use crate::failure::{Failure, Stop, Verdict};
use crate::input::{Input, InputLines};
use crate::output::Output;

/// `{"body": …}`, or `{"error": "…"}`.
struct Answer {
    field: &'static str,
    answer: Result<Box<RawValue>, Failure>,
}

/// Answers every line of a file as it comes, in a field of this name. What cannot be
/// answered is said in its place, and does not stop the others: an error is data
/// like any other answer, and whoever reads the lines sees it.
pub(crate) fn answer_all(
    path: &Path,
    limit: ByteCount,
    field: &'static str,
    answer: impl Fn(Input) -> Result<Box<RawValue>, Failure>,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    for input in InputLines::open(path, limit)? {
        output.json_line(&Answer { field, answer: input.and_then(&answer) })?;
    }
    Ok(Verdict::Fine)
}

/// JSON that is kept byte for byte, but on one line.
pub(crate) fn one_line(name: &str, json: &str) -> Result<Box<RawValue>, Failure> {
    // A line break in JSON always stands between tokens.
    let line = json.trim().replace(['\n', '\r'], " ");
    RawValue::from_string(line).map_err(|e| Failure::json(name, &e))
}

impl Serialize for Answer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.answer {
            // An answer of several fields is the whole line.
            Ok(answer) if self.field.is_empty() => answer.serialize(serializer),
            Ok(answer) => serializer.collect_map([(self.field, answer)]),
            Err(failure) => serializer.collect_map([("error", failure.text())]),
        }
    }
}
