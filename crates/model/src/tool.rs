//! A tool that a model may call.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Json, ToolName};

/// The description of a tool, as a model is told it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name.
    pub name: ToolName,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
    /// A JSON Schema of its arguments; none means that it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Json>,
}
