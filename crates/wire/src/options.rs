//! What a request asks for beside its messages and tools.

mod effort;
mod number;
mod own_fields;
mod response_format;
mod thinking_mode;

use std::collections::BTreeSet;

use interleaf_model::{Message, MessageId, Opaque, Tool};
use smol_str::SmolStr;

pub use self::effort::Effort;
pub use self::number::Number;
pub use self::own_fields::OwnFields;
pub use self::response_format::{AnswerSchema, ResponseFormat};
pub use self::thinking_mode::{ThinkingAmount, ThinkingMode, Thoughts};

/// What a request asks for beside its messages and tools, in neutral words.
///
/// ```
/// use interleaf_wire::{Options, ThinkingMode};
///
/// let options = Options::model("claude-sonnet-4-5")
///     .max_tokens(8192)
///     .temperature(1.0)
///     .thinking(ThinkingMode::budget(4096));
/// assert_eq!(options.max_tokens, Some(8192));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Options {
    /// Which model; may be empty where the address names it.
    pub model: SmolStr,
    /// The model as a body named it whose API has it in the address; it is named there again.
    pub model_field: Option<SmolStr>,
    /// Maximum number of tokens in the answer.
    pub max_tokens: Option<u64>,
    /// How freely the model chooses among likely tokens.
    pub temperature: Option<Number>,
    /// The share of likelihood that it chooses from.
    pub top_p: Option<Number>,
    /// The number of tokens that it chooses from.
    pub top_k: Option<Number>,
    /// Texts at which the model stops.
    pub stop: Vec<String>,
    /// Whether the answer comes in pieces.
    pub stream: bool,
    /// Whether, and which, tool is to be called.
    pub tool_choice: Option<ToolChoice>,
    /// Whether several tools may be called at once.
    pub parallel_tool_calls: Option<bool>,
    /// Whether, and how much, the model thinks.
    pub thinking: Option<ThinkingMode>,
    /// The form that the answer must have.
    pub response_format: Option<ResponseFormat>,
    /// Tools that a vendor runs itself; each goes to its owner only.
    pub hosted_tools: Vec<Opaque>,
    /// Fields of a body that have no neutral word.
    pub rest: OwnFields,
    /// A name under which vendors may look for a cached prefix.
    pub cache_key: Option<SmolStr>,
    /// Whether cache breakpoints are written where the vendor's model has them.
    pub cache: CacheMarks,
    /// Messages whose thinking was made after another prefix than the one that they have
    /// now. Models that bind thinking to what comes before it refuse it, so it stays out.
    pub unbound_thinking: BTreeSet<MessageId>,
}

impl Options {
    /// Asks this model, and leaves all else to the API.
    pub fn model(name: impl Into<SmolStr>) -> Self {
        Self { model: name.into(), ..Self::default() }
    }

    /// The same, with an answer of at most this many tokens.
    #[must_use]
    pub fn max_tokens(self, most: u64) -> Self {
        Self { max_tokens: Some(most), ..self }
    }

    /// The same, with this freedom to choose among likely tokens.
    #[must_use]
    pub fn temperature(self, temperature: impl Into<Number>) -> Self {
        Self { temperature: Some(temperature.into()), ..self }
    }

    /// The same, with an answer that comes in pieces.
    #[must_use]
    pub fn streamed(self) -> Self {
        Self { stream: true, ..self }
    }

    /// The same, with this choice of tools.
    #[must_use]
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        Self { tool_choice: Some(choice), ..self }
    }

    /// The same, with this much thinking.
    #[must_use]
    pub fn thinking(self, mode: ThinkingMode) -> Self {
        Self { thinking: Some(mode), ..self }
    }

    /// The same, with an answer of this form.
    #[must_use]
    pub fn response_format(self, format: ResponseFormat) -> Self {
        Self { response_format: Some(format), ..self }
    }
}

/// Whether cache breakpoints are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheMarks {
    /// None, beside those that the messages carry themselves.
    #[default]
    Off,
    /// At the end of the tools and the system text, and at the prompt's breakpoint; see
    /// [`Marks`](crate::Marks).
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
