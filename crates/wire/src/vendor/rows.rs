//! The vendors that we know: rows of data, no code.

use smol_str::SmolStr;

use super::{Auth, Quirks, Reasoning, Switch, Vendor};
use crate::Family;
use crate::names::Alphabet;

/// OpenAI's own.
const NATIVE: Quirks =
    Quirks { empty_content: false, completion_tokens: true, native: true, ..CHAT };

/// Those who imitate it.
const CHAT: Quirks = Quirks::of(Family::OpenaiChat);

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

/// A server of an open model that serves the one it has, whatever a body names.
const ONE_MODEL: Quirks = Quirks { optional_model: true, ..TEMPLATE };

const fn chat(
    name: &'static str,
    base_url: &'static str,
    auth: Auth,
    key_variable: &'static str,
    window: u64,
    quirks: Quirks,
) -> Vendor {
    row(name, Family::OpenaiChat, base_url, auth, key_variable, window, quirks)
}

const fn own(
    name: &'static str,
    family: Family,
    base_url: &'static str,
    auth: Auth,
    key_variable: &'static str,
    window: u64,
) -> Vendor {
    row(name, family, base_url, auth, key_variable, window, Quirks::of(family))
}

const fn row(
    name: &'static str,
    family: Family,
    base_url: &'static str,
    auth: Auth,
    key_variable: &'static str,
    window: u64,
    quirks: Quirks,
) -> Vendor {
    let name = SmolStr::new_static(name);
    let base_url = SmolStr::new_static(base_url);
    let key_variable = SmolStr::new_static(key_variable);
    Vendor { name, family, base_url, auth, key_variable, window, quirks }
}

/// Everyone we know. The first of a family is its inventor.
pub static VENDORS: &[Vendor] = &[
    chat("openai", "https://api.openai.com/v1", Auth::Bearer, "OPENAI_API_KEY", 400_000, NATIVE),
    own(
        "openai-responses",
        Family::OpenaiResponses,
        "https://api.openai.com/v1",
        Auth::Bearer,
        "OPENAI_API_KEY",
        400_000,
    ),
    row(
        "anthropic",
        Family::Anthropic,
        "https://api.anthropic.com/v1",
        Auth::Header(SmolStr::new_static("x-api-key")),
        "ANTHROPIC_API_KEY",
        200_000,
        Quirks { known_fields: true, ..Quirks::of(Family::Anthropic) },
    ),
    row(
        "google",
        Family::Gemini,
        "https://generativelanguage.googleapis.com/v1beta",
        Auth::Header(SmolStr::new_static("x-goog-api-key")),
        "GEMINI_API_KEY",
        1_048_576,
        Quirks { known_fields: true, ..Quirks::of(Family::Gemini) },
    ),
    row(
        "vertex",
        Family::Gemini,
        "",
        Auth::Bearer,
        "",
        1_048_576,
        Quirks { vertex: true, known_fields: true, ..Quirks::of(Family::Gemini) },
    ),
    own("bedrock", Family::Bedrock, "", Auth::AwsV4, "AWS_BEARER_TOKEN_BEDROCK", 200_000),
    chat(
        "azure",
        "",
        Auth::Header(SmolStr::new_static("api-key")),
        "AZURE_OPENAI_API_KEY",
        400_000,
        Quirks { optional_model: true, ..NATIVE },
    ),
    own(
        "azure-responses",
        Family::OpenaiResponses,
        "",
        Auth::Header(SmolStr::new_static("api-key")),
        "AZURE_OPENAI_API_KEY",
        400_000,
    ),
    chat(
        "deepseek",
        "https://api.deepseek.com/v1",
        Auth::Bearer,
        "DEEPSEEK_API_KEY",
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
        "MISTRAL_API_KEY",
        128_000,
        Quirks {
            call_ids: Alphabet::exact("", 9),
            bridge_after_results: true,
            prefix_last: true,
            reasoning: Reasoning::Part,
            stream_usage: false,
            known_fields: true,
            ..CHAT
        },
    ),
    chat(
        "qwen",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        Auth::Bearer,
        "DASHSCOPE_API_KEY",
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
        "MOONSHOT_API_KEY",
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
        "ZAI_API_KEY",
        200_000,
        Quirks {
            reasoning: Reasoning::ReasoningContent,
            plain_content: true,
            inline_definitions: true,
            switch: Switch::Thinking,
            ..CHAT
        },
    ),
    chat("xai", "https://api.x.ai/v1", Auth::Bearer, "XAI_API_KEY", 256_000, CHAT),
    chat(
        "groq",
        "https://api.groq.com/openai/v1",
        Auth::Bearer,
        "GROQ_API_KEY",
        131_072,
        Quirks { known_fields: true, ..CHAT },
    ),
    chat(
        "openrouter",
        "https://openrouter.ai/api/v1",
        Auth::Bearer,
        "OPENROUTER_API_KEY",
        200_000,
        Quirks { reasoning: Reasoning::Reasoning, top_k: true, ..CHAT },
    ),
    chat(
        "ollama",
        "http://localhost:11434/v1",
        Auth::None,
        "",
        32_768,
        Quirks { forced_tools: false, inline_images: true, top_k: false, ..TEMPLATE },
    ),
    chat(
        "vllm",
        "http://localhost:8000/v1",
        Auth::None,
        "",
        131_072,
        Quirks { reasoning: Reasoning::Both, ..ONE_MODEL },
    ),
    chat("llama-cpp", "http://localhost:8080/v1", Auth::None, "", 32_768, ONE_MODEL),
    chat("lm-studio", "http://localhost:1234/v1", Auth::None, "", 32_768, ONE_MODEL),
];
