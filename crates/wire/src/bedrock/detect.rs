//! The signs of this family.

use crate::detect::{Signs, items, messages, parts};
use crate::tree::Value;

/// Fields that only this family has.
const OWN_FIELDS: [&str; 4] =
    ["inferenceConfig", "toolConfig", "additionalModelRequestFields", "guardrailConfig"];

pub(super) const SIGNS: Signs = Signs {
    request: |body| {
        let is_own = |list: &[Value]| {
            OWN_FIELDS.into_iter().any(|name| body.get(name).is_some())
                || items(&body["system"]).any(is_untyped)
                || has_untyped(list)
        };
        messages(body).is_some_and(is_own)
    },
    is_sure: |_| true,
    messages: has_untyped,
    answer: |value| value["output"].get("message").is_some(),
    tool: |tool| tool.get("toolSpec").is_some(),
    tools: "/toolConfig/tools",
    conversation: &["messages", "system"],
    parts: "content",
};

/// Whether a part is an object without a type: its only field says what it is.
fn is_untyped(part: &Value) -> bool {
    part.is_object() && part.get("type").is_none()
}

fn has_untyped(list: &[Value]) -> bool {
    parts(list).any(is_untyped)
}
