//! The system prompts.

use interleaf_model::{Entry, Message, SystemPart};

use super::blocks::{Blocks, message_rest, set_last_mark};
use super::parts::text_block;
use crate::adjustment::AdjustmentKind;
use crate::anthropic::wire::{Block, CacheMark, Message as MessageForm};
use crate::anthropic::{CLEAR_AT, MARK, clears};
use crate::encode::Context;
use crate::turns::Turns;

/// The system prompts and a summary, each text a block of its own.
pub(super) fn system<'a>(cx: &mut Context<'_>, turns: &Turns<'a>) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    turns.system.iter().for_each(|entry| add(cx, &entry.message, &mut blocks));
    blocks
}

/// System messages between the others, each that says something, with its number among them.
pub(super) fn in_place<'a>(
    cx: &mut Context<'_>,
    entries: &'a [Entry],
) -> Vec<(usize, MessageForm<'a>)> {
    let mut messages = Vec::new();
    for (number, Entry { message, .. }) in entries.iter().enumerate() {
        let mut blocks = Blocks::default();
        add(cx, message, &mut blocks.list);
        if !blocks.list.is_empty() {
            blocks.attach(message_rest(message, cx.options.cache));
            let mut form = blocks.message("system", cx.options.cache);
            if is_cleared(&form) {
                form.content.0.iter_mut().for_each(drop_mark);
            }
            messages.push((number, form));
        }
    }
    messages
}

/// Sets the mark on the last of these messages up to this number that can have one.
pub(super) fn set_mark<'a>(
    messages: &mut [(usize, MessageForm<'a>)],
    upto: usize,
    mark: CacheMark<'a>,
) -> bool {
    let before = messages.iter_mut().rev().filter(|(number, _)| *number <= upto);
    let mut markable = before.map(|(_, form)| form).filter(|form| !is_cleared(form));
    markable.any(|form| set_last_mark(&mut form.content.0, mark))
}

/// Whether a message is there for one turn only.
fn is_cleared(form: &MessageForm<'_>) -> bool {
    form.rest.get(CLEAR_AT).is_some_and(|value| clears(value.get()))
}

/// Drops the mark that a text came with.
fn drop_mark(block: &mut Block<'_>) {
    if let Block::Text(text) = block {
        text.rest.retain(|name, _| name != MARK);
    }
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
