//! Writing calls and results.

use std::collections::HashSet;

use interleaf_model::{Arguments, Json, Status, Tool, ToolCall, ToolName};
use serde_json::Value;

use super::text::{escape, escape_value};
use super::value;
use crate::calls::{Call, Shape, Tools};
use crate::{Datum, StepResult, exact};

/// Writes calls into one block.
pub(crate) fn write_calls(calls: &[Call], tools: &Tools) -> String {
    let mut out = String::from("<tools>\n");
    for call in calls {
        write_call(&mut out, &call.tool, &call.arguments, tools);
    }
    out += "</tools>";
    out
}

/// Writes the calls of an answer into one block. Arguments that nobody can read stand there as
/// text.
pub(crate) fn write_made(calls: &[&ToolCall], tools: &Tools) -> String {
    let mut out = String::from("<tools>\n");
    for call in calls {
        match &call.arguments {
            Arguments::Object(arguments) => write_call(&mut out, &call.name, arguments, tools),
            Arguments::Invalid(text) => {
                let name = escape(call.name.as_str());
                out += &format!("  <invoke name=\"{name}\">{}</invoke>\n", escape_value(text));
            }
        }
    }
    out += "</tools>";
    out
}

fn write_call(out: &mut String, tool: &ToolName, arguments: &Json, tools: &Tools) {
    let unknown;
    let shape = match tools.get(tool.as_str()) {
        Some(shape) => shape,
        None => {
            unknown = Shape::unknown(tool);
            &unknown
        }
    };
    let fields = exact::fields(arguments).unwrap_or_default();
    *out += &format!("  <invoke name=\"{}\">", escape(tool.as_str()));
    // Names that tags cannot tell, or not apart: the arguments stand there as JSON.
    let mut names = HashSet::new();
    let mut is_told =
        |name: &str| names.insert(name.to_owned()) && !name.is_empty() && name.trim() == name;
    if !fields.iter().all(|(name, _)| is_told(name)) {
        let json = exact::compact(arguments).replace('&', "\\u0026");
        *out += &json.replace('<', "\\u003c").replace('>', "\\u003e");
        *out += "</invoke>\n";
        return;
    }
    out.push('\n');
    for (name, value) in &fields {
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

/// Writes what a tool gave to an agent.
pub(crate) fn write_tool_result(tool: &str, status: Status, data: &[Datum<'_>]) -> String {
    let success = status == Status::Ok;
    let mut out = format!("<result tool=\"{}\" success=\"{success}\">\n", escape(tool));
    for datum in data {
        out += &match datum {
            Datum::Text(text) => format!("  <data>{}</data>\n", escape_value(text)),
            Datum::Media(number) => format!("  <media number=\"{number}\"/>\n"),
        };
    }
    out + "</result>"
}

/// Writes what a model may call.
pub(crate) fn write_tool(tool: &Tool) -> String {
    let mut out = format!("<tool name=\"{}\">\n", escape(tool.name.as_str()));
    if let Some(description) = tool.description.as_deref().filter(|text| !text.trim().is_empty()) {
        out += &format!("  <description>{}</description>\n", escape_value(description.trim()));
    }
    if let Some(schema) = &tool.parameters {
        out += &format!("  <schema>{}</schema>\n", escape_value(&exact::compact(schema)));
    }
    out + "</tool>"
}
