//! The request of a plan's step, on its way to a model.

use std::fmt::Write as _;

use interleaf_plan::{JobState, StepArguments, StepFailure, StepRequest};
use interleaf_wire::{Encoded, Options, ToolChoice, Vendor, encode};

use serde_json::{Value, json};

use crate::{Error, InputFault, neutral};

/// The body that a vendor gets: the tool is forced where the request says so.
///
/// # Errors
/// If the messages break a law of requests, or the API cannot say them.
pub fn body(request: &StepRequest, vendor: &Vendor, model: &str) -> Result<Encoded, Error> {
    body_with(request, vendor, &Options::model(model))
}

/// As [`body`], with more settings than the model.
///
/// # Errors
/// As [`body`].
pub fn body_with(
    request: &StepRequest,
    vendor: &Vendor,
    options: &Options,
) -> Result<Encoded, Error> {
    let prompt = request.to_prompt();
    let prompt = prompt.map_err(|e| InputFault::new(e.message()).at(e.place()))?;
    let force = request.force.as_ref();
    let mut options = options.clone();
    options.tool_choice = force.map(|tool| ToolChoice::Tool(tool.as_str().into()));
    encode(&prompt, vendor, &options).map_err(Error::wire)
}

/// Writes the request in neutral form, one message a line. Messages and tools stand in
/// it as in [`neutral`].
pub fn write(request: &StepRequest) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = write!(
        out,
        "{{\n\"way\": \"{}\",\n\"try\": {},\n\"fell_back\": {},\n",
        request.way.as_str(),
        request.attempt,
        request.fell_back
    );
    if !request.shortened.is_empty() {
        let steps: Vec<&str> = request.shortened.iter().map(|step| step.as_str()).collect();
        let _ = writeln!(out, "\"shortened\": {},", json!(steps));
    }
    if let Some(tool) = &request.force {
        let _ = writeln!(out, "\"force\": {},", neutral::to_json(tool));
    }
    let messages: Vec<String> = request.messages.iter().map(neutral::to_json).collect();
    let _ = write!(out, "\"messages\": [\n{}\n]", messages.join(",\n"));
    let tools: Vec<String> = request.tools.iter().map(neutral::write_tool).collect();
    if !tools.is_empty() {
        let _ = write!(out, ",\n\"tools\": [\n{}\n]", tools.join(",\n"));
    }
    out + "\n}\n"
}

/// Writes how a job ended, on a line: `{"done": …}` or `{"failed": …}`; nothing of one
/// that goes on. The arguments stand there as the model wrote them, digit for digit.
pub fn write_end(state: &JobState) -> String {
    match state {
        JobState::Ask(_) => String::new(),
        JobState::Done(found) => format!("{{\"done\":{}}}\n", done(found)),
        JobState::Failed(refused) => format!("{{\"failed\":{}}}\n", failed(refused)),
    }
}

fn done(found: &StepArguments) -> String {
    let repairs = found.repairs.iter();
    let repairs = repairs.map(|repair| json!({"path": repair.path, "what": repair.kind.as_str()}));
    let notes = found.notes.iter().map(|note| Value::from(note.as_str()));
    let (repairs, notes): (Vec<Value>, Vec<Value>) = (repairs.collect(), notes.collect());
    format!(
        "{{\"arguments\":{},\"repairs\":{},\"notes\":{},\"way\":\"{}\",\"fell_back\":{},\"replies\":{}}}",
        // A line break in JSON always stands between tokens.
        found.arguments.as_str().replace(['\n', '\r'], " "),
        Value::Array(repairs),
        Value::Array(notes),
        found.way.as_str(),
        found.fell_back,
        found.n_replies,
    )
}

fn failed(refused: &StepFailure) -> Value {
    let attempts = refused.attempts.iter().map(|attempt| {
        let errors: Vec<String> = attempt.objections.iter().map(|o| o.to_string()).collect();
        json!({"way": attempt.way.as_str(), "call": attempt.call, "errors": errors})
    });
    json!({"attempts": attempts.collect::<Vec<_>>(), "fell_back": refused.fell_back})
}
