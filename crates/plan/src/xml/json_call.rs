//! A call that a model wrote as JSON.

use serde_json::{Map, Value};

use super::read::find_tool;
use super::text::unfenced;
use super::{Call, Shape};

/// The call in a JSON object with a name and arguments: the name, and the call if the
/// tool is declared. None if the text is something else.
pub(super) fn of_text(text: &str, tools: &[Shape]) -> Option<(String, Option<Call>)> {
    let text = unfenced(text);
    if !text.starts_with('{') {
        return None;
    }
    of_value(&serde_json::from_str(text).ok()?, tools)
}

fn of_value(value: &Value, tools: &[Shape]) -> Option<(String, Option<Call>)> {
    let own = value.get("function").filter(|own| own.is_object()).unwrap_or(value);
    let name = ["name", "tool", "tool_name", "function"].into_iter().find_map(|f| own.get(f));
    let name = name?.as_str()?;
    let fields = ["arguments", "parameters", "args", "input", "params"];
    let arguments = match fields.into_iter().find_map(|field| own.get(field)) {
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(Value::String(text)) => serde_json::from_str(text).ok()?,
        Some(Value::Null) | None => Map::new(),
        Some(_) => return None,
    };
    let call = find_tool(name, tools).map(|shape| Call { tool: shape.name.clone(), arguments });
    Some((name.to_owned(), call))
}

/// The call in a text without tags: JSON alone or in a fence. With a single tool, its
/// arguments alone will do. Also gives what else is said.
pub(super) fn in_text(text: &str, tools: &[Shape]) -> Option<(Call, String)> {
    let (json, around) = match fenced(text) {
        Some(found) => found,
        None => (text.trim(), String::new()),
    };
    if let Some((_, call)) = of_text(json, tools) {
        return call.map(|call| (call, around));
    }
    let [only] = tools else { return None };
    let arguments: Map<String, Value> = serde_json::from_str(json).ok()?;
    let all_declared = arguments.keys().all(|name| only.property(name).is_some());
    let is_meant = all_declared && !arguments.is_empty();
    is_meant.then(|| (Call { tool: only.name.clone(), arguments }, around))
}

/// The inside of the only fence, and the text around it.
fn fenced(text: &str) -> Option<(&str, String)> {
    let (before, rest) = text.split_once("```")?;
    let (inner, after) = rest.split_once("```")?;
    if after.contains("```") {
        return None;
    }
    let inner = inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    let around: Vec<&str> =
        [before, after].into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
    Some((inner.trim(), around.join("\n")))
}
