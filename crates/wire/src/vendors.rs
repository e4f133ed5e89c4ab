//! Who serves models, and in what they differ: rows of data, no code.

use crate::Family;
use crate::names::Alphabet;

/// One who serves models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vendor {
    /// The vendor's name, as on the command line.
    pub name: &'static str,
    /// What it speaks.
    pub family: Family,
    /// Where; empty if every user has an address of their own.
    pub base_url: &'static str,
    /// How a request says who sends it.
    pub auth: Auth,
    /// The context window of its usual models, in tokens.
    pub window: u64,
    /// In what it differs from its family.
    pub quirks: Quirks,
}

/// How a request says who sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// The key alone in this header.
    Header(&'static str),
    /// AWS signature version 4, or a bearer key.
    AwsV4,
    /// Nothing is asked.
    None,
}

/// In what a vendor differs from its family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// Which call ids it takes.
    pub call_ids: Alphabet,
    /// Which tool names it takes.
    pub tool_names: Alphabet,
    /// Exactly one system message, at the head.
    pub one_system: bool,
    /// User and assistant must take turns: neighbours of one role become one.
    pub strict_alternation: bool,
    /// A user message may not follow a tool result: a short assistant turn is put between.
    pub bridge_after_results: bool,
    /// Content is a plain string wherever there is no media.
    pub plain_content: bool,
    /// `""` instead of `null` beside calls.
    pub empty_content: bool,
    /// Where thinking is sent back.
    pub reasoning: Reasoning,
    /// `max_completion_tokens` instead of `max_tokens`.
    pub completion_tokens: bool,
    /// Whether a tool can be forced: `required`, or one by name.
    pub forced_tools: bool,
    /// The chat API with all that is OpenAI's own: the developer role, custom tools,
    /// refusals, a cache key.
    pub native: bool,
    /// Thinking goes back beside calls and nowhere else, and there it must stand, if
    /// only as an empty text.
    pub reasoning_with_calls: bool,
    /// An assistant message at the end must say that it is a prefix.
    pub prefix_last: bool,
    /// Pictures travel inline, not by their address.
    pub inline_images: bool,
    /// Definitions in a tool's schema must stand where they are used.
    pub inline_definitions: bool,
    /// Whether there is a setting `top_k`.
    pub top_k: bool,
    /// Whether a stream tells its usage only if asked, with `stream_options`.
    pub stream_usage: bool,
    /// How thinking is switched on and off.
    pub switch: Switch,
}

/// Where a chat vendor takes thinking back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reasoning {
    /// Nowhere.
    None,
    /// In `reasoning_content`.
    ReasoningContent,
    /// In `reasoning`.
    Reasoning,
    /// In both: one server reads one, one the other.
    Both,
    /// In a part of the content.
    Part,
}

/// How a chat vendor lets thinking be switched on and off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Not at all, or in a way that depends on the model.
    None,
    /// `thinking: {"type": "enabled"}`.
    Thinking,
    /// `enable_thinking: true`.
    EnableThinking,
}

impl Quirks {
    /// Those of a family as its inventor serves it.
    pub const fn of(family: Family) -> Self {
        let (call_ids, tool_names) = match family {
            Family::OpenaiChat => (ids("_-.:", 40), Alphabet::NAME),
            Family::OpenaiResponses => (ids("_-.:", 64), Alphabet::NAME),
            Family::Anthropic => (ids("_-", 64), Alphabet::NAME),
            Family::Gemini => (ids("_-.:", 64), GEMINI_NAME),
            Family::Bedrock => (ids("_-", 64), Alphabet::NAME),
        };
        Self {
            call_ids,
            tool_names,
            one_system: false,
            strict_alternation: false,
            bridge_after_results: false,
            plain_content: false,
            empty_content: false,
            reasoning: Reasoning::None,
            completion_tokens: false,
            forced_tools: true,
            native: false,
            reasoning_with_calls: false,
            prefix_last: false,
            inline_images: false,
            inline_definitions: false,
            top_k: false,
            stream_usage: true,
            switch: Switch::None,
        }
    }
}

const GEMINI_NAME: Alphabet =
    Alphabet { punctuation: "_-", longest: 64, exact: false, letter_first: true };

const fn ids(punctuation: &'static str, longest: usize) -> Alphabet {
    Alphabet { punctuation, longest, exact: false, letter_first: false }
}

/// OpenAI's own.
const NATIVE: Quirks =
    Quirks { completion_tokens: true, native: true, ..Quirks::of(Family::OpenaiChat) };

/// Those who imitate it: `null` as content is what most of them stumble over.
const CHAT: Quirks = Quirks { empty_content: true, ..Quirks::of(Family::OpenaiChat) };

