//! Google's own words for a schema, which are a part of OpenAPI 3.0, and JSON Schema.

mod translate;

use super::wire::snake_case;
use crate::tree::{Value, step};

pub(super) use self::translate::to_json_schema;

/// The keywords of Google's words.
const KEYWORDS: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
];

/// Keywords whose value is a count, which Google also takes as a string.
const COUNTS: &[&str] =
    &["maxItems", "minItems", "minProperties", "maxProperties", "minLength", "maxLength"];

const TYPES: &[&str] = &["string", "number", "integer", "boolean", "array", "object", "null"];

/// What is wrong with a schema in Google's words.
pub(super) enum Wrong {
    /// A keyword that is not one of Google's.
    Keyword,
    /// A type that is not one of Google's, or a list of types.
    Type,
    /// A value that is no string.
    Enum,
    /// A parameter's name.
    Parameter,
}

/// Whether a schema is written in Google's words rather than in JSON Schema's.
pub(super) fn is_googles(schema: &Value) -> bool {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    !kind.is_empty() && kind.chars().all(|c| c.is_ascii_uppercase())
}

/// Whether a schema in Google's words can be sent as it is. One without properties is
/// refused by older servers.
pub(super) fn is_sound(schema: &Value) -> bool {
    let mut is_sound =
        get(schema, "properties").and_then(Value::as_object).is_some_and(|p| !p.is_empty());
    check(schema, "", true, &mut |_, _, _| is_sound = false);
    is_sound
}

/// Finds what is wrong with a schema in Google's words; `found` gets what, where and
/// the particulars. Names are checked where the properties are `parameters`.
pub(super) fn check(
    schema: &Value,
    at: &str,
    parameters: bool,
    found: &mut dyn FnMut(Wrong, String, String),
) {
    let Value::Object(fields) = schema else {
        return;
    };
    for (name, value) in fields {
        let place = format!("{at}/{}", step(name));
        let known = KEYWORDS.iter().find(|known| **known == name || snake_case(known) == name);
        match (known.copied(), value) {
            (None, _) => found(Wrong::Keyword, place, format!("unknown name {name:?}")),
            (Some("type"), value) => {
                let kind = value.as_str().map(str::to_ascii_lowercase);
                if !kind.is_some_and(|kind| {
                    TYPES.contains(&kind.as_str()) || kind == "type_unspecified"
                }) {
                    found(Wrong::Type, place, value.to_string());
                }
            }
            (Some("enum"), Value::Array(values)) => {
                for (i, value) in values.iter().enumerate().filter(|(_, value)| !value.is_string())
                {
                    found(Wrong::Enum, format!("{place}/{i}"), value.to_string());
                }
            }
            (Some("properties"), Value::Object(all)) => {
                for (name, inner) in all {
                    let place = format!("{place}/{}", step(name));
                    if parameters && !is_parameter(name) {
                        found(Wrong::Parameter, place.clone(), format!("{name:?}"));
                    }
                    check(inner, &place, parameters, found);
                }
            }
            (Some("anyOf"), Value::Array(all)) => {
                for (i, inner) in all.iter().enumerate() {
                    check(inner, &format!("{place}/{i}"), parameters, found);
                }
            }
            (Some("items"), inner) => check(inner, &place, parameters, found),
            _ => {}
        }
    }
}

/// Whether a parameter may have this name.
fn is_parameter(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A field, in either spelling.
pub(super) fn get<'v>(object: &'v Value, camel: &str) -> Option<&'v Value> {
    let value = object.get(camel).or_else(|| object.get(&snake_case(camel)));
    value.filter(|value| !value.is_null())
}
