//! The schemas that OpenAI can hold a model to.

use std::collections::HashSet;

use serde_json::{Map, Value};

const MOST_PROPERTIES: usize = 5_000;
const MOST_LEVELS: usize = 10;
const MOST_CHARACTERS: usize = 120_000;
const MOST_ENUM_VALUES: usize = 1_000;
/// One list of more texts than this may not be too long altogether.
const LONG_ENUM: usize = 250;
const MOST_LONG_ENUM_CHARACTERS: usize = 15_000;

const UNSUPPORTED: [&str; 10] = [
    "allOf",
    "oneOf",
    "not",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "then",
    "else",
    "patternProperties",
    "unevaluatedProperties",
];

const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// The first thing in a schema that strict mode refuses: where, as a JSON pointer,
/// and what.
pub(crate) fn fault(schema: &Value) -> Option<(String, String)> {
    let at_root = |what: &str| Some((String::new(), what.to_owned()));
    let Value::Object(root) = schema else {
        return at_root("the schema must be an object");
    };
    if root.contains_key("anyOf") {
        return at_root("the root may not be `anyOf`");
    }
    if root.get("type").is_none_or(|kind| kind != "object") {
        return at_root("the root must be of type object");
    }
    let mut sums = Sums::default();
    if let Err(found) = walk(schema, "", 1, &mut sums) {
        return Some(found);
    }
    if sums.properties > MOST_PROPERTIES {
        return at_root(&format!("more than {MOST_PROPERTIES} properties"));
    }
    if sums.characters > MOST_CHARACTERS {
        return at_root(&format!("names and values of more than {MOST_CHARACTERS} characters"));
    }
    if sums.enum_values > MOST_ENUM_VALUES {
        return at_root(&format!("more than {MOST_ENUM_VALUES} enum values"));
    }
    None
}

#[derive(Default)]
struct Sums {
    properties: usize,
    characters: usize,
    enum_values: usize,
}

type Found = (String, String);

fn walk(schema: &Value, at: &str, level: usize, sums: &mut Sums) -> Result<(), Found> {
    let Value::Object(fields) = schema else {
        return Ok(());
    };
    if let Some(name) = UNSUPPORTED.into_iter().find(|&name| fields.contains_key(name)) {
        return Err((format!("{at}/{name}"), format!("`{name}` is not supported")));
    }
    if let Some(Value::String(format)) = fields.get("format")
        && !FORMATS.contains(&&**format)
    {
        return Err((format!("{at}/format"), format!("the format {format:?} is not supported")));
    }
    count_values(fields, at, sums)?;
    let is_object = has_type(fields, "object") || fields.contains_key("properties");
    let inner = if is_object {
        if level > MOST_LEVELS {
            return Err((at.to_owned(), format!("more than {MOST_LEVELS} levels of nesting")));
        }
        check_object(fields, at, sums)?;
        level + 1
    } else {
        level
    };
    for name in ["properties", "$defs", "definitions"] {
        if let Some(Value::Object(schemas)) = fields.get(name) {
            // A definition starts anew wherever it is used.
            let level = if name == "properties" { inner } else { 1 };
            for (key, schema) in schemas {
                walk(schema, &format!("{at}/{name}/{}", escaped(key)), level, sums)?;
            }
        }
    }
    if let Some(items) = fields.get("items") {
        walk(items, &format!("{at}/items"), inner, sums)?;
    }
    for name in ["anyOf", "prefixItems"] {
        if let Some(Value::Array(schemas)) = fields.get(name) {
            for (i, schema) in schemas.iter().enumerate() {
                walk(schema, &format!("{at}/{name}/{i}"), inner, sums)?;
            }
        }
    }
    Ok(())
}

fn check_object(fields: &Map<String, Value>, at: &str, sums: &mut Sums) -> Result<(), Found> {
    if fields.get("additionalProperties") != Some(&Value::Bool(false)) {
        let what = "`additionalProperties` must be false";
        return Err((format!("{at}/additionalProperties"), what.to_owned()));
    }
    let Some(Value::Object(properties)) = fields.get("properties") else {
        return Ok(());
    };
    sums.properties += properties.len();
    sums.characters += properties.keys().map(|name| name.chars().count()).sum::<usize>();
    let required: HashSet<&str> = match fields.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => HashSet::new(),
    };
    match properties.keys().find(|name| !required.contains(name.as_str())) {
        Some(name) => {
            let what = format!("`required` must name every property, and misses {name:?}");
            Err((format!("{at}/required"), what))
        }
        None => Ok(()),
    }
}

fn count_values(fields: &Map<String, Value>, at: &str, sums: &mut Sums) -> Result<(), Found> {
    let length = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
    sums.characters += fields.get("const").map_or(0, length);
    let Some(Value::Array(values)) = fields.get("enum") else {
        return Ok(());
    };
    let characters = values.iter().map(length).sum::<usize>();
    sums.characters += characters;
    sums.enum_values += values.len();
    if values.len() > LONG_ENUM && characters > MOST_LONG_ENUM_CHARACTERS {
        let what = format!("its values have more than {MOST_LONG_ENUM_CHARACTERS} characters");
        return Err((format!("{at}/enum"), what));
    }
    Ok(())
}

fn has_type(fields: &Map<String, Value>, wanted: &str) -> bool {
    match fields.get("type") {
        Some(Value::String(kind)) => kind == wanted,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
        _ => false,
    }
}

/// A name in a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
