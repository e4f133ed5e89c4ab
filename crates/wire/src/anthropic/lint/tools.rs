//! The tools, and which is to be called.

use std::collections::HashSet;

use super::Parsed;
use super::rules::{
    BODY, CHOICE, CHOICE_TOOLS, DEFERRED, FORCED, SCHEMA_OBJECT, SCHEMA_TOP, TOOL_NAME,
    TOOLS_UNIQUE,
};
use crate::anthropic::DEFER;
use crate::anthropic::schema::COMBINATORS;
use crate::lint::Faults;
use crate::tree::Value;
use crate::{Family, Vendor, foreign_tool};

/// Whether a tool is the caller's, with a schema.
pub(super) fn is_custom(tool: &Value) -> bool {
    tool.get("type").is_none_or(|kind| kind.is_null() || kind == "custom")
}

pub(super) fn check(parsed: &Parsed<'_>, vendor: &Vendor, faults: &mut Faults) {
    let tools = parsed.body.get("tools").filter(|tools| !tools.is_null());
    if tools.is_some_and(|tools| !tools.is_array()) {
        faults.add(&BODY, "/tools", "it must be a list");
    }
    let tools = tools.and_then(Value::as_array).unwrap_or_default();
    let mut names = HashSet::new();
    for (i, tool) in tools.iter().enumerate() {
        let name = tool.get("name").and_then(Value::as_str);
        if is_custom(tool) && foreign_tool::other_form(Family::Anthropic, tool).is_none() {
            if !name.is_some_and(|name| vendor.quirks.tool_names.takes(name)) {
                faults.add(&TOOL_NAME, format!("/tools/{i}/name"), name.unwrap_or_default());
            }
            schema(tool, i, faults);
        }
        if let Some(name) = name
            && !names.insert(name)
        {
            faults.add(&TOOLS_UNIQUE, format!("/tools/{i}/name"), name);
        }
    }
    let is_deferred = |tool: &Value| tool.get(DEFER) == Some(&Value::Bool(true));
    if !tools.is_empty() && tools.iter().all(is_deferred) {
        faults.add(&DEFERRED, "/tools", "");
    }
    if let Some(choice) = parsed.body.get("tool_choice").filter(|choice| !choice.is_null()) {
        check_choice(parsed, choice, &names, faults);
        if tools.is_empty() {
            faults.add(&CHOICE_TOOLS, "/tool_choice", "there are no tools");
        }
    }
}

fn schema(tool: &Value, i: usize, faults: &mut Faults) {
    let at = format!("/tools/{i}/input_schema");
    let schema = tool.get("input_schema").and_then(Value::as_object);
    if schema.and_then(|schema| schema.get("type")).is_none_or(|kind| kind != "object") {
        faults.add(&SCHEMA_OBJECT, at.as_str(), "");
    }
    for (name, _) in schema.into_iter().flatten() {
        if COMBINATORS.contains(&name) {
            faults.add(&SCHEMA_TOP, format!("{at}/{name}"), "");
        }
    }
}

fn check_choice(parsed: &Parsed<'_>, choice: &Value, names: &HashSet<&str>, faults: &mut Faults) {
    let kind = choice.get("type").and_then(Value::as_str).unwrap_or_default();
    let name = choice.get("name").and_then(Value::as_str);
    match kind {
        "auto" | "any" => {}
        "none" if choice.get("disable_parallel_tool_use").is_none() => {}
        "tool" => match name {
            None => faults.add(&CHOICE, "/tool_choice", "it names no tool"),
            Some(name) if !names.contains(name) => {
                faults.add(&CHOICE_TOOLS, "/tool_choice/name", name);
            }
            Some(_) => {}
        },
        _ => faults.add(&CHOICE, "/tool_choice", kind),
    }
    if matches!(kind, "any" | "tool") {
        if parsed.thinking() == Some("enabled") {
            faults.add(&FORCED, "/tool_choice", "the model thinks on a budget");
        } else if parsed.model.refuses_forced_tools() {
            faults.add(&FORCED, "/tool_choice", "the model cannot be forced");
        }
    }
}
