//! Schemas of functions and formats.

use serde_json::Value;

use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{fields, list, text};

/// The deepest that a strict schema goes, and the most properties it has.
const DEEPEST: usize = 10;
const MOST_PROPERTIES: usize = 5_000;

/// What a schema belongs to: a function or a format, and its place.
pub(crate) struct Owner<'a> {
    pub(crate) what: &'a str,
    pub(crate) name: &'a str,
    pub(crate) param: String,
}

impl Owner<'_> {
    fn refuse(&self, context: &[String], rule: &str) -> Refusal {
        let context: Vec<String> = context.iter().map(|name| format!("'{name}'")).collect();
        let context = match context.as_slice() {
            [one] => format!("{one},"),
            all => all.join(", "),
        };
        let what = self.what;
        let message =
            format!("Invalid schema for {what} '{}': In context=({context}), {rule}", self.name);
        Refusal::new(message).at(&self.param).code("invalid_function_parameters")
    }
}

/// Every schema of a function: an object, and lists say what they hold.
pub(crate) fn plain(owner: &Owner<'_>, schema: &Value) -> Verdict {
    demand(schema["type"] == "object", || {
        let got = schema["type"].as_str().unwrap_or("None");
        let rule =
            format!("schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{got}\"'.");
        let message = format!("Invalid schema for {} '{}': {rule}", owner.what, owner.name);
        Refusal::new(message).at(&owner.param).code("invalid_function_parameters")
    })?;
    walk(schema, &mut Vec::new(), &mut |schema, context| {
        let kinds = &schema["type"];
        let is_list = kinds == "array" || list(kinds).iter().any(|kind| kind == "array");
        let is_list = is_list && schema.get("prefixItems").is_none();
        demand(!is_list || schema.get("items").is_some(), || {
            owner.refuse(context, "array schema missing items.")
        })
    })
}

/// A strict schema.
pub(crate) fn strict(owner: &Owner<'_>, schema: &Value) -> Verdict {
    demand(schema["type"] == "object" && schema.get("anyOf").is_none(), || {
        owner.refuse(&[], "schema must have type 'object' and not have 'anyOf' at the top level.")
    })?;
    let mut n_properties = 0;
    walk(schema, &mut Vec::new(), &mut |schema, context| {
        for word in
            ["allOf", "oneOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else"]
        {
            demand(schema.get(word).is_none(), || {
                owner.refuse(context, &format!("'{word}' is not permitted."))
            })?;
        }
        let kinds = &schema["type"];
        let is_object = kinds == "object"
            || list(kinds).iter().any(|kind| kind == "object")
            || schema.get("properties").is_some();
        if !is_object {
            return Ok(());
        }
        demand(schema["additionalProperties"] == false, || {
            let rule = "'additionalProperties' is required to be supplied and to be false.";
            owner.refuse(context, rule)
        })?;
        let required: Vec<&str> = list(&schema["required"]).iter().map(text).collect();
        for (name, _) in fields(&schema["properties"]) {
            n_properties += 1;
            demand(required.contains(&name), || {
                let rule = "'required' is required to be supplied and to be an array including every key in properties.";
                owner.refuse(context, &format!("{rule} Missing '{name}'."))
            })?;
        }
        let depth = context.iter().filter(|word| *word == "properties").count();
        demand(depth < DEEPEST, || {
            owner.refuse(context, &format!("the schema is nested deeper than {DEEPEST} levels."))
        })
    })?;
    demand(n_properties <= MOST_PROPERTIES, || {
        owner.refuse(&[], &format!("the schema has more than {MOST_PROPERTIES} properties."))
    })
}

/// Visits a schema and every schema in it.
fn walk(
    schema: &Value,
    context: &mut Vec<String>,
    visit: &mut dyn FnMut(&Value, &[String]) -> Verdict,
) -> Verdict {
    if !schema.is_object() {
        return Ok(());
    }
    visit(schema, context)?;
    for group in ["properties", "$defs", "definitions"] {
        for (name, inner) in fields(&schema[group]) {
            context.extend([group.to_owned(), name.to_owned()]);
            walk(inner, context, visit)?;
            context.truncate(context.len() - 2);
        }
    }
    for group in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        for (i, inner) in list(&schema[group]).iter().enumerate() {
            context.extend([group.to_owned(), i.to_string()]);
            walk(inner, context, visit)?;
            context.truncate(context.len() - 2);
        }
    }
    for word in ["items", "not", "additionalProperties"] {
        context.push(word.to_owned());
        walk(&schema[word], context, visit)?;
        context.pop();
    }
    Ok(())
}
