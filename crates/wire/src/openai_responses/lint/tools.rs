//! The tools, and the choice among them.

use super::messages::is_name;
use super::settings::is_given;
use super::{Report, rules, text};
use crate::openai_responses::schema;
use crate::tree::Value;
use crate::{Family, array_items, foreign_tool};

pub(super) fn check(body: &Value, report: &mut Report<'_>) {
    let tools = match body.get("tools") {
        Some(Value::Array(tools)) => &**tools,
        None | Some(Value::Null) => &[],
        Some(_) => {
            report(&rules::TOOL_FORM, "/tools".into(), "it is no list".into());
            &[]
        }
    };
    for (i, tool) in tools.iter().enumerate() {
        if foreign_tool::other_form(Family::OpenaiResponses, tool).is_none() {
            check_tool(tool, &format!("/tools/{i}"), report);
        }
    }
    if let Some(choice) = body.get("tool_choice").filter(|choice| !choice.is_null()) {
        let fault = match choice {
            Value::String(mode) => check_mode(mode, body, tools),
            Value::Object(_) => check_forced(choice, tools),
            _ => Some("it is neither a text nor an object".to_owned()),
        };
        if let Some(detail) = fault {
            report(&rules::TOOL_CHOICE, "/tool_choice".into(), detail);
        }
    }
}

fn check_tool(tool: &Value, place: &str, report: &mut Report<'_>) {
    match text(tool, "type").filter(|kind| !kind.is_empty()) {
        None => return report(&rules::TOOL_FORM, place.into(), "it has no `type`".into()),
        Some("function") => {}
        Some(_) => return,
    }
    let Some(name) = text(tool, "name") else {
        return report(&rules::TOOL_FORM, place.into(), "it has no `name`".into());
    };
    if !is_name(name) {
        report(&rules::NAME, format!("{place}/name"), format!("{name:?}"));
    }
    let place = format!("{place}/parameters");
    let is_strict = tool.get("strict") == Some(&Value::Bool(true));
    match tool.get("parameters") {
        None | Some(Value::Null) if is_strict => {
            report(&rules::TOOL_SCHEMA, place, "it is strict and has no schema".into());
        }
        None | Some(Value::Null) => {}
        Some(schema) if !is_object_schema(schema) => {
            report(&rules::TOOL_SCHEMA, place, String::new());
        }
        Some(schema) => {
            for missing in array_items::missing(schema) {
                report(&rules::ITEMS, format!("{place}{missing}"), String::new());
            }
            if is_strict {
                schema::check(schema, &place, report);
            }
        }
    }
}

fn is_object_schema(schema: &Value) -> bool {
    text(schema, "type") == Some("object")
}

fn check_mode(mode: &str, body: &Value, tools: &[Value]) -> Option<String> {
    match mode {
        "none" | "auto" => None,
        // A stored prompt has tools of its own.
        "required" if tools.is_empty() && !is_given(body, "prompt") => {
            Some("there is no tool".to_owned())
        }
        "required" => None,
        _ => Some(format!("{mode:?} is none of the modes")),
    }
}

fn check_forced(choice: &Value, tools: &[Value]) -> Option<String> {
    let Some(kind) = text(choice, "type") else { return Some("it has no `type`".to_owned()) };
    match kind {
        "function" | "custom" => {}
        "tool" | "any" | "auto" | "none" | "required" => {
            return Some(format!("{kind:?} is no type of a choice here"));
        }
        _ => return None,
    }
    let Some(name) = text(choice, "name") else { return Some("it has no `name`".to_owned()) };
    let is_named = |tool: &Value| text(tool, "name") == Some(name);
    let inner = |tool: &Value| {
        tool.get("tools").and_then(Value::as_array).is_some_and(|tools| tools.iter().any(is_named))
    };
    let is_known = tools.iter().any(|tool| is_named(tool) || inner(tool));
    (!is_known).then(|| format!("there is no tool {name:?}"))
}
