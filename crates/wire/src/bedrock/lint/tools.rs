//! Faults in tools.

use std::collections::HashSet;

use super::Report;
use super::parts::{check_cache_point, check_name};
use super::rules::{
    CACHE_POINT_PLACE, TOOL_CHOICE, TOOL_DESCRIPTION, TOOL_KIND, TOOL_NAME_UNIQUE, TOOL_SCHEMA,
    TOOLS_EMPTY,
};
use crate::tree::Value;
use crate::{Family, foreign_tool};

pub(super) fn check(config: Option<&Value>, report: &mut Report<'_>) {
    let Some(config) = config else { return };
    let at = "/toolConfig/tools";
    let tools = config.get("tools").and_then(Value::as_array);
    let tools = tools.unwrap_or_default();
    let is_mark = |tool: &Value| tool.get("cachePoint").is_some();
    if tools.iter().all(is_mark) {
        report(&TOOLS_EMPTY, at.to_owned(), String::new());
    }
    let mut names: HashSet<&str> = HashSet::new();
    for (i, tool) in tools.iter().enumerate() {
        let at = format!("{at}/{i}");
        if foreign_tool::other_form(Family::Bedrock, tool).is_none() {
            check_tool(tool, &at, report);
        }
        if is_mark(tool) && i.checked_sub(1).is_none_or(|before| is_mark(&tools[before])) {
            report(&CACHE_POINT_PLACE, at.clone(), String::new());
        }
        if let Some(name) = tool.pointer("/toolSpec/name").and_then(Value::as_str)
            && !names.insert(name)
        {
            report(&TOOL_NAME_UNIQUE, format!("{at}/toolSpec/name"), name.to_owned());
        }
    }
    let has_others = tools.iter().any(|tool| tool.get("toolSpec").is_none() && !is_mark(tool));
    if let Some(choice) = config.get("toolChoice") {
        check_choice(choice, &names, has_others, report);
    }
}

pub(super) fn check_tool(tool: &Value, at: &str, report: &mut Report<'_>) {
    let Some(fields) = tool.as_object() else {
        report(&TOOL_KIND, at.to_owned(), "it must be an object".to_owned());
        return;
    };
    let known = ["toolSpec", "systemTool", "cachePoint"];
    let n_known = known.into_iter().filter(|kind| fields.contains_key(kind)).count();
    if fields.is_empty() || n_known > 1 {
        report(&TOOL_KIND, at.to_owned(), String::new());
        return;
    }
    if let Some(point) = fields.get("cachePoint") {
        check_cache_point(point, &format!("{at}/cachePoint"), report);
    }
    let Some(spec) = fields.get("toolSpec") else { return };
    let at = format!("{at}/toolSpec");
    check_name(spec.get("name"), &format!("{at}/name"), report);
    let description = spec.get("description").filter(|text| !text.is_null());
    if description.is_some_and(|text| text.as_str().is_none_or(|text| text.trim().is_empty())) {
        report(&TOOL_DESCRIPTION, format!("{at}/description"), String::new());
    }
    let schema = spec.pointer("/inputSchema/json");
    let kind = schema.and_then(|schema| schema.get("type")).and_then(Value::as_str);
    if kind != Some("object") {
        report(&TOOL_SCHEMA, format!("{at}/inputSchema/json"), String::new());
    }
}

fn check_choice(choice: &Value, names: &HashSet<&str>, has_others: bool, report: &mut Report<'_>) {
    let at = "/toolConfig/toolChoice".to_owned();
    let fields = choice.as_object();
    let mut kinds = fields.into_iter().flat_map(|fields| fields.keys());
    match (kinds.next(), kinds.next()) {
        (Some("none"), _) => report(&TOOL_CHOICE, at, "there is no `none`".to_owned()),
        (Some("tool"), None) => {
            let name = choice.pointer("/tool/name").and_then(Value::as_str).unwrap_or_default();
            if !names.contains(name) && !has_others {
                report(&TOOL_CHOICE, format!("{at}/tool/name"), format!("{name:?} is missing"));
            }
        }
        (Some("auto" | "any"), None) => {}
        _ => report(&TOOL_CHOICE, at, "its only key is `auto`, `any` or `tool`".to_owned()),
    }
}
