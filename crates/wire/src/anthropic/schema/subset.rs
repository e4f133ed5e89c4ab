//! The subset of JSON Schema that the API can hold a model to.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::DEEPEST;
use crate::raw::{Fields, ObjectText, is_list, is_object, list, text};
use crate::tree::{Map, Value, step};

/// What the API counts over all strict schemas of a request.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::anthropic) struct Tally {
    pub(in crate::anthropic) optional: usize,
    pub(in crate::anthropic) unions: usize,
}

impl Tally {
    /// Whether the API can still compile that much.
    pub(in crate::anthropic) fn is_allowed(self) -> bool {
        const MOST_OPTIONAL: usize = 24;
        const MOST_UNIONS: usize = 16;
        self.optional <= MOST_OPTIONAL && self.unions <= MOST_UNIONS
    }
}

/// Keywords that constrain what is not constrained by a grammar.
const REFUSED: [&str; 9] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
];

/// A schema with more than this is too complex for a grammar.
const MOST_SCHEMAS: usize = 10_000;

const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/// What in a schema is outside of the subset, with pointers below `at`; adds to the
/// tally.
pub(in crate::anthropic) fn faults_of_subset(
    schema: &Value,
    at: &str,
    tally: &mut Tally,
) -> Vec<(String, String)> {
    let mut walk = Walk {
        root: schema,
        open: HashSet::new(),
        tally,
        faults: Vec::new(),
        n_left: MOST_SCHEMAS,
    };
    walk.schema(schema, at, 0);
    walk.faults
}

struct Walk<'a, 'b> {
    root: &'a Value,
    /// The references that are being followed.
    open: HashSet<&'a str>,
    tally: &'b mut Tally,
    faults: Vec<(String, String)>,
    n_left: usize,
}

impl<'a> Walk<'a, '_> {
    fn fault(&mut self, at: &str, text: impl Into<String>) {
        self.faults.push((at.to_owned(), text.into()));
    }

    fn schema(&mut self, schema: &'a Value, at: &str, depth: usize) {
        let Value::Object(fields) = schema else {
            return self.fault(at, "a schema must be an object");
        };
        if depth > DEEPEST || self.n_left == 0 {
            return self.fault(at, "it is too complex");
        }
        self.n_left -= 1;
        for (name, value) in fields {
            let below = format!("{at}/{}", step(name));
            match name {
                name if REFUSED.contains(&name) => {
                    self.fault(&below, format!("{name} is not supported"));
                }
                "minItems" if !matches!(value.as_u64(), Some(0 | 1)) => {
                    self.fault(&below, "minItems must be 0 or 1");
                }
                "format" if !value.as_str().is_some_and(|name| FORMATS.contains(&name)) => {
                    self.fault(&below, "this format is not supported");
                }
                "pattern" if value.as_str().is_none_or(is_refused_pattern) => {
                    self.fault(&below, "this pattern is not supported");
                }
                "$ref" => self.reference(value, &below, depth),
                "properties" => {
                    for (name, property) in value.as_object().into_iter().flatten() {
                        let is_union = property.get("anyOf").is_some()
                            || property.get("type").is_some_and(Value::is_array);
                        self.tally.unions += usize::from(is_union);
                        self.schema(property, &format!("{below}/{name}"), depth + 1);
                    }
                }
                "items" => self.schema(value, &below, depth + 1),
                "anyOf" | "oneOf" | "allOf" => {
                    for (i, branch) in value.as_array().into_iter().flatten().enumerate() {
                        if name == "allOf" && branch.get("$ref").is_some() {
                            self.fault(&format!("{below}/{i}"), "allOf with $ref is not supported");
                        }
                        self.schema(branch, &format!("{below}/{i}"), depth + 1);
                    }
                }
                _ => {}
            }
        }
        self.object(fields, at);
    }

    fn object(&mut self, fields: &Map, at: &str) {
        let is_object = fields.get("type").is_some_and(|kind| kind == "object");
        let properties = fields.get("properties").and_then(Value::as_object);
        if !is_object && properties.is_none() {
            return;
        }
        if fields.get("additionalProperties") != Some(&Value::Bool(false)) {
            self.fault(at, "an object needs additionalProperties: false");
        }
        let required = fields.get("required").and_then(Value::as_array);
        let is_required = |name: &str| {
            required.is_some_and(|names| names.iter().any(|required| required == name))
        };
        let names = properties.into_iter().flat_map(Map::keys);
        self.tally.optional += names.filter(|name| !is_required(name)).count();
    }

    fn reference(&mut self, value: &'a Value, at: &str, depth: usize) {
        let Some(pointer) = value.as_str().and_then(|text| text.strip_prefix('#')) else {
            return self.fault(at, "only references into the schema itself are supported");
        };
        let Some(target) = self.root.pointer(pointer) else {
            return self.fault(at, "nothing is there");
        };
        if !self.open.insert(pointer) || pointer.is_empty() {
            return self.fault(at, "a schema must not contain itself");
        }
        self.schema(target, at, depth + 1);
        self.open.remove(pointer);
    }
}

