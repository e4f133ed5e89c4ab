//! The XML protocol: a tool call as text (E8). The grammar is in `docs/plan-xml.md`.
//!
//! ```text
//!   calls ──▶ write ──▶ <tools><invoke name="…"><parameter name="…">…  ──▶ read ──▶ calls
//!                         tag · text · value · elements: the pieces of the reader
//! ```
//!
//! The writer is exact, the reader is tolerant: whatever the writer writes, the reader
//! reads back as it was, and of what a model writes it makes the most.

mod body;
mod elements;
mod json_call;
mod read;
mod tag;
mod text;
mod value;
mod write;

use interleaf_model::{Tool, ToolName};
use serde_json::{Map, Value};

pub use self::read::{Note, Reading, Refusal, RefusalReason};
pub(crate) use self::text::escape;
pub use self::write::write_result;

/// The tools that a text may call, with their schemas.
#[derive(Debug, Clone)]
pub struct Protocol {
    tools: Vec<Shape>,
}

/// A tool as the protocol sees it.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) name: ToolName,
    pub(crate) schema: Value,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool.
    pub tool: ToolName,
    /// Its arguments, in the order in which they were written.
    pub arguments: Map<String, Value>,
}

impl Protocol {
    /// The protocol for these tools.
    pub fn new<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        let shape = |tool: &Tool| Shape {
            name: tool.name.clone(),
            schema: tool.parameters.as_ref().map_or_else(empty_schema, |own| own.to_value()),
        };
        Self { tools: tools.into_iter().map(shape).collect() }
    }

    /// Writes calls. Those of tools that are not declared are written too.
    pub fn write(&self, calls: &[Call]) -> String {
        write::write_calls(calls, &self.tools)
    }

    /// Reads whatever a model wrote: the calls of declared tools, what else it said, and
    /// what was refused.
    pub fn read(&self, text: &str) -> Reading {
        read::read(text, &self.tools)
    }
}

fn empty_schema() -> Value {
    serde_json::json!({"type": "object", "properties": {}})
}

impl Shape {
    /// The declared property of this name: as it is written, or but for its case if that
    /// leaves one.
    pub(crate) fn property(&self, name: &str) -> Option<&str> {
        let declared = self.properties()?;
        if let Some((own, _)) = declared.get_key_value(name) {
            return Some(own);
        }
        let mut same = declared.keys().filter(|own| own.eq_ignore_ascii_case(name));
        same.next().filter(|_| same.next().is_none()).map(String::as_str)
    }

    /// The schema of a property; anything goes where there is none.
    pub(crate) fn property_schema(&self, name: &str) -> &Value {
        static ANYTHING: Value = Value::Bool(true);
        let own = self.properties().and_then(|declared| declared.get(name));
        own.or_else(|| self.resolved().get("additionalProperties")).unwrap_or(&ANYTHING)
    }

    pub(crate) fn properties(&self) -> Option<&Map<String, Value>> {
        self.resolved().get("properties")?.as_object()
    }

    fn resolved(&self) -> &Value {
        crate::schema::resolve(&self.schema, &self.schema)
    }
}
