//! A list of tools in a file.

use std::path::Path;
use std::sync::Arc;

use interleaf::model::{Opaque, Tool};
use interleaf::wire::{Family, decode_request};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::arguments::ByteCount;
use crate::detect;
use crate::failure::Failure;
use crate::input::Input;
use crate::neutral;

/// The tools of a file.
pub(crate) struct ToolsFile {
    pub(crate) tools: Arc<[Tool]>,
    /// Those that a vendor runs itself.
    pub(crate) hosted: Vec<Opaque>,
}

/// A body may be given in place of the list.
#[derive(Deserialize)]
struct WithTools<'a> {
    #[serde(borrow)]
    tools: &'a RawValue,
}

impl ToolsFile {
    /// Reads a JSON list of tools, or the list of an object with `tools`.
    pub(crate) fn read(path: &Path, limit: ByteCount) -> Result<Self, Failure> {
        let file = Input::read_any(path, limit)?;
        let json = |e: serde_json::Error| Failure::json(&file.name, &e);
        let list = match file.text.trim_start().starts_with('{') {
            true => serde_json::from_str::<WithTools<'_>>(&file.text).map_err(json)?.tools.get(),
            false => &file.text,
        };
        let values: Vec<Value> = serde_json::from_str(list).map_err(json)?;
        match values.first().map(detect::tool) {
            None => Ok(Self { tools: Arc::new([]), hosted: Vec::new() }),
            Some(None) => {
                let tools = neutral::read_tools(&file.name, list)?;
                Ok(Self { tools: tools.into(), hosted: Vec::new() })
            }
            Some(Some(family)) => {
                let request = decode_request(family, &body(family, list))
                    .map_err(|e| Failure::new(&file.name, e.message()).at(&e.place().path))?;
                Ok(Self { tools: request.tools.into(), hosted: request.options.hosted_tools })
            }
        }
    }
}

/// The smallest body with these tools.
fn body(family: Family, tools: &str) -> String {
    match family {
        Family::OpenaiChat | Family::Anthropic => {
            format!(r#"{{"messages": [], "tools": {tools}}}"#)
        }
        Family::OpenaiResponses => format!(r#"{{"input": [], "tools": {tools}}}"#),
        Family::Gemini => format!(r#"{{"contents": [], "tools": {tools}}}"#),
        Family::Bedrock => {
            format!(r#"{{"messages": [], "toolConfig": {{"tools": {tools}}}}}"#)
        }
    }
}
