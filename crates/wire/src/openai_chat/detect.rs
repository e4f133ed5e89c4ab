//! The signs of this family.

use serde_json::Value;

use crate::detect::Signs;

pub(super) const SIGNS: Signs = Signs {
    request: |body| body.get("messages").is_some(),
    // What no other family knows as its own is chat.
    messages: |_| true,
    // An error in this form is also one of the servers that speak it.
    answer: |value| value.get("choices").is_some() || value["error"]["message"].is_string(),
    tool: |tool| tool.get("function").is_some(),
    conversation: &["messages"],
    parts: "content",
};

/// Whether a message has a role that only this family has.
pub(crate) fn has_own_role(message: &Value) -> bool {
    matches!(message["role"].as_str(), Some("system" | "developer" | "tool" | "function"))
}
