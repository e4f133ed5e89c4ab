//! The form that an answer must have.

use interleaf_model::Json;
use smol_str::SmolStr;

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
#[non_exhaustive]
pub enum ResponseFormat {
    /// Any text: what is asked for where nothing is said.
    Text,
    /// Some JSON object.
    Json,
    /// JSON by a schema.
    Schema(AnswerSchema),
}

/// The schema of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswerSchema {
    /// The schema itself.
    pub schema: Json,
    /// What it is called; an API that demands a name is told one.
    pub name: Option<SmolStr>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether the model is held to it. Some APIs always do.
    pub strict: Option<bool>,
}

impl ResponseFormat {
    /// JSON by this schema, under a name; a strict one holds the model to it.
    pub fn schema(name: &str, schema: impl Into<Json>, strict: bool) -> Self {
        let named = AnswerSchema::new(schema);
        Self::Schema(AnswerSchema { name: Some(name.into()), strict: Some(strict), ..named })
    }

    /// The schema, if the answer has one.
    pub fn as_schema(&self) -> Option<&AnswerSchema> {
        match self {
            Self::Schema(schema) => Some(schema),
            Self::Text | Self::Json => None,
        }
    }
}

impl AnswerSchema {
    /// A schema without a name.
    pub fn new(schema: impl Into<Json>) -> Self {
        Self { schema: schema.into(), name: None, description: None, strict: None }
    }

    /// Its name where an API demands one.
    pub(crate) fn name_or_default(&self) -> &str {
        self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("answer")
    }
}
