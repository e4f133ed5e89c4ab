//! Rules of tools and of the choice between them.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::claude::claude;
use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{is_name, list, text};

pub(super) const RULES: &[Rule] = rules![
    tools_have_a_form,
    tool_names_differ,
    schemas_are_objects,
    schemas_have_no_choice_at_the_top,
    strict_tools_are_few,
    strict_schemas_are_closed,
    not_all_tools_are_deferred,
    a_choice_is_known,
    a_choice_names_a_tool,
    newer_models_take_no_forced_tool,
];

/// Tools that the client runs: those without a type of their own.
fn own<'a>(incoming: &Incoming<'a>) -> impl Iterator<Item = (usize, &'a Value)> {
    let tools = list(&incoming.body["tools"]).iter().enumerate();
    tools.filter(|(_, tool)| tool["type"].is_null() || tool["type"] == "custom")
}

fn tools_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    let tools = &incoming.body["tools"];
    demand(tools.is_null() || tools.is_array(), || {
        Refusal::new("tools: Input should be a valid list")
    })?;
    for (i, tool) in own(incoming) {
        demand(tool.is_object(), || Refusal::new(format!("tools.{i}: Input should be an object")))?;
        let name = &tool["name"];
        demand(name.is_string(), || {
            Refusal::new(format!("tools.{i}.custom.name: Field required"))
        })?;
        demand(is_name(text(name), "_-", 128), || {
            let words = "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
            Refusal::new(format!("tools.{i}.custom.name: {words}"))
        })?;
    }
    Ok(())
}

fn tool_names_differ(incoming: &Incoming<'_>) -> Verdict {
    let mut seen = BTreeSet::new();
    for tool in list(&incoming.body["tools"]) {
        let name = text(&tool["name"]);
        demand(name.is_empty() || seen.insert(name), || {
            Refusal::new("tools: Tool names must be unique.")
        })?;
    }
    Ok(())
}

fn schemas_are_objects(incoming: &Incoming<'_>) -> Verdict {
    for (i, tool) in own(incoming) {
        let (at, schema) = (format!("tools.{i}.custom.input_schema"), &tool["input_schema"]);
        demand(!schema.is_null(), || Refusal::new(format!("{at}: Field required")))?;
        demand(schema.is_object(), || {
            Refusal::new(format!("{at}: Input should be a valid dictionary"))
        })?;
        demand(!schema["type"].is_null(), || Refusal::new(format!("{at}.type: Field required")))?;
        demand(schema["type"] == "object", || {
            Refusal::new(format!("{at}.type: Input should be 'object'"))
        })?;
    }
    Ok(())
}

fn schemas_have_no_choice_at_the_top(incoming: &Incoming<'_>) -> Verdict {
    for (i, tool) in own(incoming) {
        let has = ["oneOf", "allOf", "anyOf"].iter().any(|w| tool["input_schema"].get(w).is_some());
        demand(!has, || {
            let words = "input_schema does not support oneOf, allOf, or anyOf at the top level";
            Refusal::new(format!("tools.{i}.custom.input_schema: {words}"))
        })?;
    }
    Ok(())
}

fn strict_tools_are_few(incoming: &Incoming<'_>) -> Verdict {
    let n = own(incoming).filter(|(_, tool)| tool["strict"] == true).count();
    demand(n <= 20, || {
        Refusal::new(format!(
            "Too many strict tools ({n}). The maximum number of strict tools supported is 20"
        ))
    })?;
    let (mut optional, mut unions) = (0, 0);
    for (_, tool) in own(incoming).filter(|(_, tool)| tool["strict"] == true) {
        let schema = &tool["input_schema"];
        let required: Vec<&str> = list(&schema["required"]).iter().map(text).collect();
        for (name, inner) in crate::value::fields(&schema["properties"]) {
            optional += usize::from(!required.contains(&name));
            unions += usize::from(inner.get("anyOf").is_some() || inner["type"].is_array());
        }
    }
    demand(optional <= 24, || {
        Refusal::new(format!(
            "Too many optional parameters ({optional}) in strict tools. The maximum is 24"
        ))
    })?;
    demand(unions <= 16, || {
        Refusal::new(format!(
            "Too many parameters with union types ({unions}) in strict tools. The maximum is 16"
        ))
    })
}

