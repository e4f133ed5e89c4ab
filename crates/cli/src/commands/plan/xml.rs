//! `interleaf plan xml`: the protocol by itself.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::ValueHint::FilePath;
use clap::{Args, ValueEnum};
use interleaf::model::Json;
use interleaf::plan::calls::{Call, TextTools, read_calls};
use interleaf::plan::{Schema, read_tools};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::failure;
use crate::arguments::ByteCount;
use crate::batch::{answer_all, one_line};
use crate::failure::{Failure, Stop, Verdict};
use crate::input::Input;
use crate::output::Output;

/// Check, write and read calls in the XML protocol
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  echo '{\"schema\": {\"type\": \"integer\"}, \"instance\": \"5\"}' | interleaf plan xml validate
  echo '{\"tools\": [{\"name\": \"ping\"}], \"text\": \"<ping/>\"}' | interleaf plan xml parse

INPUT AND OUTPUT
  validate   {\"schema\", \"instance\"} → {\"valid\", \"errors\"}
  roundtrip  {\"tools\", \"calls\"} → {\"text\", \"calls\"}
  parse      {\"text\", \"tools\"} → {\"calls\", \"content\"}, and what was refused")]
pub(crate) struct XmlArguments {
    /// What to do
    #[arg(value_enum)]
    action: Action,

    /// The input; `-` is standard input
    #[arg(default_value = "-", value_hint = FilePath)]
    file: PathBuf,

    /// Read one input per line, print one result or {"error": "…"} per line
    #[arg(long)]
    batch: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Action {
    Validate,
    Roundtrip,
    Parse,
}

pub(crate) fn run(
    arguments: &XmlArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    let answer = |input: Input| answer(arguments.action, &input);
    if arguments.batch {
        return answer_all(&arguments.file, limit, "", answer, output);
    }
    output.json_line(&answer(Input::read(&arguments.file, limit)?)?)?;
    Ok(Verdict::Fine)
}

fn answer(action: Action, input: &Input) -> Result<Box<RawValue>, Failure> {
    let fields: HashMap<String, Json> =
        serde_json::from_str(&input.text).map_err(|e| Failure::json(&input.name, &e))?;
    let field = |name: &str| {
        fields.get(name).ok_or_else(|| Failure::new(&input.name, "it is missing").at(name))
    };
    let value = |name: &str| field(name).map(Json::to_value);
    let tools = || tools(&input.name, &value("tools")?);
    let answer = match action {
        Action::Validate => validate(&input.name, &value("schema")?, &value("instance")?)?,
        Action::Roundtrip => {
            let calls = read_calls(field("calls")?);
            let calls = calls.map_err(|e| failure(&input.name, &e.under("calls")))?;
            let (tools, text) = (tools()?, tools()?.write(&calls));
            let calls = calls_text(&tools.read(&text).calls);
            format!("{{\"text\":{},\"calls\":{calls}}}", json!(text))
        }
        Action::Parse => {
            let text = value("text")?;
            let fault = || Failure::new(&input.name, "a text is expected").at("text");
            parse(&tools()?, text.as_str().ok_or_else(fault)?)
        }
    };
    one_line(&input.name, &answer)
}

fn validate(name: &str, schema: &Value, instance: &Value) -> Result<String, Failure> {
    let schema = Schema::new(schema.clone()).map_err(|e| failure(name, &e))?;
    let faults = schema.check(instance);
    if faults.is_empty() {
        return Ok(json!({"valid": true}).to_string());
    }
    let errors = faults.iter().map(|fault| {
        json!({
            "path": fault.path,
            "rule": fault.rule,
            "message": fault.message(),
            "allowed": fault.allowed,
        })
    });
    Ok(json!({"valid": false, "errors": errors.collect::<Vec<_>>()}).to_string())
}

fn parse(tools: &TextTools, text: &str) -> String {
    let reading = tools.read(text);
    let content = Some(reading.content).filter(|content| !content.is_empty());
    let refused = reading
        .refusals
        .iter()
        .map(|refusal| json!({"tool": refusal.tool, "reason": refusal.reason.as_str()}));
    let refused: Vec<Value> = refused.collect();
    let notes: Vec<Value> = reading.notes.iter().map(|note| note.as_str().into()).collect();
    let calls = calls_text(&reading.calls);
    let mut answer = format!("{{\"calls\":{calls},\"content\":{}", json!(content));
    for (name, list) in [("refused", refused), ("notes", notes)] {
        if !list.is_empty() {
            answer += &format!(",\"{name}\":{}", Value::Array(list));
        }
    }
    answer + "}"
}

/// Calls as JSON, their arguments as they were written.
fn calls_text(calls: &[Call]) -> String {
    let call = |call: &Call| {
        let name = json!(call.tool.as_str());
        format!("{{\"name\":{name},\"arguments\":{}}}", call.arguments.as_str())
    };
    format!("[{}]", calls.iter().map(call).collect::<Vec<_>>().join(","))
}

fn tools(name: &str, list: &Value) -> Result<TextTools, Failure> {
    let tools = read_tools(list).map_err(|faults| match faults.first() {
        Some(fault) => failure(name, fault),
        None => Failure::new(name, "a list of tools is expected").at("tools"),
    });
    tools.map(|tools| TextTools::new(&tools))
}
