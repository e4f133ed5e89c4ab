//! The part of JSON Schema that OpenAI can hold a model to: strict tools and strict
//! answers, in both of its families.

use std::collections::HashSet;

use crate::tree::{Map, Value, step};

/// The most properties in a schema.
const MOST_PROPERTIES: usize = 5_000;
/// The most levels of objects and lists.
const MOST_LEVELS: usize = 10;
/// The most enum values in a schema.
const MOST_ENUM_VALUES: usize = 1_000;
/// The most characters over the names of properties and definitions and the values
/// of enums and consts.
const MOST_CHARACTERS: usize = 120_000;
/// One text enum with more values than this may have at most this many characters in all.
const LARGE_ENUM: (usize, usize) = (250, 15_000);

const UNSUPPORTED: [&str; 10] = [
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "unevaluatedProperties",
];

const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// What strict mode refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The root is no object, or a choice.
    Root,
    /// A keyword or a format that is not supported.
    Keyword,
    /// An object that takes further properties.
    Open,
    /// An object with an optional property.
    Optional,
    /// More of something than is allowed.
    Size,
}

/// Where a schema is refused, as a JSON pointer, and what for.
pub(crate) struct Fault {
    pub(crate) refused: Refused,
    pub(crate) place: String,
    pub(crate) detail: String,
}

/// Everything in a schema that strict mode refuses, in the order of the places.
pub(crate) fn faults(schema: &Value) -> Vec<Fault> {
    let mut walker = Walker::default();
    if schema.get("anyOf").is_some() {
        walker.add(Refused::Root, "", "the root may not be `anyOf`");
    } else if !schema.as_object().is_some_and(|fields| has_type(fields, "object")) {
        walker.add(Refused::Root, "", "the root must be of type object");
    }
    walker.walk(schema, "", 0);
    if let Some(detail) = walker.excess() {
        walker.add(Refused::Size, "", detail);
    }
    walker.faults
}

/// The first of them.
pub(crate) fn fault(schema: &Value) -> Option<Fault> {
    faults(schema).into_iter().next()
}

#[derive(Default)]
struct Walker {
    faults: Vec<Fault>,
    properties: usize,
    levels: usize,
    enum_values: usize,
    characters: usize,
    large_enum: bool,
}

impl Walker {
    fn add(&mut self, refused: Refused, place: &str, detail: impl Into<String>) {
        self.faults.push(Fault { refused, place: place.to_owned(), detail: detail.into() });
    }

    fn walk(&mut self, schema: &Value, place: &str, level: usize) {
        let Value::Object(fields) = schema else { return };
        self.levels = self.levels.max(level);
        // Deeper than this nothing is worth knowing.
        if level > MOST_LEVELS {
            return;
        }
        for keyword in UNSUPPORTED.into_iter().filter(|keyword| fields.contains_key(keyword)) {
            let detail = format!("`{keyword}` is not supported");
            self.add(Refused::Keyword, &format!("{place}/{keyword}"), detail);
        }
        if let Some(Value::String(format)) = fields.get("format")
            && !FORMATS.contains(&&**format)
        {
            let detail = format!("the format {format:?} is not supported");
            self.add(Refused::Keyword, &format!("{place}/format"), detail);
        }
        // What they hold must be said, and "anything" is no type.
        let is_open = |items: &Value| items.as_object().is_none_or(Map::is_empty);
        if has_type(fields, "array") && fields.get("items").is_none_or(is_open) {
            let detail = "`items` must say what the array holds";
            self.add(Refused::Keyword, place, detail);
        }
        self.count_values(fields);
        if has_type(fields, "object") || fields.contains_key("properties") {
            self.check_object(fields, place);
        }
        self.walk_inner(fields, place, level);
    }

    fn walk_inner(&mut self, fields: &Map, place: &str, level: usize) {
        for name in ["properties", "$defs", "definitions"] {
            if let Some(Value::Object(inner)) = fields.get(name) {
                // A definition starts anew wherever it is used.
                let level = if name == "properties" { level + 1 } else { 0 };
                for (key, schema) in inner {
                    self.characters += key.chars().count();
                    self.properties += usize::from(name == "properties");
                    self.walk(schema, &format!("{place}/{name}/{}", step(key)), level);
                }
            }
        }
        if let Some(items) = fields.get("items") {
            self.walk(items, &format!("{place}/items"), level + 1);
        }
        for name in ["anyOf", "prefixItems"] {
            if let Some(Value::Array(schemas)) = fields.get(name) {
                for (i, schema) in schemas.iter().enumerate() {
                    self.walk(schema, &format!("{place}/{name}/{i}"), level);
                }
            }
        }
    }

    fn check_object(&mut self, fields: &Map, place: &str) {
        if fields.get("additionalProperties") != Some(&Value::Bool(false)) {
            self.add(Refused::Open, place, "`additionalProperties` must be false");
        }
        let Some(Value::Object(properties)) = fields.get("properties") else { return };
        let required: HashSet<&str> = match fields.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => HashSet::new(),
        };
        let names = properties.keys();
        let missing: Vec<&str> = names.filter(|name| !required.contains(name)).collect();
        if !missing.is_empty() {
            let detail =
                format!("`required` must name every property, but lacks {}", missing.join(", "));
            self.add(Refused::Optional, place, detail);
        }
    }

    fn count_values(&mut self, fields: &Map) {
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
        match limits.into_iter().find(|(_, count, most)| count > most) {
            Some((what, count, most)) => Some(format!("{count} {what}, at most {most}")),
            None if self.large_enum => Some("an enum of too many characters".to_owned()),
            None => None,
        }
    }
}

fn has_type(fields: &Map, wanted: &str) -> bool {
    match fields.get("type") {
        Some(Value::String(kind)) => kind == wanted,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
        _ => false,
    }
}