/// Look-around, back references and word boundaries.
fn is_refused_pattern(pattern: &str) -> bool {
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.next().is_some_and(|c| matches!(c, 'b' | 'B' | 'k' | '1'..='9')) => {
                return true;
            }
            '(' if chars.peek() == Some(&'?') => {
                chars.next();
                if matches!(chars.peek(), Some('=' | '!' | '<')) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// The schema without the constraints that are not supported, its objects closed.
/// References that make it refused all the same are left as they are.
pub(in crate::anthropic) fn restrict(schema: &RawValue) -> String {
    restrict_at(schema, 0)
}

fn restrict_at(schema: &RawValue, depth: usize) -> String {
    let fields = match Fields::read(schema) {
        Ok(fields) if depth <= DEEPEST => fields,
        _ => return schema.get().to_owned(),
    };
    let is_object = fields.peek("type").is_some_and(|kind| kind.get() == r#""object""#)
        || fields.peek("properties").is_some();
    let mut out = ObjectText::default();
    for (name, value) in fields.iter() {
        let is_kept = match name {
            name if REFUSED.contains(&name) => false,
            "minItems" => matches!(value.get(), "0" | "1"),
            "format" => text(value).is_ok_and(|name| FORMATS.contains(&&*name)),
            "pattern" => text(value).is_ok_and(|pattern| !is_refused_pattern(&pattern)),
            "additionalProperties" => !is_object,
            _ => true,
        };
        if is_kept {
            out.push(name, &restrict_field(name, value, depth));
        }
    }
    if is_object {
        out.push("additionalProperties", "false");
    }
    match out.into_json() {
        Ok(Some(json)) => json.as_str().to_owned(),
        _ => schema.get().to_owned(),
    }
}

fn restrict_field(name: &str, value: &RawValue, depth: usize) -> String {
    match name {
        "items" => restrict_at(value, depth + 1),
        "properties" | "$defs" | "definitions" if is_object(value) => {
            let Ok(schemas) = Fields::read(value) else {
                return value.get().to_owned();
            };
            let mut out = ObjectText::default();
            for (name, schema) in schemas.iter() {
                out.push(name, &restrict_at(schema, depth + 1));
            }
            match out.into_json() {
                Ok(Some(json)) => json.as_str().to_owned(),
                _ => "{}".to_owned(),
            }
        }
        "anyOf" | "oneOf" | "allOf" if is_list(value) => {
            let branches = list(value).unwrap_or_default();
            let branches: Vec<String> =
                branches.into_iter().map(|branch| restrict_at(branch, depth + 1)).collect();
            format!("[{}]", branches.join(","))
        }
        _ => value.get().to_owned(),
    }
}
