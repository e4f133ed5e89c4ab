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

impl Tool {
    /// The same tool with descriptions, its own and those of its parameters, of at most about
    /// this many bytes; none, if no description is longer.
    ///
    /// ```
    /// use interleaf_model::Tool;
    /// use serde_json::json;
    ///
    /// let path = json!({"type": "string", "description": "Where it is, from the root."});
    /// let schema = json!({"type": "object", "properties": {"path": path}});
    /// let short = Tool::new("read_file", "Reads.", schema).abridged(12).unwrap();
    /// let schema = r#"{"type":"object","properties":{"path":{"type":"string","description":"Where it is,…"}}}"#;
    /// assert_eq!(short.parameters.unwrap().as_str(), schema);
    /// assert_eq!(short.description.as_deref(), Some("Reads."));
    /// ```
    pub fn abridged(&self, longest: usize) -> Option<Self> {
        let description = self.description.as_deref().and_then(|text| short(text, longest));
        let mut schema = self.parameters.as_ref().filter(|schema| schema.is_readable());
        let parameters = schema.take().and_then(|schema| {
            let mut value = schema.to_value();
            abridge(&mut value, longest).then(|| Json::from(value))
        });
        if description.is_none() && parameters.is_none() {
            return None;
        }
        Some(Self {
            description: description.map(Arc::from).or_else(|| self.description.clone()),
            parameters: parameters.or_else(|| self.parameters.clone()),
            ..self.clone()
        })
    }
}

/// The beginning of a text that is longer.
fn short(text: &str, longest: usize) -> Option<String> {
    let end = text.floor_char_boundary(longest);
    let short = format!("{}…", text[..end].trim_end());
    (short.len() < text.len()).then_some(short)
}

/// Abridges the descriptions in a schema; whether there were any that are long.
fn abridge(schema: &mut serde_json::Value, longest: usize) -> bool {
    use serde_json::Value;
    // What stands under these is data, not a schema.
    const DATA: [&str; 4] = ["enum", "const", "default", "examples"];
    match schema {
        Value::Object(members) => {
            let mut is_shorter = false;
            for (name, value) in members {
                match value {
                    Value::String(text) if name == "description" => {
                        if let Some(short) = short(text, longest) {
                            *text = short;
                            is_shorter = true;
                        }
                    }
                    _ if DATA.contains(&name.as_str()) => {}
                    _ => is_shorter |= abridge(value, longest),
                }
            }
            is_shorter
        }
        Value::Array(items) => {
            items.iter_mut().fold(false, |any, item| abridge(item, longest) | any)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
