//! Tool calls as text: read in whatever form a model wrote them, written in one.
//!
//! ```text
//!   text ──▶ TextTools::read ──▶ Reading: calls, what else was said, what was refused
//!               scan: tags, marks and bare JSON, outside of thoughts, results and quotes
//!   calls ─▶ TextTools::write ─▶ <tools><invoke name="…"><parameter name="…">…
//! ```
//!
//! It needs no plan: the tools, with their schemas, are all that it knows. Arguments are
//! read by the schema of the tool, and kept as they were written.
//!
//! What holds for every text: a call is never returned with a part of its arguments, and
//! what looks like a call and cannot be read is a refusal, not silence. Nothing that is
//! quoted, commented out, thought or part of a result is a call. The time is linear in the text.
//!
//! ```
//! use interleaf_model::{Extra, Json, Tool};
//! use interleaf_plan::calls::TextTools;
//!
//! let schema = serde_json::json!({"type": "object", "properties": {"city": {"type": "string"}}});
//! let (name, parameters) = ("weather".into(), Some(Json::from(schema)));
//! let tool = Tool { name, description: None, parameters, strict: None, extra: Extra::NONE };
//! let reading = TextTools::new([&tool]).read(
//!     "I will look.\n<tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}</tool_call>",
//! );
//! assert_eq!(reading.calls[0].arguments.as_str(), r#"{"city": "Oslo"}"#);
//! assert_eq!(reading.content, "I will look.");
//! ```

mod bare;
mod given;
mod json;
mod listener;
mod marked;
mod marks;
mod python;
mod quotes;
mod reading;
mod scan;
mod speech;
mod tagged;
mod tags;
mod tools;
mod watch;

use interleaf_model::{Json, Tool, ToolName};
use serde_json::{Map, Value};

pub use self::given::read_calls;
pub use self::listener::Listener;
pub use self::reading::{Note, Reading, Refusal, RefusalReason};
use self::scan::Fences;
pub(crate) use self::tags::{CALL_TAGS, is_wrapper, opening};
pub(crate) use self::tools::{Shape, Tools};
use crate::{exact, xml};

/// The tools that a text may call, with their schemas.
#[derive(Debug, Clone)]
pub struct TextTools {
    tools: Tools,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// The tool.
    pub tool: ToolName,
    /// Its arguments, an object, in the order in which they were written and with every
    /// digit.
    pub arguments: Json,
}

impl Call {
    /// A call.
    pub fn new(tool: impl Into<ToolName>, arguments: Map<String, Value>) -> Self {
        Self { tool: tool.into(), arguments: Json::from(Value::Object(arguments)) }
    }

    /// A call with arguments as text, if they are an object.
    pub(crate) fn exact(tool: &ToolName, arguments: Json) -> Option<Self> {
        exact::fields(&arguments).map(|_| Self { tool: tool.clone(), arguments })
    }
}

impl TextTools {
    /// These tools.
    pub fn new<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        Self { tools: Tools::new(tools) }
    }

    pub(crate) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Writes calls in the XML protocol. Those of tools that are not declared are written
    /// too.
    pub fn write(&self, calls: &[Call]) -> String {
        xml::write_calls(calls, &self.tools)
    }

    /// Reads whatever a model wrote: the calls of declared tools, what else it said, and
    /// what was refused.
    pub fn read(&self, text: &str) -> Reading {
        scan::read(text, &self.tools, Fences::All)
    }
}
