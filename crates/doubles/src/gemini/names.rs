//! Google takes names as `camelCase` and as `snake_case`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// What holds names that are not Google's.
const FOREIGN: [&str; 6] =
    ["args", "response", "parametersJsonSchema", "responseJsonSchema", "labels", "partMetadata"];

/// A body with all of Google's names in camel case.
pub(super) fn camel(value: Value) -> Value {
    match value {
        Value::Array(list) => list.into_iter().map(camel).collect(),
        Value::Object(fields) => {
            // Of a field in both spellings, Google's own counts.
            let own: BTreeSet<String> = fields.keys().cloned().collect();
            let is_double = |name: &str| renamed(name) != name && own.contains(&renamed(name));
            let fields = fields.into_iter().filter(|(name, _)| !is_double(name));
            let renamed = fields.map(|(name, value)| {
                let name = renamed(&name);
                let value = match name.as_str() {
                    // The names of properties are the user's.
                    "properties" => properties(value),
                    foreign if FOREIGN.contains(&foreign) => value,
                    _ => camel(value),
                };
                (name, value)
            });
            Value::Object(renamed.collect())
        }
        other => other,
    }
}

fn properties(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let inner = fields.into_iter().map(|(name, value)| (name, camel(value)));
            Value::Object(inner.collect::<Map<_, _>>())
        }
        other => other,
    }
}

fn renamed(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}
