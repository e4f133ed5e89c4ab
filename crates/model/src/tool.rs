//! A tool that a model may call.

use std::sync::Arc;

use crate::{Extra, Json, ToolName};

/// The description of a tool, as a model is told it.
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
