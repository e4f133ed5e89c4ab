//! `interleaf plan xml`: the protocol by itself.

use std::path::PathBuf;

use clap::ValueHint::FilePath;
use clap::{Args, ValueEnum};
use interleaf::model::Tool;
use interleaf::plan::xml::{Call, Protocol};
use interleaf::plan::{Schema, read_tools};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

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
    let fields: Map<String, Value> =
        serde_json::from_str(&input.text).map_err(|e| Failure::json(&input.name, &e))?;
    let field = |name: &str| {
        fields.get(name).ok_or_else(|| Failure::new(&input.name, "it is missing").at(name))
    };
    let answer = match action {
        Action::Validate => validate(&input.name, field("schema")?, field("instance")?)?,
        Action::Roundtrip => {
            let protocol = Protocol::new(&tools(&input.name, field("tools")?)?);
            roundtrip(&protocol, &calls(&input.name, field("calls")?)?)
        }
        Action::Parse => {
            let protocol = Protocol::new(&tools(&input.name, field("tools")?)?);
            let text = field("text")?.as_str();
            let text =
                text.ok_or_else(|| Failure::new(&input.name, "a text is expected").at("text"))?;
            parse(&protocol, text)
        }
    };
    one_line(&input.name, &answer.to_string())
}

fn validate(name: &str, schema: &Value, instance: &Value) -> Result<Value, Failure> {
    let schema = Schema::new(schema.clone()).map_err(|e| failure(name, &e))?;
    let faults = schema.check(instance);
    if faults.is_empty() {
        return Ok(json!({"valid": true}));
    }
    let errors = faults.iter().map(|fault| {
        json!({
            "path": fault.path,
            "rule": fault.rule,
            "message": fault.message(),
            "allowed": fault.allowed,
        })
    });
    Ok(json!({"valid": false, "errors": errors.collect::<Vec<_>>()}))
}

fn roundtrip(protocol: &Protocol, calls: &[Call]) -> Value {
    let text = protocol.write(calls);
    let calls = protocol.read(&text).calls;
    json!({"text": text, "calls": calls.iter().map(call_json).collect::<Vec<_>>()})
}

fn parse(protocol: &Protocol, text: &str) -> Value {
    let reading = protocol.read(text);
    let calls: Vec<Value> = reading.calls.iter().map(call_json).collect();
    let content = match reading.content.as_str() {
        "" => Value::Null,
        content => content.into(),
    };
    let mut answer = json!({"calls": calls, "content": content});
    let refused = reading
        .refusals
        .iter()
        .map(|refusal| json!({"tool": refusal.tool, "reason": refusal.reason.as_str()}));
    let refused: Vec<Value> = refused.collect();
    let notes: Vec<Value> = reading.notes.iter().map(|note| note.as_str().into()).collect();
    for (name, list) in [("refused", refused), ("notes", notes)] {
        if !list.is_empty() {
            answer[name] = list.into();
        }
    }
    answer
}

fn call_json(call: &Call) -> Value {
    json!({"name": call.tool.as_str(), "arguments": call.arguments})
}

fn tools(name: &str, list: &Value) -> Result<Vec<Tool>, Failure> {
    read_tools(list).map_err(|faults| match faults.first() {
        Some(fault) => failure(name, fault),
        None => Failure::new(name, "a list of tools is expected").at("tools"),
    })
}

/// The calls, in our form or in that of OpenAI.
fn calls(name: &str, list: &Value) -> Result<Vec<Call>, Failure> {
    let fault = |at: &str, rule: &str| Failure::new(name, rule).at(at);
    let list = list.as_array().ok_or_else(|| fault("calls", "a list of calls is expected"))?;
    let call = |(i, value): (usize, &Value)| {
        let at = format!("calls[{i}]");
        let own = value.get("function").filter(|own| own.is_object()).unwrap_or(value);
        let tool = own.get("name").or_else(|| own.get("tool")).and_then(Value::as_str);
        let tool = tool.ok_or_else(|| fault(&at, "a call needs a field `name`"))?;
        let arguments = match own.get("arguments").or_else(|| own.get("input")) {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(Value::String(text)) => serde_json::from_str(text)
                .map_err(|_| fault(&at, "the arguments are not a JSON object"))?,
            Some(_) => return Err(fault(&at, "the arguments are not a JSON object")),
        };
        Ok(Call::new(tool, arguments))
    };
    list.iter().enumerate().map(call).collect()
}
