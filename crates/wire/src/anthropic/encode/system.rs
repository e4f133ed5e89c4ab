//! The system prompts.

use interleaf_model::{Entry, Message, SystemPart};

use super::blocks::message_rest;
use super::parts::text_block;
use crate::CacheMarks;
use crate::adjustment::AdjustmentKind;
use crate::anthropic::wire::{Block, Content, Message as MessageForm};
use crate::encode::Context;
use crate::turns::Turns;

/// The system prompts and a summary, each text a block of its own.
pub(super) fn system<'a>(cx: &mut Context<'_>, turns: &Turns<'a>) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    turns.system.iter().for_each(|entry| add(cx, &entry.message, &mut blocks));
    blocks
}

/// System messages between the others, each that says something.
pub(super) fn in_place<'a>(cx: &mut Context<'_>, entries: &'a [Entry]) -> Vec<MessageForm<'a>> {
    let mut messages = Vec::new();
    for Entry { message, .. } in entries {
        let mut content = Vec::new();
        add(cx, message, &mut content);
        if !content.is_empty() {
            let rest = message_rest(message, cx.options.cache);
            // No mark of ours ever stands on it.
            messages.push(MessageForm {
                role: "system",
                content: Content(content, CacheMarks::Off),
                rest,
            });
        }
    }
    messages
}

/// Adds what a system message says.
fn add<'a>(cx: &mut Context<'_>, message: &'a Message, blocks: &mut Vec<Block<'a>>) {
    for part in system_parts(message).unwrap_or_default() {
        match part {
            SystemPart::Text(text) => blocks.extend(text_block(cx, text, message)),
            SystemPart::Opaque(opaque) => {
                let detail = opaque.owner.as_str();
                cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, detail);
            }
        }
    }
}

fn system_parts(message: &Message) -> Option<&[SystemPart]> {
    match &message.body {
        interleaf_model::Body::System(parts) => Some(parts),
        _ => None,
    }
}
