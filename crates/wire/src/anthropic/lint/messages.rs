//! Messages, each for itself.

use super::parts::check_block;
use super::rules::{
    CONTENT, COUNT, EMPTY, FIRST, PREFILL, ROLE, SOURCE, SYSTEM, SYSTEM_MESSAGE, TEXT, TRAILING,
};
use super::{Parsed, blocks};
use crate::anthropic::is_blank;
use crate::lint::Faults;
use crate::tree::Value;

const MOST_MESSAGES: usize = 100_000;
const MOST_IMAGES: usize = 600;

pub(super) fn check(parsed: &Parsed<'_>, faults: &mut Faults) {
    check_system(parsed, faults);
    let messages = &parsed.messages;
    let is_list = parsed.body.get("messages").is_some_and(Value::is_array);
    if is_list && messages.is_empty() || messages.len() > MOST_MESSAGES {
        faults.add(&COUNT, "/messages", format!("there are {}", messages.len()));
    }
    if messages.first().is_some_and(|first| matches!(first.role, "assistant" | "system")) {
        faults.add(&FIRST, "/messages/0/role", "");
    }
    let mut n_images = 0;
    for (i, message) in messages.iter().enumerate() {
        match message.role {
            "user" | "assistant" => {}
            "system" => check_system_message(parsed, i, faults),
            role => faults.add(&ROLE, format!("{}/role", message.at), role),
        }
        check_content(parsed, i, faults);
        for block in &message.blocks {
            check_block(message, block, faults);
            n_images += usize::from(block.kind == "image");
        }
    }
    if n_images > MOST_IMAGES {
        faults.add(&SOURCE, "/messages", format!("there are {n_images} images"));
    }
    if parsed.is_prefilled() {
        check_prefill(parsed, faults);
    }
}

fn check_system(parsed: &Parsed<'_>, faults: &mut Faults) {
    let Some(system) = parsed.body.get("system").filter(|system| !system.is_null()) else { return };
    if !system.is_string() && !system.is_array() {
        faults.add(&SYSTEM, "/system", "");
    }
    for mut block in blocks(system, "") {
        block.at = block.at.replacen("/content", "/system", 1);
        if block.kind != "text" {
            faults.add(&SYSTEM, block.at, block.kind);
        } else if block.text().is_none_or(is_blank) {
            faults.add(&TEXT, block.at, "");
        }
    }
}

/// A system message stands after the user's turn, or after a tool that the API ran.
fn check_system_message(parsed: &Parsed<'_>, i: usize, faults: &mut Faults) {
    let at = parsed.messages[i].at.as_str();
    let before = i.checked_sub(1).and_then(|before| parsed.messages.get(before));
    let follows = before.is_some_and(|before| {
        let is_served = before
            .blocks
            .last()
            .is_some_and(|last| last.kind != "tool_result" && last.kind.ends_with("_tool_result"));
        matches!(before.role, "user" | "system") || before.role == "assistant" && is_served
    });
    let is_followed = parsed.messages.get(i + 1).is_some_and(|after| after.role == "user");
    if !follows && i > 0 {
        faults.add(&SYSTEM_MESSAGE, at, "it must follow the user's turn");
    }
    if is_followed {
        faults.add(&SYSTEM_MESSAGE, at, "the assistant must speak after it");
    }
    // Nothing is assumed of a model that is not known.
    if parsed.model.takes_system_messages() == Some(false) {
        faults.add(&SYSTEM_MESSAGE, at, "the model takes none");
    }
}

fn check_content(parsed: &Parsed<'_>, i: usize, faults: &mut Faults) {
    let message = &parsed.messages[i];
    let content = parsed.body.pointer(&format!("{}/content", message.at));
    let is_last = i + 1 == parsed.messages.len() && message.role == "assistant";
    match content {
        None | Some(Value::Null) => faults.add(&EMPTY, message.at.as_str(), ""),
        Some(Value::Array(list)) if list.is_empty() && !is_last => {
            faults.add(&EMPTY, format!("{}/content", message.at), "");
        }
        Some(Value::String(text)) if text.is_empty() && !is_last => {
            faults.add(&EMPTY, format!("{}/content", message.at), "");
        }
        Some(Value::Array(_) | Value::String(_)) => {}
        Some(_) => faults.add(&CONTENT, format!("{}/content", message.at), ""),
    }
    for block in &message.blocks {
        if block.kind.is_empty() {
            faults.add(&CONTENT, block.at.as_str(), "a block is an object with a type");
        }
    }
}

fn check_prefill(parsed: &Parsed<'_>, faults: &mut Faults) {
    let Some(last) = parsed.messages.last() else { return };
    if parsed.model.refuses_prefill() {
        faults.add(&PREFILL, last.at.as_str(), "");
    }
    if let Some(block) = last.blocks.last().filter(|block| block.kind == "text")
        && block.text().is_some_and(|text| text.trim_end() != text && !is_blank(text))
    {
        faults.add(&TRAILING, block.at.as_str(), "");
    }
}
