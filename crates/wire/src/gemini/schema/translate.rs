//! From Google's words to JSON Schema's.

use interleaf_model::Json;
use serde_json::{Map, Value};

use super::{COUNTS, KEYWORDS, TYPES};
use crate::gemini::wire::snake_case;

/// A schema in JSON Schema's words, whichever it was in.
pub(in crate::gemini) fn to_json_schema(schema: &Json) -> Json {
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
