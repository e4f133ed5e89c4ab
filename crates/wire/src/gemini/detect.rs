//! The signs of this family.

use serde_json::Value;

use crate::detect::Signs;

pub(super) const SIGNS: Signs = Signs {
    request: |body| body.get("contents").is_some(),
    messages: |list| list.iter().any(|content| content["parts"].is_array()),
    answer: |value| value.get("candidates").is_some() || value.get("promptFeedback").is_some(),
    tool: |tool| has(tool, "functionDeclarations") || has(tool, "function_declarations"),
    conversation: &["contents", "systemInstruction", "system_instruction"],
};

fn has(value: &Value, name: &str) -> bool {
    value.get(name).is_some()
}
