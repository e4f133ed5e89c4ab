//! Rules of functions and their schemas.

use serde_json::Value;

use super::contents::unknown_name;
use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{fields, list, text};

pub(super) const RULES: &[Rule] = rules![
    functions_have_names,
    functions_are_few,
    schemas_are_objects,
    schemas_have_googles_words,
    googles_tools_are_asked_for,
    a_choice_needs_functions,
    a_choice_is_known,
];

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems",
    "properties", "required", "minProperties", "maxProperties", "minLength", "maxLength",
    "pattern", "example", "anyOf", "propertyOrdering", "default", "items", "minimum", "maximum",
];

const TYPES: [&str; 8] =
    ["TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];

/// The functions, and where each stands.
fn functions<'a>(incoming: &Incoming<'a>) -> impl Iterator<Item = (String, &'a Value)> {
    let tools = list(&incoming.body["tools"]).iter().enumerate();
    tools.flat_map(|(i, tool)| {
        let declared = list(&tool["functionDeclarations"]).iter().enumerate();
        declared
            .map(move |(j, function)| (format!("tools[{i}].function_declarations[{j}]"), function))
    })
}

fn functions_have_names(incoming: &Incoming<'_>) -> Verdict {
    for (at, function) in functions(incoming) {
        let name = text(&function["name"]);
        let first = name.chars().next();
        let begins = first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let goes_on = name.chars().all(|c| c.is_ascii_alphanumeric() || "_.:-".contains(c));
        demand(begins && goes_on && name.len() <= 128, || {
            Refusal::new(format!(
                "* GenerateContentRequest.{at}.name: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.\n"
            ))
        })?;
    }
    Ok(())
}

fn functions_are_few(incoming: &Incoming<'_>) -> Verdict {
    let n = functions(incoming).count();
    demand(n <= 512, || {
        Refusal::new(format!(
            "At most 512 function declarations can be specified, but there are {n}."
        ))
    })
}

fn schemas_are_objects(incoming: &Incoming<'_>) -> Verdict {
    for (at, function) in functions(incoming) {
        for name in ["parameters", "parametersJsonSchema"] {
            let schema = &function[name];
            demand(schema.is_null() || schema.is_object(), || {
                Refusal::new(format!("Invalid value at '{at}.{name}': a schema is an object"))
            })?;
        }
    }
    Ok(())
}

fn schemas_have_googles_words(incoming: &Incoming<'_>) -> Verdict {
    for (at, function) in functions(incoming) {
        walk(&format!("{at}.parameters"), &function["parameters"], true)?;
    }
    let format = &incoming.body["generationConfig"]["responseSchema"];
    walk("generation_config.response_schema", format, false)
}

fn walk(at: &str, schema: &Value, names_parameters: bool) -> Verdict {
    if !schema.is_object() {
        return Ok(());
    }
    let unknown = fields(schema).find(|(name, _)| !WORDS.contains(name));
    unknown.map_or(Ok(()), |(name, _)| Err(unknown_name(name, at)))?;
    let kind = &schema["type"];
    demand(!kind.is_array(), || {
        Refusal::new(format!(
            "Invalid JSON payload received. Unknown name \"type\" at '{at}': Proto field is not repeating, cannot start list."
        ))
    })?;
    let named = text(kind).to_uppercase();
    demand(kind.is_null() || TYPES.contains(&named.as_str()), || {
        Refusal::new(format!(
            "Invalid value at '{at}.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type), {kind}"
        ))
    })?;
    let odd = list(&schema["enum"]).iter().enumerate().find(|(_, value)| !value.is_string());
    odd.map_or(Ok(()), |(i, value)| {
        Err(Refusal::new(format!("Invalid value at '{at}.enum[{i}]' (TYPE_STRING), {value}")))
    })?;
    for (name, inner) in fields(&schema["properties"]) {
        let is_name = !name.is_empty()
            && name.len() <= 64
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        demand(is_name || !names_parameters, || {
            Refusal::new(format!(
                "* GenerateContentRequest.{at}.properties: [FIELD_INVALID] Invalid property name `{name}`.\n"
            ))
        })?;
        walk(&format!("{at}.properties[{name}].value"), inner, names_parameters)?;
    }
    walk(&format!("{at}.items"), &schema["items"], names_parameters)?;
    for (i, inner) in list(&schema["anyOf"]).iter().enumerate() {
        walk(&format!("{at}.any_of[{i}]"), inner, names_parameters)?;
    }
    Ok(())
}

/// From Gemini 3 on, functions beside Google's own tools need a word; before, it is refused.
fn googles_tools_are_asked_for(incoming: &Incoming<'_>) -> Verdict {
    let generation = super::generation(incoming.model);
    let mut tools = list(&incoming.body["tools"]).iter();
    let has_own = tools.any(|tool| fields(tool).any(|(name, _)| name != "functionDeclarations"));
    let asks = incoming.body["toolConfig"]["includeServerSideToolInvocations"] == true;
    let is_mixed = has_own && functions(incoming).next().is_some();
    demand(!(is_mixed && generation >= 3.0 && !asks), || {
        Refusal::new(
            "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.",
        )
    })?;
    demand(!(asks && generation > 0.0 && generation < 3.0), || {
        Refusal::new("Tool call context circulation is not enabled for this model.")
    })
}

fn config<'a>(incoming: &Incoming<'a>) -> &'a Value {
    &incoming.body["toolConfig"]["functionCallingConfig"]
}

fn a_choice_needs_functions(incoming: &Incoming<'_>) -> Verdict {
    demand(config(incoming).is_null() || functions(incoming).next().is_some(), || {
        Refusal::new("Function calling config is set without function_declarations.")
    })
}

fn a_choice_is_known(incoming: &Incoming<'_>) -> Verdict {
    let (mode, names) = (&config(incoming)["mode"], &config(incoming)["allowedFunctionNames"]);
    let known = ["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"];
    demand(mode.is_null() || known.contains(&text(mode)), || {
        Refusal::new(format!(
            "Invalid value at 'tool_config.function_calling_config.mode' (type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode), {mode}"
        ))
    })?;
    demand(list(names).is_empty() || ["ANY", "VALIDATED"].contains(&text(mode)), || {
        Refusal::new(
            "allowed_function_names should only be set when the function calling mode is ANY or VALIDATED.",
        )
    })?;
    for name in list(names) {
        demand(functions(incoming).any(|(_, function)| function["name"] == *name), || {
            Refusal::new(format!(
                "allowed_function_names contains {name}, which is not a declared function."
            ))
        })?;
    }
    Ok(())
}
