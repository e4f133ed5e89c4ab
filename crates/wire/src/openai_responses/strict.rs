//! The part of JSON Schema that strict tools and strict formats may use.

use serde_json::{Map, Value};

use super::lint::{Report, rules};

/// The most properties in a schema.
const MOST_PROPERTIES: usize = 5_000;
/// The most levels of objects and lists.
const MOST_LEVELS: usize = 10;
/// The most enum values in a schema.
const MOST_ENUM_VALUES: usize = 1_000;
/// The most characters over the names of properties and definitions and the values
/// of enums and consts.
const MOST_CHARACTERS: usize = 120_000;
/// One text enum with more values than this may have at most so many characters.
const LARGE_ENUM: (usize, usize) = (250, 15_000);

const UNSUPPORTED: [&str; 8] =
    ["allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"];

/// Whether a schema may be sent as strict.
pub(super) fn takes(schema: &Value) -> bool {
    let mut is_legal = true;
    check(schema, "", &mut |_, _, _| is_legal = false);
    is_legal
}

pub(super) fn check(schema: &Value, place: &str, report: &mut Report<'_>) {
    if !is_object(schema) || schema.get("anyOf").is_some() {
        report(&rules::STRICT_ROOT, place.into(), String::new());
    }
    let mut size = Size::default();
    walk(schema, place, 0, &mut size, report);
    if let Some(detail) = size.excess() {
        report(&rules::STRICT_SIZE, place.into(), detail);
    }
}

fn is_object(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => false,
    }
}

fn walk(schema: &Value, place: &str, level: usize, size: &mut Size, report: &mut Report<'_>) {
    let Value::Object(fields) = schema else { return };
    size.levels = size.levels.max(level);
    // Deeper than this nothing is worth knowing.
    if level > MOST_LEVELS {
        return;
    }
    for keyword in UNSUPPORTED {
        if fields.contains_key(keyword) {
            report(&rules::STRICT_KEYWORDS, format!("{place}/{keyword}"), String::new());
        }
    }
    size.count_values(fields);
    if is_object(schema) || fields.contains_key("properties") {
        check_object(fields, place, report);
    }
    for name in ["properties", "$defs", "definitions"] {
        if let Some(Value::Object(inner)) = fields.get(name) {
            // Definitions do not nest in one another.
            let level = if name == "properties" { level + 1 } else { 0 };
            for (key, schema) in inner {
                size.characters += key.chars().count();
                size.properties += usize::from(name == "properties");
                walk(schema, &format!("{place}/{name}/{}", escaped(key)), level, size, report);
            }
        }
    }
    if let Some(items) = fields.get("items") {
        walk(items, &format!("{place}/items"), level + 1, size, report);
    }
    for name in ["anyOf", "prefixItems"] {
        if let Some(Value::Array(schemas)) = fields.get(name) {
            for (i, schema) in schemas.iter().enumerate() {
                walk(schema, &format!("{place}/{name}/{i}"), level, size, report);
            }
        }
    }
}

fn check_object(fields: &Map<String, Value>, place: &str, report: &mut Report<'_>) {
    if fields.get("additionalProperties") != Some(&Value::Bool(false)) {
        report(&rules::STRICT_CLOSED, place.into(), String::new());
    }
    let Some(Value::Object(properties)) = fields.get("properties") else { return };
    let required = fields.get("required").and_then(Value::as_array);
    let is_required =
        |name: &String| required.is_some_and(|names| names.iter().any(|other| other == name));
    let missing: Vec<&str> =
        properties.keys().filter(|name| !is_required(name)).map(String::as_str).collect();
    if !missing.is_empty() {
        let detail = format!("missing: {}", missing.join(", "));
        report(&rules::STRICT_REQUIRED, place.into(), detail);
    }
}

/// The parts of a JSON pointer have two characters to escape.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[derive(Default)]
struct Size {
    properties: usize,
    levels: usize,
    enum_values: usize,
    characters: usize,
    large_enum: bool,
}

impl Size {
    fn count_values(&mut self, fields: &Map<String, Value>) {
        let length = |value: &Value| match value {
            Value::String(text) => text.chars().count(),
            other => other.to_string().len(),
        };
        if let Some(Value::Array(values)) = fields.get("enum") {
            let characters: usize = values.iter().map(length).sum();
            self.enum_values += values.len();
            self.characters += characters;
            self.large_enum |= values.len() > LARGE_ENUM.0 && characters > LARGE_ENUM.1;
        }
        self.characters += fields.get("const").map_or(0, length);
    }

    fn excess(&self) -> Option<String> {
        let limits = [
            ("properties", self.properties, MOST_PROPERTIES),
            ("levels", self.levels, MOST_LEVELS),
            ("enum values", self.enum_values, MOST_ENUM_VALUES),
            ("characters", self.characters, MOST_CHARACTERS),
        ];
        let over = limits.into_iter().find(|(_, count, most)| count > most);
        match over {
            Some((what, count, most)) => Some(format!("{count} {what}, at most {most}")),
            None if self.large_enum => Some("an enum of too many characters".to_owned()),
            None => None,
        }
    }
}
