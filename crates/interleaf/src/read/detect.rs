//! Which API a body, an answer or a list of tools belongs to, told by its content.
//!
//! | seen in a request | API |
//! |---|---|
//! | `contents` | gemini |
//! | `input`, no `messages` | openai-responses |
//! | `inferenceConfig`, `toolConfig`, parts without `type` | bedrock |
//! | `system`, `input_schema`, parts such as `tool_use` | anthropic |
//! | `messages`, and none of these | openai-chat |
//!
//! | seen in an answer or an event of it | API |
//! |---|---|
//! | `choices` | openai-chat |
//! | `object` is `response`, a list `output`, events `response.…` | openai-responses |
//! | `candidates` | gemini |
//! | `output.message`, or a binary stream | bedrock |
//! | `type` is `message`, events `message_start` … | anthropic |

use interleaf_wire::Family;
use serde_json::Value;

/// The API whose request body this is.
pub(super) fn request(body: &Value) -> Option<Family> {
    let has = |name: &str| body.get(name).is_some();
    if has("contents") {
        return Some(Family::Gemini);
    }
    if !has("messages") {
        return has("input").then_some(Family::OpenaiResponses);
    }
    // Recorded conversations keep the settings apart, and are chat messages always.
    if has("params") {
        return Some(Family::OpenaiChat);
    }
    if ["inferenceConfig", "toolConfig", "additionalModelRequestFields", "guardrailConfig"]
        .into_iter()
        .any(has)
        || items(&body["system"]).any(|part| part.get("type").is_none())
        || parts(body).any(is_bedrock_part)
    {
        return Some(Family::Bedrock);
    }
    let says = |role: &str| items(&body["messages"]).any(|message| message["role"] == role);
    if says("system") || says("developer") || says("tool") {
        return Some(Family::OpenaiChat);
    }
    let is_claude = body["model"].as_str().is_some_and(|model| model.starts_with("claude"));
    if has("system")
        || has("anthropic_version")
        || has("stop_sequences")
        || (is_claude && has("max_tokens"))
        || items(&body["tools"]).any(|tool| tool.get("input_schema").is_some())
        || parts(body).any(is_anthropic_part)
    {
        return Some(Family::Anthropic);
    }
    Some(Family::OpenaiChat)
}

/// The API whose answer, or event of an answer, this is.
pub(super) fn answer(value: &Value) -> Option<Family> {
    let kind = value["type"].as_str().unwrap_or_default();
    if value.get("choices").is_some() {
        Some(Family::OpenaiChat)
    } else if value["object"] == "response"
        || value["output"].is_array()
        || kind.starts_with("response.")
    {
        Some(Family::OpenaiResponses)
    } else if value.get("candidates").is_some() || value.get("promptFeedback").is_some() {
        Some(Family::Gemini)
    } else if value["output"].get("message").is_some() {
        Some(Family::Bedrock)
    } else if kind.starts_with("message") || kind == "ping" || value.get("stop_reason").is_some() {
        Some(Family::Anthropic)
    } else {
        None
    }
}

/// The API in whose form a tool is described; none if it is in ours.
pub(super) fn tool(tool: &Value) -> Option<Family> {
    let has = |name: &str| tool.get(name).is_some();
    if has("function") {
        Some(Family::OpenaiChat)
    } else if has("input_schema") {
        Some(Family::Anthropic)
    } else if has("toolSpec") {
        Some(Family::Bedrock)
    } else if has("functionDeclarations") || has("function_declarations") {
        Some(Family::Gemini)
    } else if has("type") {
        Some(Family::OpenaiResponses)
    } else {
        None
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The parts of all messages, where their content is a list.
fn parts(body: &Value) -> impl Iterator<Item = &Value> {
    items(&body["messages"]).flat_map(|message| items(&message["content"]))
}

fn is_bedrock_part(part: &Value) -> bool {
    part.is_object() && part.get("type").is_none()
}

fn is_anthropic_part(part: &Value) -> bool {
    const OWN: [&str; 6] =
        ["tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"];
    let kind = part["type"].as_str().unwrap_or_default();
    OWN.contains(&kind) || kind.starts_with("server_tool")
}
