//! The protocol as an agent's model is told it: how to call, and which tools there are.

use interleaf_model::{Status, Tool, ToolCall};
use serde_json::json;

use crate::calls::TextTools;
use crate::templates::Text;
use crate::{Error, Language, Templates, xml};

/// What a model is to do about calls in its next answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asked {
    /// Nothing in particular, `none`, `required`, or the name of a tool.
    pub choice: String,
    /// Whether it may make only one call.
    pub single: bool,
}

/// A part of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Datum<'a> {
    /// Text, as the tool gave it.
    Text(&'a str),
    /// A picture or a file, which stands after the results: its number.
    Media(usize),
}

impl Templates {
    /// The text that tells a model how to call these tools in words.
    ///
    /// # Errors
    /// If the template cannot be rendered.
    pub fn protocol(
        &self,
        language: Language,
        tools: &[Tool],
        asked: &Asked,
    ) -> Result<String, Error> {
        let tools: Vec<String> = tools.iter().map(xml::write_tool).collect();
        let given =
            json!({"tools": tools.join("\n"), "choice": asked.choice, "single": asked.single});
        self.render(language, Text::Agent, &given)
    }

    /// A tool as the protocol describes it.
    pub fn tool_in_protocol(tool: &Tool) -> String {
        xml::write_tool(tool)
    }
}

impl TextTools {
    /// Writes the calls of an answer, which may have arguments that nobody can read.
    pub fn write_made(&self, calls: &[&ToolCall]) -> String {
        xml::write_made(calls, self.tools())
    }

    /// Writes what a tool gave. Whatever stands in it, it cannot be taken for a part of the
    /// protocol.
    pub fn write_result(tool: &str, status: Status, data: &[Datum<'_>]) -> String {
        xml::write_tool_result(tool, status, data)
    }
}
