//! The system messages: `instructions`, or items at the head.

use interleaf_model::{Entry, SystemPart};

use super::marks::input_content;
use super::message;
use super::own::Own;
use super::parts::{self, Note, text_part};
use crate::adjustment::AdjustmentKind;
use crate::encode::Context;
use crate::openai_responses::wire::Message;
use crate::openai_responses::{CHAT_OWNER, OWNER};

/// Put in front where the answer must be JSON and nobody has said so: the API wants
/// to hear the word.
pub(super) const ASK_FOR_JSON: &str = "Answer in JSON.";

/// The text of a system message that was read from `instructions`, and still is one
/// text.
pub(in crate::openai_responses) fn instructions(entry: &Entry) -> Option<&str> {
    let own = Own::of(&entry.message.extra, OWNER);
    if own.peek_text("role").as_deref() != Some("instructions") {
        return None;
    }
    match &entry.message.body {
        interleaf_model::Body::System(parts) => match &**parts {
            [SystemPart::Text(text)] if !text.is_blank() => Some(&text.text),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn system_item<'a>(
    cx: &mut Context<'_>,
    entry: &'a Entry,
    is_marked: bool,
) -> Option<Message<'a>> {
    let message_id = &entry.message.id;
    let interleaf_model::Body::System(system) = &entry.message.body else { return None };
    let mut parts = Vec::new();
    for part in system.iter() {
        match part {
            SystemPart::Text(text) if text.is_blank() => {
                cx.adjustments.add(AdjustmentKind::BlankText, message_id, "");
            }
            SystemPart::Text(text) => parts.push(text_part(text, "input_text")),
            SystemPart::Opaque(opaque) => {
                match parts::opaque_part(opaque, crate::openai_responses::lint::Side::Input) {
                    Ok(part) => parts.push(part),
                    Err(Note(detail)) => {
                        cx.adjustments.add(AdjustmentKind::OpaqueDropped, message_id, detail)
                    }
                }
            }
        }
    }
    if parts.is_empty() {
        return None;
    }
    let mut own = Own::of(&entry.message.extra, OWNER);
    let chat = Own::of(&entry.message.extra, CHAT_OWNER);
    let is_developer = own.take_text("role").as_deref() == Some("developer")
        || chat.peek_text("role").as_deref() == Some("developer");
    let role = if is_developer { "developer" } else { "system" };
    let content = input_content(cx, parts, is_marked);
    Some(message(role, content, own.rest(&["id", "type", "content"])))
}
