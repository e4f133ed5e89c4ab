//! Writing calls and results.

use interleaf_model::Json;
use serde_json::Value;

use super::text::{escape, escape_value};
use super::value;
use crate::calls::{Call, Shape, Tools};
use crate::{StepResult, exact};

/// Writes calls into one block.
pub(crate) fn write_calls(calls: &[Call], tools: &Tools) -> String {
    let mut out = String::from("<tools>\n");
    for call in calls {
        match tools.get(call.tool.as_str()) {
            Some(shape) => write_call(&mut out, call, shape),
            None => {
                write_call(&mut out, call, &Shape::unknown(&call.tool));
            }
        }
    }
    out += "</tools>";
    out
}

fn write_call(out: &mut String, call: &Call, shape: &Shape) {
    *out += &format!("  <invoke name=\"{}\">\n", escape(call.tool.as_str()));
    for (name, value) in &exact::fields(&call.arguments).unwrap_or_default() {
        let schema = shape.property_schema(name);
        *out += &parameter(name, value, schema, &shape.schema);
    }
    *out += "  </invoke>\n";
}

fn parameter(name: &str, given: &Json, schema: &Value, root: &Value) -> String {
    let (text, kind) = match exact::text(given) {
        Some(text) => (escape_value(&text), "string"),
        None => (escape_value(&exact::compact(given)), "json"),
    };
    // Where the schema alone would let the text be read as something else, it is said.
    let told = exact::is_equal(&value::read(&text, schema, root, None), given);
    let kind = if told { String::new() } else { format!(" type=\"{kind}\"") };
    format!("    <parameter name=\"{}\"{kind}>{text}</parameter>\n", escape(name))
}

/// Writes what a step gave.
pub(crate) fn write_result(step: &str, tool: &str, reason: &str, result: &StepResult) -> String {
    let StepResult { success, arguments, data } = result;
    let mut out = format!(
        "<result step=\"{}\" tool=\"{}\" success=\"{success}\">\n",
        escape(step),
        escape(tool)
    );
    if !reason.trim().is_empty() {
        out += &format!("  <reason>{}</reason>\n", escape_value(reason));
    }
    out += &format!("  <arguments>{}</arguments>\n", escape_value(&exact::compact(arguments)));
    let data = match exact::text(data) {
        Some(text) => escape_value(&text),
        None => escape_value(&exact::compact(data)),
    };
    out += &format!("  <data>{data}</data>\n</result>");
    out
}
