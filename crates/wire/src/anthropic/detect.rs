//! The signs of this family.

use crate::Family;
use crate::detect::{self, Signs, items, messages, parts};
use crate::openai_chat::{has_chat_fields, has_own_role};
use crate::tree::Value;

pub(super) const SIGNS: Signs = Signs {
    request: |body| messages(body).is_some_and(|list| has_own_fields(body, list)),
    is_sure: |_| true,
    messages: is_own,
    answer: |value| {
        let kind = value["type"].as_str().unwrap_or_default();
        kind.starts_with("message")
            || kind == "ping"
            || kind == "error" && value["error"].is_object()
            || value.get("stop_reason").is_some()
    },
    tool: |tool| tool.get("input_schema").is_some(),
    tools: "/tools",
    conversation: &["messages", "system"],
    parts: "content",
};

fn has_own_fields(body: &Value, list: &[Value]) -> bool {
    let has = |name: &str| body.get(name).is_some();
    let maker = body["model"].as_str().and_then(detect::model);
    let is_made_for = |family| maker == Some(family);
    let has_own_tools = items(&body["tools"]).any(|tool| tool.get("input_schema").is_some());
    let has_fields = has("system")
        || has("anthropic_version")
        || has("stop_sequences")
        || is_made_for(Family::Anthropic) && (has("max_tokens") || !has_chat_fields(body, list))
        || !is_made_for(Family::OpenaiChat) && has_own_tools;
    is_own(list) || has_fields && !list.iter().any(has_own_role)
}

/// Whether no message has a role that only chat has, and some part a type of this family's.
fn is_own(list: &[Value]) -> bool {
    const OWN: [&str; 6] =
        ["tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"];
    let is_own = |part: &Value| {
        let kind = part["type"].as_str().unwrap_or_default();
        OWN.contains(&kind) || kind.starts_with("server_tool")
    };
    // Some models take system messages between the others here too.
    let is_chat = |message: &Value| has_own_role(message) && message["role"] != "system";
    !list.iter().any(is_chat) && parts(list).any(is_own)
}
