//! What a request asks for beside its messages and tools.

use interleaf_model::{Json, Message, Opaque, Tool};
use smol_str::SmolStr;

use crate::Family;

/// What a request asks for beside its messages and tools, in neutral words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// Which model; may be empty where the address names it.
    pub model: SmolStr,
    /// The most tokens that the answer may have.
    pub max_tokens: Option<u64>,
    /// Sampling, as the number was written.
    pub temperature: Option<Json>,
    /// Sampling, as the number was written.
    pub top_p: Option<Json>,
    /// Sampling, as the number was written.
    pub top_k: Option<Json>,
    /// Texts at which the model stops.
    pub stop: Vec<String>,
    /// Whether the answer comes in pieces.
    pub stream: bool,
    /// Whether, and which, tool is to be called.
    pub tool_choice: Option<ToolChoice>,
    /// Whether several tools may be called at once.
    pub parallel_tool_calls: Option<bool>,
    /// The thinking settings, in Anthropic's form; other families read what they can.
    pub thinking: Option<Json>,
    /// The form that the answer must have, in OpenAI chat's form (`response_format`).
    pub response_format: Option<Json>,
    /// Tools that a vendor runs itself; each goes to its owner only.
    pub hosted_tools: Vec<Opaque>,
    /// Fields of a body that have no neutral word, in order; they go back to the
    /// family that they came from, and to no other.
    pub rest: Vec<(String, Json)>,
    /// The family that `rest` came from.
    pub rest_of: Option<Family>,
    /// A name under which vendors may look for a cached prefix.
    pub cache_key: Option<SmolStr>,
    /// Whether cache breakpoints are written where the family has them.
    pub cache: CacheMarks,
    /// Thinking in messages from this index on was made behind another prefix. Models
    /// that bind thinking to what stands before it would refuse it.
    pub thinking_unbound_from: Option<usize>,
}

/// Whether cache breakpoints are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheMarks {
    /// None, beside those that the messages carry themselves.
    #[default]
    Off,
    /// At the end of the tools and the system text, and at the prompt's breakpoint.
    On,
}

/// Whether, and which, tool is to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// As the model likes.
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// This one.
    Tool(SmolStr),
}

/// A request body, read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// The conversation, system messages first.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Vec<Tool>,
    /// All else.
    pub options: Options,
}
