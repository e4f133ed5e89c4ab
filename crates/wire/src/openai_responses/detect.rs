//! The signs of this family.

use super::is_part_type;
use crate::detect::{Signs, parts};
use crate::tree::Value;

pub(super) const SIGNS: Signs = Signs {
    request: |body| body.get("input").is_some() && body.get("messages").is_none(),
    is_sure: |_| true,
    messages: |list| {
        // A message need not say that it is one; its parts do, and so do other items.
        list.iter().any(is_item) || parts(list).any(is_part)
    },
    answer: |value| {
        let kind = value["type"].as_str().unwrap_or_default();
        value["object"] == "response" || value["output"].is_array() || kind.starts_with("response.")
    },
    tool: |tool| tool.get("type").is_some() && tool.get("function").is_none(),
    tools: "/tools",
    conversation: &["input", "instructions"],
    // Its lint has a rule of its own for the parts of messages.
    parts: "",
};

fn is_item(item: &Value) -> bool {
    let Some(kind) = item["type"].as_str() else { return false };
    kind == "message" || item.get("role").is_none() && is_item_type(kind)
}

/// Items other than messages. What calls a tool, and its output, say so at the end of their
/// names, those of tools to come too.
fn is_item_type(kind: &str) -> bool {
    let others = ["reasoning", "item_reference", "compaction", "additional_tools"];
    others.contains(&kind)
        || kind.ends_with("_call")
        || kind.ends_with("_call_output")
        || kind.starts_with("mcp_")
}

fn is_part(part: &Value) -> bool {
    // `input_audio`, `text` and `refusal` are parts of chat too.
    part["type"].as_str().is_some_and(|kind| {
        is_part_type(kind) && !matches!(kind, "input_audio" | "text" | "refusal")
    })
}
