//! How much a schema makes of one value: in how many ways it is to be held against it.
//!
//! `anyOf` of two references to an `anyOf` of two references … doubles with every level.
//! A validator walks through all of it, and an error tells all of it.

use std::collections::HashMap;

use serde_json::Value;

use super::kinds::target;

/// The most subschemas that one value may be held against.
pub(super) const MOST: u64 = 10_000;
/// The most references and alternatives inside each other.
const DEEPEST: usize = 256;

/// The most subschemas that any one value is held against; the count stops growing where
/// numbers end.
pub(super) fn fan_out(schema: &Value) -> u64 {
    let mut count = Count { root: schema, known: HashMap::new() };
    let mut most = 0;
    let mut waiting = vec![schema];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(fields) => {
                most = most.max(count.of(value, 0));
                waiting.extend(fields.values());
            }
            Value::Array(items) => waiting.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    most
}

struct Count<'s> {
    root: &'s Value,
    /// By the place of the subschema in memory. None while it is being counted: a circle
    /// adds nothing.
    known: HashMap<*const Value, Option<u64>>,
}

impl<'s> Count<'s> {
    fn of(&mut self, schema: &'s Value, depth: usize) -> u64 {
        let Value::Object(fields) = schema else { return 1 };
        if depth > DEEPEST {
            return u64::MAX;
        }
        let place: *const Value = schema;
        if let Some(known) = self.known.get(&place) {
            return known.unwrap_or(0);
        }
        self.known.insert(place, None);
        let mut sum: u64 = 1;
        let root = self.root;
        for (keyword, value) in fields {
            let mut add = |own: &'s Value| sum = sum.saturating_add(self.of(own, depth + 1));
            match (keyword.as_str(), value) {
                ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => list.iter().for_each(add),
                ("not" | "if" | "then" | "else", own) => add(own),
                ("dependentSchemas" | "dependencies", Value::Object(own)) => {
                    own.values().for_each(add);
                }
                ("$ref" | "$dynamicRef", reference) => {
                    if let Some(own) = target(reference, root) {
                        add(own);
                    }
                }
                _ => {}
            }
        }
        self.known.insert(place, Some(sum));
        sum
    }
}
