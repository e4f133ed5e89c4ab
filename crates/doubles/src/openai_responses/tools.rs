//! Rules of tools and of the choice between them.

use serde_json::Value;

use crate::family::{Incoming, Rule, rules};
use crate::openai::schema::{self, Owner};
use crate::openai::{missing, name, wrong_type, wrong_value};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{list, text};

pub(super) const RULES: &[Rule] =
    rules![tools_have_a_form, schemas_are_objects, strict_schemas_are_closed, a_choice_is_known];

fn tools_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    let tools = &incoming.body["tools"];
    demand(tools.is_null() || tools.is_array(), || {
        wrong_type("tools", "an array of objects", tools)
    })?;
    for (i, tool) in list(tools).iter().enumerate() {
        demand(tool.is_object(), || wrong_type(&format!("tools[{i}]"), "an object", tool))?;
        let kind = text(&tool["type"]);
        demand(!kind.is_empty(), || missing(&format!("tools[{i}].type")))?;
        if kind == "function" || kind == "custom" {
            name(&format!("tools[{i}].name"), &tool["name"], 128)?;
        }
    }
    Ok(())
}

fn functions<'a>(incoming: &Incoming<'a>) -> impl Iterator<Item = (Owner<'a>, &'a Value)> {
    let tools = list(&incoming.body["tools"]).iter().enumerate();
    tools.filter(|(_, tool)| tool["type"] == "function").map(|(i, tool)| {
        let param = format!("tools[{i}].parameters");
        (Owner { what: "function", name: text(&tool["name"]), param }, tool)
    })
}

fn schemas_are_objects(incoming: &Incoming<'_>) -> Verdict {
    for (owner, tool) in functions(incoming) {
        if !tool["parameters"].is_null() {
            schema::plain(&owner, &tool["parameters"])?;
        }
    }
    Ok(())
}

fn strict_schemas_are_closed(incoming: &Incoming<'_>) -> Verdict {
    for (owner, tool) in functions(incoming).filter(|(_, tool)| tool["strict"] == true) {
        schema::strict(&owner, &tool["parameters"])?;
    }
    let format = &incoming.body["text"]["format"];
    if format["type"] == "json_schema" && format["strict"] == true {
        let param = "text.format.schema".to_owned();
        let owner = Owner { what: "response_format", name: text(&format["name"]), param };
        schema::plain(&owner, &format["schema"])?;
        schema::strict(&owner, &format["schema"])?;
    }
    Ok(())
}

fn a_choice_is_known(incoming: &Incoming<'_>) -> Verdict {
    let choice = &incoming.body["tool_choice"];
    let known = ["none", "auto", "required"];
    match choice {
        Value::Null => Ok(()),
        Value::String(word) => {
            demand(known.contains(&word.as_str()), || wrong_value("tool_choice", word, &known))?;
            // A stored prompt may have tools of its own.
            let has_tools = !list(&incoming.body["tools"]).is_empty();
            let is_free = word != "required" || has_tools || !incoming.body["prompt"].is_null();
            demand(is_free, || {
                let words = "Tool choice 'required' must be specified with 'tools' parameter.";
                Refusal::new(words).at("tool_choice")
            })
        }
        Value::Object(_) => {
            let kind = text(&choice["type"]);
            demand(!kind.is_empty(), || missing("tool_choice.type"))?;
            if kind != "function" && kind != "custom" {
                return Ok(());
            }
            let named = text(&choice["name"]);
            demand(!named.is_empty(), || missing("tool_choice.name"))?;
            let mut tools = list(&incoming.body["tools"]).iter();
            demand(tools.any(|tool| tool["name"] == named), || {
                let words = format!("Tool choice '{kind}' not found in 'tools' parameter.");
                Refusal::new(words).at("tool_choice")
            })
        }
        other => Err(wrong_type("tool_choice", "one of a string or object", other)),
    }
}
