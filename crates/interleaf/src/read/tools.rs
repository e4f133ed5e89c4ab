//! A list of tools by itself.

use std::sync::Arc;

use interleaf_model::{Opaque, Tool};
use interleaf_wire::{decode_tools, detect};
use serde_json::value::RawValue;

use super::{Fields, unmarked};
use crate::{Error, InputFault, neutral};

/// Tools that were read.
///
/// ```
/// let tools = interleaf::read::Tools::read(
///     r#"[{"name": "ls", "input_schema": {"type": "object"}}]"#,
/// )?;
/// assert_eq!(tools.tools[0].name.as_str(), "ls");
/// # Ok::<(), interleaf::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Tools {
    /// Those that the caller runs.
    pub tools: Arc<[Tool]>,
    /// Those that a vendor runs itself.
    pub hosted: Vec<Opaque>,
}

impl Tools {
    /// Reads a JSON list of tools in any API's form or ours, or the list of an object
    /// with `tools`.
    ///
    /// # Errors
    /// If it is no such list, or a tool of it has no valid form.
    pub fn read(text: &str) -> Result<Self, Error> {
        let text = unmarked(text);
        let json = |e: serde_json::Error| InputFault::json(&e);
        let list = match text.trim_start().starts_with('{') {
            true => {
                let fields: Fields<'_> = serde_json::from_str(text).map_err(json)?;
                let list = fields.get("tools");
                list.ok_or_else(|| InputFault::new("an object needs a field `tools`"))?.get()
            }
            false => text,
        };
        let values: Vec<&RawValue> = serde_json::from_str(list).map_err(json)?;
        let tools = |tools: Vec<Tool>, hosted| Self { tools: tools.into(), hosted };
        match values.first().map(|tool| detect::tool(tool.get())) {
            None => Ok(tools(Vec::new(), Vec::new())),
            Some(None) => Ok(tools(neutral::read_tools(list)?, Vec::new())),
            Some(Some(family)) => {
                let (own, hosted) = decode_tools(family, list)
                    .map_err(|e| InputFault::new(e.message()).at(&e.place().path))?;
                Ok(tools(own, hosted))
            }
        }
    }
}
