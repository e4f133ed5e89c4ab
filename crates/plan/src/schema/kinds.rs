//! Which kinds of value a schema lets pass, as far as can be told without a value.

use serde_json::Value;

/// A set of the six JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

/// References may form a circle.
const DEEPEST: usize = 16;

impl Kinds {
    pub(crate) const STRING: Self = Self(1);
    pub(crate) const NUMBER: Self = Self(2);
    pub(crate) const BOOLEAN: Self = Self(4);
    pub(crate) const NULL: Self = Self(8);
    pub(crate) const ARRAY: Self = Self(16);
    pub(crate) const OBJECT: Self = Self(32);
    pub(crate) const ANY: Self = Self(63);

    /// The kind of a value.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::String(_) => Self::STRING,
            Value::Number(_) => Self::NUMBER,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Null => Self::NULL,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// The kinds that a schema lets pass. What it does not say, it allows.
    pub(crate) fn allowed(schema: &Value, root: &Value) -> Self {
        allowed(schema, root, 0)
    }

    pub(crate) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn named(name: &str) -> Self {
        match name {
            "string" => Self::STRING,
            "number" | "integer" => Self::NUMBER,
            "boolean" => Self::BOOLEAN,
            "null" => Self::NULL,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => Self::ANY,
        }
    }
}

fn allowed(schema: &Value, root: &Value, depth: usize) -> Kinds {
    let Value::Object(fields) = schema else { return Kinds::ANY };
    if depth > DEEPEST {
        return Kinds::ANY;
    }
    let union = |list: &Value, each: &dyn Fn(&Value) -> Kinds| {
        let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().map(each).reduce(Kinds::or).unwrap_or(Kinds::ANY)
    };
    let mut kinds = Kinds::ANY;
    for (keyword, value) in fields {
        let own = match keyword.as_str() {
            "type" => match value {
                Value::String(name) => Kinds::named(name),
                list => union(list, &|name| name.as_str().map_or(Kinds::ANY, Kinds::named)),
            },
            "enum" => union(value, &Kinds::of),
            "const" => Kinds::of(value),
            "anyOf" | "oneOf" => union(value, &|schema| allowed(schema, root, depth + 1)),
            "allOf" => {
                let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
                let each = list.iter().map(|schema| allowed(schema, root, depth + 1));
                each.reduce(Kinds::and).unwrap_or(Kinds::ANY)
            }
            "$ref" => target(value, root).map_or(Kinds::ANY, |to| allowed(to, root, depth + 1)),
            _ => continue,
        };
        kinds = kinds.and(own);
    }
    kinds
}

/// The schema that a chain of `$ref`s inside `root` leads to.
pub(crate) fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..DEEPEST {
        match schema.get("$ref").and_then(|reference| target(reference, root)) {
            Some(to) => schema = to,
            None => break,
        }
    }
    schema
}

pub(super) fn target<'a>(reference: &Value, root: &'a Value) -> Option<&'a Value> {
    root.pointer(reference.as_str()?.strip_prefix('#')?)
}

/// Whether a schema uses a word that draft 2020-12 has and draft 7 has not.
pub(crate) fn has_new_words(schema: &Value) -> bool {
    const NEW: [&str; 12] = [
        "$defs",
        "$anchor",
        "$dynamicRef",
        "$dynamicAnchor",
        "$vocabulary",
        "prefixItems",
        "dependentRequired",
        "dependentSchemas",
        "unevaluatedItems",
        "unevaluatedProperties",
        "minContains",
        "maxContains",
    ];
    match schema {
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| NEW.contains(&name.as_str()) || has_new_words(value))
        }
        Value::Array(items) => items.iter().any(has_new_words),
        _ => false,
    }
}
