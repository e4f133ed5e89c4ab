//! Rules of tools and of the choice between them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::blocks::pattern;
use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{is_blank, is_name, list, text};

pub(super) const RULES: &[Rule] = rules![
    tools_are_given,
    tools_have_a_form,
    tool_names_differ,
    schemas_are_objects,
    a_choice_is_known
];

fn tools_are_given(incoming: &Incoming<'_>) -> Verdict {
    let config = &incoming.body["toolConfig"];
    demand(config.is_null() || !list(&config["tools"]).is_empty(), || {
        Refusal::new(
            "1 validation error detected: Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1",
        )
    })
}

fn specs<'a>(incoming: &Incoming<'a>) -> impl Iterator<Item = (String, &'a Value)> {
    let tools = list(&incoming.body["toolConfig"]["tools"]).iter().enumerate();
    tools.filter_map(|(i, tool)| {
        tool.get("toolSpec").map(|spec| (format!("toolConfig.tools.{i}.toolSpec"), spec))
    })
}

fn tools_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    for (i, tool) in list(&incoming.body["toolConfig"]["tools"]).iter().enumerate() {
        let known = ["toolSpec", "systemTool", "cachePoint"];
        let n = known.iter().filter(|kind| tool.get(**kind).is_some()).count();
        let n_fields = tool.as_object().map_or(0, serde_json::Map::len);
        demand(n == 1 && n_fields == 1, || {
            Refusal::new(format!(
                "The Tool object at toolConfig.tools.{i} must set one of the following keys: {}.",
                known.join(", ")
            ))
        })?;
    }
    for (at, spec) in specs(incoming) {
        let name = text(&spec["name"]);
        demand(is_name(name, "_-", 64), || pattern(&format!("{at}.name"), name, "[a-zA-Z0-9_-]+"))?;
        let description = &spec["description"];
        demand(description.is_null() || !is_blank(text(description)), || {
            Refusal::new(format!(
                "1 validation error detected: Value '' at '{at}.description' failed to satisfy constraint: Member must have length greater than or equal to 1"
            ))
        })?;
    }
    Ok(())
}

fn tool_names_differ(incoming: &Incoming<'_>) -> Verdict {
    let mut seen = BTreeSet::new();
    for (_, spec) in specs(incoming) {
        let name = text(&spec["name"]);
        demand(seen.insert(name), || {
            Refusal::new(format!(
                "The toolConfig.tools field contains duplicate tool names: {name}"
            ))
        })?;
    }
    Ok(())
}

fn schemas_are_objects(incoming: &Incoming<'_>) -> Verdict {
    for (at, spec) in specs(incoming) {
        let schema = &spec["inputSchema"]["json"];
        demand(schema.is_object(), || {
            Refusal::new(format!(
                "The format of the value at {at}.inputSchema.json is invalid. Provide a json object for the field and try again."
            ))
        })?;
        demand(schema["type"] == "object", || {
            Refusal::new(format!(
                "The value at {at}.inputSchema.json.type must be one of the following: object."
            ))
        })?;
    }
    Ok(())
}

fn a_choice_is_known(incoming: &Incoming<'_>) -> Verdict {
    let choice = &incoming.body["toolConfig"]["toolChoice"];
    if choice.is_null() {
        return Ok(());
    }
    let known = ["auto", "any", "tool"];
    let n = known.iter().filter(|kind| choice.get(**kind).is_some()).count();
    let n_fields = choice.as_object().map_or(0, serde_json::Map::len);
    demand(n == 1 && n_fields == 1, || {
        Refusal::new(
            "The ToolChoice object at toolConfig.toolChoice must set one of the following keys: auto, any, tool.",
        )
    })?;
    let Some(tool) = choice.get("tool") else { return Ok(()) };
    demand(specs(incoming).any(|(_, spec)| spec["name"] == tool["name"]), || {
        Refusal::new(format!(
            "The tool {} at toolConfig.toolChoice.tool.name is not one of toolConfig.tools.",
            tool["name"]
        ))
    })
}
