//! The system prompts.

use interleaf_model::SystemPart;

use super::parts::text_block;
use crate::adjustment::AdjustmentKind;
use crate::anthropic::wire::Block;
use crate::encode::Context;
use crate::turns::Turns;

/// The system prompts and a summary, each text a block of its own.
pub(super) fn system<'a>(cx: &mut Context<'_>, turns: &Turns<'a>) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    for entry in turns.system {
        let Some(parts) = system_parts(&entry.message) else { continue };
        for part in parts {
            match part {
                SystemPart::Text(text) => blocks.extend(text_block(cx, text, &entry.message)),
                SystemPart::Opaque(opaque) => {
                    let detail = opaque.owner.as_str();
                    cx.adjustments.add(AdjustmentKind::OpaqueDropped, &entry.message.id, detail);
                }
            }
        }
    }
    blocks
}

fn system_parts(message: &interleaf_model::Message) -> Option<&[SystemPart]> {
    match &message.body {
        interleaf_model::Body::System(parts) => Some(parts),
        _ => None,
    }
}
