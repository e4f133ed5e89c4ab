//! Writing calls and results.

use serde_json::{Map, Value};

use super::text::{escape, escape_value};
use super::{Call, Shape, value};
use crate::StepResult;

/// Writes calls into one block.
pub(super) fn write_calls(calls: &[Call], tools: &[Shape]) -> String {
    let mut out = String::from("<tools>\n");
    for call in calls {
        match tools.iter().find(|shape| shape.name == call.tool) {
            Some(shape) => write_call(&mut out, call, shape),
            None => {
                let (name, schema) = (call.tool.clone(), super::empty_schema());
                write_call(&mut out, call, &Shape { name, schema });
            }
        }
    }
    out += "</tools>";
    out
}

fn write_call(out: &mut String, call: &Call, shape: &Shape) {
    *out += &format!("  <invoke name=\"{}\">\n", escape(call.tool.as_str()));
    for (name, value) in &call.arguments {
        let schema = shape.property_schema(name);
        *out += &parameter(name, value, schema, &shape.schema);
    }
    *out += "  </invoke>\n";
}

fn parameter(name: &str, given: &Value, schema: &Value, root: &Value) -> String {
    let (text, kind) = match given {
        Value::String(text) => (escape_value(text), "string"),
        other => (escape_value(&other.to_string()), "json"),
    };
    // Where the schema alone would let the text be read as something else, it is said.
    let told = value::read(&text, schema, root, None) == *given;
    let kind = if told { String::new() } else { format!(" type=\"{kind}\"") };
    format!("    <parameter name=\"{}\"{kind}>{text}</parameter>\n", escape(name))
}

/// Writes what a step gave.
pub fn write_result(step: &str, tool: &str, reason: &str, result: &StepResult) -> String {
    let StepResult { success, arguments, data } = result;
    let mut out = format!(
        "<result step=\"{}\" tool=\"{}\" success=\"{success}\">\n",
        escape(step),
        escape(tool)
    );
    if !reason.trim().is_empty() {
        out += &format!("  <reason>{}</reason>\n", escape_value(reason));
    }
    out += &format!("  <arguments>{}</arguments>\n", json_text(arguments));
    let data = match data {
        Value::String(text) => escape_value(text),
        other => escape_value(&other.to_string()),
    };
    out += &format!("  <data>{data}</data>\n</result>");
    out
}

fn json_text(arguments: &Map<String, Value>) -> String {
    escape_value(&Value::Object(arguments.clone()).to_string())
}
