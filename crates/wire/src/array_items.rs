//! Arrays in a schema that do not say what they hold, which OpenAI refuses.

use interleaf_model::Json;
use serde_json::{Map, Value};

use crate::tree;

/// Keywords whose value is a schema.
const SCHEMA: [&str; 4] = ["items", "additionalProperties", "not", "contains"];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// Keywords whose value is an object of schemas.
const OBJECTS: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

/// Where a schema has such an array, as JSON pointers.
pub(crate) fn missing(schema: &tree::Value) -> Vec<String> {
    let mut places = Vec::new();
    let mut found = serde_json::to_value(schema).unwrap_or_default();
    walk(&mut found, "", &mut |_, place| places.push(place.to_owned()));
    places
}

/// The schema with arrays that may hold anything in their place, if there are any.
pub(crate) fn added(schema: &Json) -> Option<Json> {
    let (mut value, mut is_changed) = (schema.to_value(), false);
    walk(&mut value, "", &mut |fields, _| {
        fields.insert("items".to_owned(), Value::Object(Map::new()));
        is_changed = true;
    });
    is_changed.then(|| Json::from(&value))
}

fn walk(schema: &mut Value, place: &str, found: &mut dyn FnMut(&mut Map<String, Value>, &str)) {
    let Value::Object(fields) = schema else { return };
    if is_array(fields) && !fields.contains_key("items") {
        found(fields, place);
    }
    for (name, value) in fields {
        let at = || format!("{place}/{name}");
        match value {
            Value::Object(_) if SCHEMA.contains(&name.as_str()) => walk(value, &at(), found),
            Value::Object(inner) if OBJECTS.contains(&name.as_str()) => {
                for (key, schema) in inner {
                    walk(schema, &format!("{}/{}", at(), tree::step(key)), found);
                }
            }
            Value::Array(list) if LISTS.contains(&name.as_str()) => {
                for (i, schema) in list.iter_mut().enumerate() {
                    walk(schema, &format!("{}/{i}", at()), found);
                }
            }
            _ => {}
        }
    }
}

fn is_array(fields: &Map<String, Value>) -> bool {
    match fields.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        _ => false,
    }
}