/// What a chat template of an open model takes without complaint. Some of these skip
/// calls and results when they look whether user and assistant take turns, so a user
/// message that follows a result needs an answer before it.
const TEMPLATE: Quirks = Quirks {
    one_system: true,
    strict_alternation: true,
    bridge_after_results: true,
    plain_content: true,
    top_k: true,
    ..CHAT
};

const fn chat(
    name: &'static str,
    base_url: &'static str,
    auth: Auth,
    window: u64,
    quirks: Quirks,
) -> Vendor {
    Vendor { name, family: Family::OpenaiChat, base_url, auth, window, quirks }
}

const fn own(
    name: &'static str,
    family: Family,
    base_url: &'static str,
    auth: Auth,
    window: u64,
) -> Vendor {
    Vendor { name, family, base_url, auth, window, quirks: Quirks::of(family) }
}

/// Everyone we know. The first of a family is its inventor.
pub const VENDORS: &[Vendor] = &[
    chat("openai", "https://api.openai.com/v1", Auth::Bearer, 400_000, NATIVE),
    own(
        "openai-responses",
        Family::OpenaiResponses,
        "https://api.openai.com/v1",
        Auth::Bearer,
        400_000,
    ),
    own(
        "anthropic",
        Family::Anthropic,
        "https://api.anthropic.com/v1",
        Auth::Header("x-api-key"),
        200_000,
    ),
    own(
        "google",
        Family::Gemini,
        "https://generativelanguage.googleapis.com/v1beta",
        Auth::Header("x-goog-api-key"),
        1_048_576,
    ),
    own("vertex", Family::Gemini, "", Auth::Bearer, 1_048_576),
    own("bedrock", Family::Bedrock, "", Auth::AwsV4, 200_000),
    chat("azure", "", Auth::Header("api-key"), 400_000, NATIVE),
    chat(
        "deepseek",
        "https://api.deepseek.com/v1",
        Auth::Bearer,
        128_000,
        Quirks {
            reasoning: Reasoning::ReasoningContent,
            reasoning_with_calls: true,
            plain_content: true,
            switch: Switch::Thinking,
            ..CHAT
        },
    ),
    chat(
        "mistral",
        "https://api.mistral.ai/v1",
        Auth::Bearer,
        128_000,
        Quirks {
            call_ids: Alphabet { punctuation: "", longest: 9, exact: true, letter_first: false },
            bridge_after_results: true,
            prefix_last: true,
            reasoning: Reasoning::Part,
            stream_usage: false,
            ..CHAT
        },
    ),
    chat(
        "qwen",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        Auth::Bearer,
        131_072,
        Quirks {
            one_system: true,
            reasoning: Reasoning::ReasoningContent,
            plain_content: true,
            top_k: true,
            switch: Switch::EnableThinking,
            ..CHAT
        },
    ),
    chat(
        "kimi",
        "https://api.moonshot.ai/v1",
        Auth::Bearer,
        256_000,
        Quirks {
            reasoning: Reasoning::ReasoningContent,
            reasoning_with_calls: true,
            plain_content: true,
            forced_tools: false,
            switch: Switch::Thinking,
            ..CHAT
        },
    ),
    chat(
        "glm",
        "https://api.z.ai/api/paas/v4",
        Auth::Bearer,
        200_000,
        Quirks {
            reasoning: Reasoning::ReasoningContent,
            plain_content: true,
            inline_definitions: true,
            switch: Switch::Thinking,
            ..CHAT
        },
    ),
    chat("xai", "https://api.x.ai/v1", Auth::Bearer, 256_000, CHAT),
    chat("groq", "https://api.groq.com/openai/v1", Auth::Bearer, 131_072, CHAT),
    chat(
        "openrouter",
        "https://openrouter.ai/api/v1",
        Auth::Bearer,
        200_000,
        Quirks { reasoning: Reasoning::Reasoning, top_k: true, ..CHAT },
    ),
    chat(
        "ollama",
        "http://localhost:11434/v1",
        Auth::None,
        32_768,
        Quirks { forced_tools: false, inline_images: true, top_k: false, ..TEMPLATE },
    ),
    chat(
        "vllm",
        "http://localhost:8000/v1",
        Auth::None,
        131_072,
        Quirks { reasoning: Reasoning::Both, ..TEMPLATE },
    ),
    chat("llama-cpp", "http://localhost:8080/v1", Auth::None, 32_768, TEMPLATE),
    chat("lm-studio", "http://localhost:1234/v1", Auth::None, 32_768, TEMPLATE),
];

impl Vendor {
    /// The vendor of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        VENDORS.iter().find(|vendor| vendor.name == name)
    }

    /// The inventor of a family.
    pub fn of(family: Family) -> &'static Self {
        VENDORS.iter().find(|vendor| vendor.family == family).unwrap_or(&VENDORS[0])
    }
}
