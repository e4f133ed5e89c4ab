//! The signs of this family.

use crate::detect::Signs;
use crate::tree::Value;

pub(super) const SIGNS: Signs = Signs {
    request: |body| body.get("contents").is_some(),
    is_sure: |_| true,
    messages: |list| {
        let is_own = |content: &Value| content["parts"].is_array() && !has(content, "content");
        list.iter().any(is_own)
    },
    answer: |value| {
        let is_error = value["error"]["status"].is_string() && value["error"]["code"].is_number();
        has(value, "candidates") || has(value, "promptFeedback") || is_error
    },
    tool: |tool| has(tool, "functionDeclarations") || has(tool, "function_declarations"),
    tools: "/tools",
    conversation: &["contents", "systemInstruction", "system_instruction"],
    parts: "parts",
};

fn has(value: &Value, name: &str) -> bool {
    value.get(name).is_some()
}
