//! Schemas that a vendor would refuse, made such that it does not.

use interleaf_model::Json;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::raw::{Fields, ObjectText, is_object};

/// Takes no arguments.
const EMPTY: &str = r#"{"type":"object","properties":{}}"#;

/// A schema of a definition that contains itself is cut here.
const MOST_EXPANSIONS: usize = 8;

/// Whether a schema describes an object, as the arguments of a function must be.
pub(super) fn describes_object(schema: &Json) -> bool {
    let raw: Option<&RawValue> = serde_json::from_str(schema.as_str()).ok();
    let fields = raw.filter(|raw| is_object(raw)).and_then(|raw| Fields::read(raw).ok());
    fields.is_some_and(|fields| fields.peek("type").is_none_or(|kind| kind.get() == r#""object""#))
}

/// The schema with a type, if it names none.
pub(super) fn typed(schema: &Json) -> Option<Json> {
    let fields = Fields::read(schema.as_raw()).ok()?;
    if fields.peek("type").is_some() {
        return None;
    }
    let mut typed = ObjectText::default();
    typed.push("type", r#""object""#);
    fields.iter().for_each(|(name, value)| typed.push(name, value.get()));
    typed.into_json().ok().flatten()
}

/// The schema of a function that takes no arguments.
pub(super) fn empty() -> Option<Json> {
    Json::parse(EMPTY).ok()
}

/// The schema with every definition in the place where it is used, if it has any.
pub(super) fn inlined(schema: &Json) -> Option<Json> {
    if !schema.as_str().contains("\"$ref\"") {
        return None;
    }
    let root = schema.to_value();
    let mut inlined = expand(&root, &root, 0);
    if let Value::Object(fields) = &mut inlined {
        fields.retain(|name, _| name != "$defs" && name != "definitions");
    }
    Some(Json::from(&inlined))
}

fn expand(value: &Value, root: &Value, depth: usize) -> Value {
    match value {
        Value::Array(list) => list.iter().map(|value| expand(value, root, depth)).collect(),
        Value::Object(fields) => {
            let target = fields.get("$ref").and_then(Value::as_str);
            let mut all = Map::new();
            if let Some(target) = target
                && depth < MOST_EXPANSIONS
                && let Some(found) = target.strip_prefix('#').and_then(|path| root.pointer(path))
                && let Value::Object(found) = expand(found, root, depth + 1)
            {
                all.extend(found);
            }
            for (name, value) in fields.iter().filter(|(name, _)| *name != "$ref") {
                all.insert(name.clone(), expand(value, root, depth));
            }
            Value::Object(all)
        }
        other => other.clone(),
    }
}