fn strict_schemas_are_closed(incoming: &Incoming<'_>) -> Verdict {
    for (i, tool) in own(incoming).filter(|(_, tool)| tool["strict"] == true) {
        closed(&format!("tools.{i}.custom"), &tool["input_schema"])?;
    }
    Ok(())
}

/// A schema of structured output: objects are closed, and bounds are not known.
pub(super) fn closed(at: &str, schema: &Value) -> Verdict {
    demand(schema.is_object(), || Refusal::new(format!("{at}: a schema must be an object")))?;
    let is_object = schema["type"] == "object" || schema.get("properties").is_some();
    demand(!is_object || schema["additionalProperties"] == false, || {
        Refusal::new(format!(
            "{at}: For 'object' type, 'additionalProperties' must be explicitly set to false"
        ))
    })?;
    for word in [
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "multipleOf",
        "maxItems",
        "exclusiveMinimum",
        "exclusiveMaximum",
    ] {
        demand(schema.get(word).is_none(), || {
            let kind = text(&schema["type"]);
            Refusal::new(format!("{at}: For '{kind}' type, property '{word}' is not supported"))
        })?;
    }
    let properties = crate::value::fields(&schema["properties"]).map(|(_, inner)| inner);
    let choices = ["anyOf", "allOf"].into_iter().flat_map(|name| list(&schema[name]));
    let items = schema.get("items").into_iter();
    let mut inner = properties.chain(choices).chain(items);
    inner.try_for_each(|inner| closed(at, inner))
}

fn not_all_tools_are_deferred(incoming: &Incoming<'_>) -> Verdict {
    let tools = list(&incoming.body["tools"]);
    for tool in tools.iter().filter(|tool| tool["defer_loading"] == true) {
        demand(tool["cache_control"].is_null(), || {
            Refusal::new("Tools with defer_loading cannot use prompt caching")
        })?;
    }
    let are_all = !tools.is_empty() && tools.iter().all(|tool| tool["defer_loading"] == true);
    demand(!are_all, || {
        Refusal::new("All tools have defer_loading: true. At least one tool must be non-deferred.")
    })
}

fn a_choice_is_known(incoming: &Incoming<'_>) -> Verdict {
    let choice = &incoming.body["tool_choice"];
    if choice.is_null() {
        return Ok(());
    }
    demand(choice.is_object(), || Refusal::new("tool_choice: Input should be an object"))?;
    let kind = text(&choice["type"]);
    demand(["auto", "any", "tool", "none"].contains(&kind), || {
        Refusal::new(format!(
            "tool_choice: Input tag '{kind}' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'"
        ))
    })?;
    demand(kind != "tool" || choice["name"].is_string(), || {
        Refusal::new("tool_choice.tool.name: Field required")
    })?;
    demand(kind != "none" || choice["disable_parallel_tool_use"].is_null(), || {
        Refusal::new("tool_choice.none.disable_parallel_tool_use: Extra inputs are not permitted")
    })
}

fn a_choice_names_a_tool(incoming: &Incoming<'_>) -> Verdict {
    let choice = &incoming.body["tool_choice"];
    let tools = list(&incoming.body["tools"]);
    demand(choice.is_null() || !tools.is_empty(), || {
        Refusal::new("tool_choice may only be specified while providing tools")
    })?;
    let name = &choice["name"];
    demand(choice["type"] != "tool" || tools.iter().any(|tool| tool["name"] == *name), || {
        Refusal::new(format!("Tool '{}' not found in provided tools", text(name)))
    })
}

fn newer_models_take_no_forced_tool(incoming: &Incoming<'_>) -> Verdict {
    let forced = ["any", "tool"].contains(&text(&incoming.body["tool_choice"]["type"]));
    let refuses = claude(incoming.model).is_some_and(|claude| claude.refuses_forced_tools());
    demand(!(forced && refuses), || {
        Refusal::new("tool_choice: type \"tool\" and \"any\" are not supported for this model.")
    })
}
