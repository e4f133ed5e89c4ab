//! Google's own words for a schema, which are a part of OpenAPI 3.0, and JSON Schema.

use serde_json::{Map, Value};

use interleaf_model::Json;

use super::wire::snake_case;

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

/// A schema in JSON Schema's words, whichever it was in.
pub(super) fn to_json_schema(schema: &Json) -> Json {
    let before = schema.to_value();
    let mut after = before.clone();
    translate(&mut after);
    if after == before { schema.clone() } else { Json::from(&after) }
}

fn translate(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        return;
    };
    let mut out = Map::with_capacity(fields.len());
    for (name, mut value) in std::mem::take(fields) {
        let known = KEYWORDS.iter().find(|known| name.contains('_') && snake_case(known) == name);
        let name = known.map_or(name, |known| (*known).to_owned());
        match (name.as_str(), &mut value) {
            ("type", Value::String(kind)) => {
                let lower = kind.to_ascii_lowercase();
                if TYPES.contains(&lower.as_str()) {
                    *kind = lower;
                } else if kind == "TYPE_UNSPECIFIED" {
                    continue;
                }
            }
            ("properties" | "$defs" | "defs", Value::Object(all)) => {
                all.values_mut().for_each(translate);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => {
                all.iter_mut().for_each(translate);
            }
            ("items" | "additionalProperties", inner) => translate(inner),
            (count, Value::String(digits)) if COUNTS.contains(&count) => {
                if let Ok(number) = digits.parse::<u64>() {
                    value = Value::from(number);
                }
            }
            _ => {}
        }
        out.insert(name, value);
    }
    allow_null(&mut out);
    *fields = out;
}

/// `nullable` in JSON Schema's words.
fn allow_null(fields: &mut Map<String, Value>) {
    match fields.get("nullable") {
        Some(Value::Bool(true)) => {}
        Some(Value::Bool(false)) => {
            fields.shift_remove("nullable");
            return;
        }
        _ => return,
    }
    if let Some(kind @ Value::String(_)) = fields.get_mut("type") {
        *kind = Value::from(vec![kind.take(), Value::from("null")]);
        if let Some(Value::Array(values)) = fields.get_mut("enum") {
            values.push(Value::Null);
        }
    } else if let Some(Value::Array(all)) = fields.get_mut("anyOf") {
        all.push(Value::Object(Map::from_iter([("type".to_owned(), Value::from("null"))])));
    } else {
        return;
    }
    fields.shift_remove("nullable");
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
        let place = format!("{at}/{}", escape(name));
        let known = KEYWORDS.iter().find(|known| **known == name || snake_case(known) == *name);
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
                    let place = format!("{place}/{}", escape(name));
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
    let value = object.get(camel).or_else(|| object.get(snake_case(camel)));
    value.filter(|value| !value.is_null())
}

/// A name as a step of a JSON pointer.
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
