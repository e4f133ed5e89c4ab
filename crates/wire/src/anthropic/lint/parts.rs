//! Blocks, each for itself.

use super::rules::{FAILED, FIELDS, PLACE, RESULT_CONTENT, SOURCE, TEXT};
use super::{Block, Message};
use crate::anthropic::{IMAGE_TYPES, PDF, is_blank, is_legal_id};
use crate::lint::Faults;
use crate::tree::Value;

pub(super) fn check_block(message: &Message<'_>, block: &Block<'_>, faults: &mut Faults) {
    let is_asked = matches!(block.kind, "image" | "document" | "search_result" | "tool_result");
    let is_answered = matches!(block.kind, "thinking" | "redacted_thinking" | "tool_use");
    let is_misplaced = match message.role {
        "user" => is_answered || block.is_served() && block.kind != "tool_result",
        "assistant" => is_asked,
        _ => false,
    };
    if is_misplaced {
        let detail = format!("{} of the {}'s", block.kind, message.role);
        faults.add(&PLACE, block.at.as_str(), detail);
    }
    check_fields(block, faults);
    if block.kind == "tool_result" {
        let content = block.value.get("content").filter(|content| !content.is_null());
        if content.is_some_and(|content| !content.is_string() && !content.is_array()) {
            let detail = "content is a string or a list of blocks";
            faults.add(&RESULT_CONTENT, format!("{}/content", block.at), detail);
        }
        let inner = block.inner();
        for inner in &inner {
            if !matches!(
                inner.kind,
                "text"
                    | "image"
                    | "document"
                    | "search_result"
                    | "tool_reference"
                    | "browser_state"
            ) {
                faults.add(&RESULT_CONTENT, inner.at.as_str(), inner.kind);
            }
            check_fields(inner, faults);
        }
        let is_failed = block.value.get("is_error") == Some(&Value::Bool(true));
        if is_failed && !inner.iter().any(|inner| inner.kind != "text" || !is_said_blank(inner)) {
            faults.add(&FAILED, block.at.as_str(), "");
        }
    }
}

fn is_said_blank(block: &Block<'_>) -> bool {
    block.text().is_none_or(is_blank)
}

fn check_fields(block: &Block<'_>, faults: &mut Faults) {
    let missing = match block.kind {
        "text" if block.text().is_none() => Some("text"),
        // An empty string is an empty message, or a result without content.
        "text" if block.value.as_str() == Some("") => None,
        "text" if is_said_blank(block) => {
            faults.add(&TEXT, block.at.as_str(), "");
            None
        }
        "tool_use" if block.field("id").is_none() => Some("id"),
        "tool_use" if block.field("name").is_none() => Some("name"),
        "tool_use" if !block.value.get("input").is_some_and(Value::is_object) => Some("input"),
        "server_tool_use"
            if !block.field("name").is_some_and(|n| is_legal_id(n) && n.len() <= 128) =>
        {
            Some("name")
        }
        "server_tool_use" if !block.value.get("input").is_some_and(Value::is_object) => {
            Some("input")
        }
        "tool_result" if block.field("tool_use_id").is_none() => Some("tool_use_id"),
        "tool_result"
            if !block
                .value
                .get("is_error")
                .is_none_or(|is| matches!(is, Value::Null | Value::Bool(_))) =>
        {
            Some("is_error")
        }
        "thinking" if block.field("thinking").is_none() => Some("thinking"),
        "image" | "document" if !block.value.get("source").is_some_and(Value::is_object) => {
            Some("source")
        }
        "image" | "document" => {
            check_source(block, faults);
            None
        }
        _ => None,
    };
    if let Some(missing) = missing {
        faults.add(&FIELDS, format!("{}/{missing}", block.at), "");
    }
}

fn check_source(block: &Block<'_>, faults: &mut Faults) {
    let field =
        |name: &str| block.value.pointer(&format!("/source/{name}")).and_then(Value::as_str);
    let is_said = |name: &str| field(name).is_some_and(|value| !value.is_empty());
    let media_type = field("media_type").unwrap_or_default();
    let is_right = match field("type") {
        Some("base64") if block.kind == "image" => {
            IMAGE_TYPES.contains(&media_type) && is_said("data")
        }
        Some("base64") => media_type == PDF && is_said("data"),
        Some("url") => is_said("url"),
        Some("file") => is_said("file_id"),
        Some("text") => is_said("data"),
        // A form that is not known is not judged.
        Some(_) => true,
        None => false,
    };
    if !is_right {
        faults.add(&SOURCE, format!("{}/source", block.at), media_type);
    }
}
