//! The system prompts.

use interleaf_model::{Entry, SystemPart};

use super::{mark, parts};
use crate::CacheMarks;
use crate::adjustment::AdjustmentKind;
use crate::bedrock::wire::Block;
use crate::encode::Context;

pub(super) fn system<'a>(cx: &mut Context<'_>, entries: &'a [Entry]) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block<'a>> = Vec::new();
    for message in entries.iter().map(|entry| &*entry.message) {
        let interleaf_model::Body::System(parts) = &message.body else { continue };
        for part in parts.iter() {
            match part {
                SystemPart::Text(text) if text.is_blank() => {
                    cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "");
                }
                SystemPart::Text(text) => {
                    let kind = crate::bedrock::wire::Kind::Text((&*text.text).into());
                    blocks.push(Block::with(kind, &text.extra));
                }
                SystemPart::Opaque(opaque) => {
                    let place = parts::Place::System;
                    if let Some(block) = parts::own(cx, opaque, &message.id, place, &blocks) {
                        blocks.push(block);
                    }
                }
            }
        }
    }
    if cx.options.cache == CacheMarks::On {
        mark(&mut blocks, 0);
    }
    blocks
}
