//! The tools.

use interleaf_model::Opaque;
use serde_json::value::RawValue;

use super::facts::Facts;
use super::{Found, rules};
use crate::lint::Faults;
use crate::openai_chat::OPENAI;
use crate::raw::Fields;
use crate::tree::{Map, Value};
use crate::{Error, Family, Quirks, Vendor, array_items, foreign_tool, strict_schema};

const MOST_TOOLS: usize = 128;

/// The most tools that a vendor is known to take. Of servers that imitate the API it is not known.
pub(in crate::openai_chat) fn most_tools(vendor: &Vendor) -> Option<usize> {
    vendor.quirks.native.then_some(MOST_TOOLS)
}

/// Refuses to write more tools than the vendor is known to take.
pub(in crate::openai_chat) fn check_count(n_tools: usize, vendor: &Vendor) -> Result<(), Error> {
    match most_tools(vendor) {
        Some(most) => rules::FUNCTIONS.limit(n_tools, most, "tools"),
        None => Ok(()),
    }
}

pub(super) fn check(fields: &Map, facts: &Facts, faults: &mut Faults) {
    match fields.get("tools") {
        None | Some(Value::Null) => {}
        Some(Value::Array(list)) if list.is_empty() => {
            faults.add(&rules::TOOLS_EMPTY, "/tools", "");
        }
        Some(Value::Array(list)) => {
            for (i, tool) in list.iter().enumerate() {
                let found = match tool["type"].as_str() {
                    _ if foreign_tool::other_form(Family::OpenaiChat, tool).is_some() => vec![],
                    Some("function") => function_faults(&tool["function"], &facts.quirks),
                    _ => hosted_fault(tool, &facts.quirks).into_iter().collect(),
                };
                for found in found {
                    faults.add(found.rule, format!("/tools/{i}{}", found.path), found.detail);
                }
            }
        }
        Some(_) => faults.add(&rules::TOOL, "/tools", "must be a list"),
    }
    // Of servers that imitate the API it is not known how many they take.
    for name in ["functions", "tools"].into_iter().filter(|_| facts.quirks.native) {
        if let Some(Value::Array(list)) = fields.get(name)
            && list.len() > MOST_TOOLS
        {
            faults.add(&rules::FUNCTIONS, format!("/{name}"), list.len().to_string());
        }
    }
}

/// Type and name of a tool that the vendor runs, or why it is not sent.
pub(in crate::openai_chat) fn hosted_tool(
    tool: &Opaque,
    quirks: &Quirks,
) -> Result<(String, String), String> {
    if tool.owner.as_str() != OPENAI {
        return Err(format!("{} runs it", tool.owner));
    }
    let raw: Option<&RawValue> = serde_json::from_str(tool.value.as_str()).ok();
    let kind = raw.and_then(|raw| Fields::read(raw).ok()?.take_text("type").ok()?);
    let kind = kind.ok_or("it has no type")?.into_owned();
    if kind != "custom" && kind != "function" {
        return Ok((kind, String::new()));
    }
    let value = Value::of(tool.value.as_str());
    match hosted_fault(&value, quirks) {
        Some(found) => Err(found.detail),
        None => {
            let name = value[&*kind]["name"].as_str().unwrap_or_default().to_owned();
            Ok((kind, name))
        }
    }
}

/// What is wrong with a tool that may be no function.
fn hosted_fault(tool: &Value, quirks: &Quirks) -> Option<Found> {
    let Some(kind) = tool["type"].as_str() else {
        return Some(Found::new(&rules::TOOL, "", "it has no type"));
    };
    if kind == "function" {
        return function_faults(&tool["function"], quirks).into_iter().next();
    }
    if kind != "custom" {
        return None;
    }
    match tool["custom"]["name"].as_str() {
        _ if !quirks.native => {
            Some(Found::new(&rules::TOOL, "/type", "only OpenAI has custom tools"))
        }
        None => Some(Found::new(&rules::TOOL, "", "it has no `custom.name`")),
        Some(name) if !quirks.tool_names.takes(name) => {
            Some(Found::new(&rules::NAME, "/custom/name", format!("{name:?}")))
        }
        Some(_) => None,
    }
}

fn function_faults(function: &Value, quirks: &Quirks) -> Vec<Found> {
    let mut found = Vec::new();
    match function["name"].as_str() {
        None => found.push(Found::new(&rules::TOOL, "", "it has no `function.name`")),
        Some(name) if !quirks.tool_names.takes(name) => {
            found.push(Found::new(&rules::NAME, "/function/name", format!("{name:?}")));
        }
        Some(_) => {}
    }
    let parameters = &function["parameters"];
    let at = "/function/parameters";
    let is_taken = match (function.get("parameters"), parameters.get("type")) {
        (None, _) => true,
        // Of those who imitate OpenAI as much is not known.
        (Some(Value::Null), _) => !quirks.native,
        (Some(Value::Object(_)), None) => !quirks.native,
        (Some(_), kind) => kind.is_some_and(|kind| kind == "object"),
    };
    if !is_taken {
        found.push(Found::new(&rules::PARAMETERS, at, ""));
    }
    if quirks.inline_definitions && refers(parameters) {
        found.push(Found::new(&rules::DEFINITIONS, at, "it has a `$ref`"));
    }
    if quirks.native {
        let missing = array_items::missing(parameters);
        found.extend(
            missing.into_iter().map(|place| Found::new(&rules::ITEMS, format!("{at}{place}"), "")),
        );
    }
    if function["strict"] == true
        && let Some(fault) = strict_schema::fault(parameters)
    {
        found.push(Found::strict(at, fault));
    }
    found
}

fn refers(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.contains_key("$ref") || fields.values().any(refers),
        Value::Array(list) => list.iter().any(refers),
        _ => false,
    }
}
