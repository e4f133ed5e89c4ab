//! The form that an answer must have.

use interleaf_model::Json;
use serde_json::{Value, json};

/// The form that an answer must have.
///
/// ```
/// use interleaf_wire::{Options, ResponseFormat};
/// use interleaf_model::Json;
///
/// let schema = Json::parse(r#"{"type": "object", "properties": {"city": {"type": "string"}}}"#)?;
/// let mut options = Options::model("gpt-5");
/// options.response_format = Some(ResponseFormat::schema("place", &schema, false));
/// # Ok::<(), interleaf_model::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseFormat(
    /// What is known, and beside it what only the API knows that it was read from.
    Json,
);

impl ResponseFormat {
    /// Any text: what is asked for where nothing is said.
    pub fn text() -> Self {
        Self(Json::from(&json!({"type": "text"})))
    }

    /// Some JSON object.
    pub fn json_object() -> Self {
        Self(Json::from(&json!({"type": "json_object"})))
    }

    /// JSON by this schema, under a name; a strict one holds the model to it.
    pub fn schema(name: &str, schema: &Json, strict: bool) -> Self {
        let (name, schema) = (Value::from(name), schema.as_str());
        let text = format!(
            r#"{{"type":"json_schema","json_schema":{{"name":{name},"schema":{schema},"strict":{strict}}}}}"#
        );
        // All three are JSON.
        Json::parse(text).map_or_else(|_| Self::json_object(), Self)
    }

    /// Takes what stands in a body's `response_format`, as it stands there: for forms that
    /// have no word of ours.
    pub fn from_json(json: Json) -> Self {
        Self(json)
    }

    /// What [`from_json`](Self::from_json) takes.
    pub fn as_json(&self) -> &Json {
        &self.0
    }
}
