//! A tool that a model may call.

use std::sync::Arc;

use crate::{Extra, Json, ToolName};

/// The description of a tool, as a model is told it.
///
/// ```
/// use interleaf_model::Tool;
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
/// let tool = Tool::new("read_file", "Reads a file.", schema);
/// assert_eq!(tool.name.as_str(), "read_file");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: ToolName,
    /// What it does.
    pub description: Option<Arc<str>>,
    /// A JSON Schema of its arguments; none means that it takes none.
    pub parameters: Option<Json>,
    /// Whether the model is held to the schema, where that was said.
    pub strict: Option<bool>,
    /// What a vendor attached to it.
    pub extra: Extra,
}

impl Tool {
    /// A tool with a JSON Schema of its arguments.
    pub fn new(
        name: impl Into<ToolName>,
        description: impl Into<Arc<str>>,
        schema: impl Into<Json>,
    ) -> Self {
        Self {
            name: name.into(),
            description: Some(description.into()),
            parameters: Some(schema.into()),
            strict: None,
            extra: Extra::NONE,
        }
    }

    /// A tool whose arguments have the form of a Rust type, which
    /// [`Arguments::parse`](crate::Arguments::parse) reads back.
    ///
    /// ```
    /// use interleaf_model::Tool;
    /// use schemars::JsonSchema;
    ///
    /// #[derive(JsonSchema)]
    /// struct ReadFile {
    ///     /// Where it is.
    ///     path: String,
    /// }
    ///
    /// let tool = Tool::of::<ReadFile>("read_file", "Reads a file.");
    /// assert!(tool.parameters.unwrap().as_str().contains("Where it is."));
    /// ```
    #[cfg(feature = "schemars")]
    pub fn of<T: schemars::JsonSchema>(
        name: impl Into<ToolName>,
        description: impl Into<Arc<str>>,
    ) -> Self {
        let settings = schemars::generate::SchemaSettings::draft2020_12();
        let settings = settings.with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        let mut schema = settings.into_generator().into_root_schema_for::<T>();
        // The type's name tells a model nothing.
        schema.remove("title");
        Self::new(name, description, serde_json::Value::from(schema))
    }

    /// The same tool, with the model held to its schema.
    pub fn strict(mut self) -> Self {
        self.strict = Some(true);
        self
    }
}
