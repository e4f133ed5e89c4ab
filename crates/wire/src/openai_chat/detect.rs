//! The signs of this family.

use crate::detect::{self, Signs, items, messages, parts};
use crate::tree::Value;

pub(super) const SIGNS: Signs = Signs {
    request: |body| body.get("messages").is_some(),
    is_sure: |body| {
        let list = messages(body).unwrap_or_default();
        let names_model = body["model"].as_str().and_then(detect::model).is_some();
        names_model || has_chat_fields(body, list) || list.iter().any(has_own_role)
    },
    // What no other family knows as its own is chat.
    messages: |_| true,
    // An error in this form is also one of the servers that speak it.
    answer: |value| value.get("choices").is_some() || value["error"]["message"].is_string(),
    tool: |tool| tool.get("function").is_some(),
    tools: "/tools",
    conversation: &["messages"],
    parts: "content",
};

/// Fields of a body that only this family has.
const OWN_FIELDS: [&str; 11] = [
    "max_completion_tokens",
    "response_format",
    "reasoning_effort",
    "stream_options",
    "functions",
    "stop",
    "n",
    "seed",
    "logprobs",
    "frequency_penalty",
    "presence_penalty",
];

/// Whether a body has what only this family has, beside the roles of its messages.
pub(crate) fn has_chat_fields(body: &Value, list: &[Value]) -> bool {
    let is_own =
        |part: &Value| part.get("image_url").is_some() || part.get("input_audio").is_some();
    OWN_FIELDS.iter().any(|name| body.get(name).is_some())
        || items(&body["tools"]).any(|tool| tool.get("function").is_some())
        || list.iter().any(|message| message.get("tool_calls").is_some())
        || parts(list).any(is_own)
}

/// Whether a message has a role that only this family has.
pub(crate) fn has_own_role(message: &Value) -> bool {
    matches!(message["role"].as_str(), Some("system" | "developer" | "tool" | "function"))
}
