//! The request of a plan's step, on its way to a model.

use std::fmt::Write as _;

use interleaf_plan::StepRequest;
use interleaf_wire::{Encoded, Options, ToolChoice, Vendor, encode};

use crate::{Error, InputFault, neutral};

/// The body that a vendor gets: the tool is forced where the request says so.
///
/// # Errors
/// If the messages break a law of requests, or the API cannot say them.
pub fn body(request: &StepRequest, vendor: &Vendor, model: &str) -> Result<Encoded, Error> {
    let prompt = request.to_prompt();
    let prompt = prompt.map_err(|e| InputFault::new(e.message()).at(e.place()))?;
    let force = request.force.as_ref();
    let mut options = Options::model(model);
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
