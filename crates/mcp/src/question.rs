//! What a server asks whoever uses it, while a call runs.

use std::pin::Pin;

use serde_json::{Map, Value};

/// A future on the heap, which may move between threads.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a server asks (an elicitation).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The server's name.
    pub server: String,
    /// What it asks.
    pub text: String,
    /// A JSON Schema of what it wants to know.
    pub schema: Value,
}

/// Answers the questions of servers.
pub trait Respondent: Send + Sync {
    /// The values that answer a question; none declines.
    fn answer(&self, question: Question) -> Boxed<'_, Option<Value>>;
}

/// The defaults that a schema declares; none, if it declares none, or if something is required
/// that has no default.
pub(crate) fn defaults(schema: &Value) -> Option<Value> {
    let properties = schema.get("properties")?.as_object()?;
    let default = |(name, property): (&String, &Value)| {
        property.get("default").map(|value| (name.clone(), value.clone()))
    };
    let values: Map<String, Value> = properties.iter().filter_map(default).collect();
    let required = schema.get("required").and_then(Value::as_array);
    let mut required = required.into_iter().flatten().filter_map(Value::as_str);
    let is_enough = !values.is_empty() && required.all(|name| values.contains_key(name));
    is_enough.then_some(Value::Object(values))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::defaults;

    #[test]
    fn what_has_defaults_is_answered_with_them() {
        let properties = json!({"name": {"default": "A"}, "age": {"default": 3}, "note": {}});
        let schema = json!({"properties": properties, "required": ["name"]});
        assert_eq!(defaults(&schema), Some(json!({"name": "A", "age": 3})));
    }

    #[test]
    fn what_must_be_known_and_has_no_default_is_not_made_up() {
        let schema = json!({"properties": {"a": {"default": 1}, "b": {}}, "required": ["b"]});
        assert_eq!(defaults(&schema), None);
        assert_eq!(defaults(&json!({"properties": {"b": {}}})), None);
        assert_eq!(defaults(&json!({"properties": {}})), None);
    }
}
