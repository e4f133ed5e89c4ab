//! Rules of tools and of the choice between them.

use serde_json::Value;

use crate::family::{Incoming, Rule, rules};
use crate::openai::schema::{self, Owner};
use crate::openai::{empty_array, generation, missing, name, unsupported, wrong_type, wrong_value};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{list, text};

pub(super) const RULES: &[Rule] = rules![
    tools_have_a_form,
    tools_have_names,
    schemas_are_objects,
    strict_schemas_are_closed,
    a_choice_needs_tools,
    a_choice_is_known,
    parallel_calls_need_tools,
    tools_need_no_effort,
];

/// The most tools of a request.
const MOST: usize = 128;

fn tools_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    for param in ["tools", "functions"] {
        let n = list(&incoming.body[param]).len();
        demand(n <= MOST, || {
            let words = format!(
                "Invalid '{param}': array too long. Expected an array with maximum length {MOST}, but got an array with length {n} instead."
            );
            Refusal::new(words).at(param).code("array_above_max_length")
        })?;
    }
    let tools = &incoming.body["tools"];
    match tools {
        Value::Null => return Ok(()),
        Value::Array(tools) if tools.is_empty() => return Err(empty_array("tools")),
        Value::Array(_) => {}
        other => return Err(wrong_type("tools", "an array of objects", other)),
    }
    for (i, tool) in list(tools).iter().enumerate() {
        demand(tool.is_object(), || wrong_type(&format!("tools[{i}]"), "an object", tool))?;
        // The form of Responses: the name beside the type.
        let is_flat = tool.get("name").is_some();
        demand(!is_flat || tool.get("function").is_none(), || {
            let words = format!("Unknown parameter: 'tools[{i}].name'.");
            Refusal::new(words).at(format!("tools[{i}].name")).code("unknown_parameter")
        })?;
        match &tool["type"] {
            Value::Null => return Err(missing(&format!("tools[{i}].type"))),
            kind if kind == "function" || kind == "custom" => {
                let kind = text(kind);
                demand(tool[kind].is_object(), || missing(&format!("tools[{i}].{kind}")))?;
            }
            kind => {
                let known = ["function", "custom"];
                return Err(wrong_value(&format!("tools[{i}].type"), text(kind), &known));
            }
        }
    }
    Ok(())
}

/// The functions: the place of each, and its declaration.
fn functions<'a>(incoming: &Incoming<'a>) -> impl Iterator<Item = (String, &'a Value)> {
    let tools = list(&incoming.body["tools"]).iter().enumerate();
    tools
        .filter(|(_, tool)| tool["type"] == "function")
        .map(|(i, tool)| (format!("tools[{i}].function"), &tool["function"]))
}

fn tools_have_names(incoming: &Incoming<'_>) -> Verdict {
    for (i, tool) in list(&incoming.body["tools"]).iter().enumerate() {
        let kind = text(&tool["type"]);
        name(&format!("tools[{i}].{kind}.name"), &tool[kind]["name"], 64)?;
    }
    Ok(())
}

fn schemas_are_objects(incoming: &Incoming<'_>) -> Verdict {
    for (at, function) in functions(incoming) {
        if let Some(parameters) = function.get("parameters") {
            let owner = Owner {
                what: "function",
                name: text(&function["name"]),
                param: format!("{at}.parameters"),
            };
            schema::plain(&owner, parameters)?;
        }
    }
    Ok(())
}

fn strict_schemas_are_closed(incoming: &Incoming<'_>) -> Verdict {
    for (at, function) in functions(incoming).filter(|(_, function)| function["strict"] == true) {
        let (name, param) = (text(&function["name"]), format!("{at}.parameters"));
        let owner = Owner { what: "function", name, param };
        schema::strict(&owner, &function["parameters"])?;
    }
    let format = &incoming.body["response_format"]["json_schema"];
    if format["strict"] == true {
        let owner = Owner {
            what: "response_format",
            name: text(&format["name"]),
            param: "response_format".to_owned(),
        };
        schema::strict(&owner, &format["schema"])?;
    }
    Ok(())
}

fn only_with_tools(incoming: &Incoming<'_>, param: &str) -> Verdict {
    let is_alone = incoming.body["tools"].is_null() && incoming.body["functions"].is_null();
    demand(incoming.body[param].is_null() || !is_alone, || {
        let words = format!(
            "Invalid value for '{param}': '{param}' is only allowed when 'tools' are specified."
        );
        Refusal::new(words).at(param)
    })
}

fn a_choice_needs_tools(incoming: &Incoming<'_>) -> Verdict {
    match incoming.body["tool_choice"] == "none" {
        true => Ok(()),
        false => only_with_tools(incoming, "tool_choice"),
    }
}

fn parallel_calls_need_tools(incoming: &Incoming<'_>) -> Verdict {
    only_with_tools(incoming, "parallel_tool_calls")
}

fn a_choice_is_known(incoming: &Incoming<'_>) -> Verdict {
    let choice = &incoming.body["tool_choice"];
    let known = ["none", "auto", "required"];
    match choice {
        Value::Null => return Ok(()),
        Value::String(word) => {
            return demand(known.contains(&word.as_str()), || {
                wrong_value("tool_choice", word, &known)
            });
        }
        Value::Object(_) => {}
        other => return Err(wrong_type("tool_choice", "one of a string or object", other)),
    }
    let kind = text(&choice["type"]);
    match kind {
        "function" | "custom" => {
            let named = text(&choice[kind]["name"]);
            demand(!named.is_empty(), || missing(&format!("tool_choice.{kind}.name")))?;
            let mut tools = list(&incoming.body["tools"]).iter();
            demand(tools.any(|tool| tool[kind]["name"] == named), || {
                let words = format!("Tool choice '{named}' not found in 'tools' parameter.");
                Refusal::new(words).at("tool_choice")
            })
        }
        "allowed_tools" => {
            let mode = text(&choice["allowed_tools"]["mode"]);
            let known = ["auto", "required"];
            demand(known.contains(&mode), || {
                wrong_value("tool_choice.allowed_tools.mode", mode, &known)
            })?;
            let is_list = choice["allowed_tools"]["tools"].is_array();
            demand(is_list, || missing("tool_choice.allowed_tools.tools"))
        }
        other => {
            Err(wrong_value("tool_choice.type", other, &["function", "custom", "allowed_tools"]))
        }
    }
}

/// From GPT-5.4 on, a model that thinks has no function tools on Chat.
fn tools_need_no_effort(incoming: &Incoming<'_>) -> Verdict {
    let (model, effort) = (incoming.model, &incoming.body["reasoning_effort"]);
    let generation = generation(model);
    let thinks = match effort.as_str() {
        Some(effort) => effort != "none" || generation >= 6.0,
        None => generation >= 5.6,
    };
    let has_functions = functions(incoming).next().is_some();
    demand(!(has_functions && generation >= 5.4 && thinks), || {
        let words = format!(
            "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'."
        );
        unsupported("reasoning_effort", words)
    })
}
