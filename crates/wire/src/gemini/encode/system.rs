//! The system prompts: one instruction.

use crate::gemini::wire::rest_without;
use interleaf_model::{Body, Entry, SystemPart};

use super::fields;
use super::parts::said;
use crate::adjustment::AdjustmentKind;
use crate::encode::Context;
use crate::gemini::wire::{Element, Rest, SystemInstruction};

pub(super) fn instruction<'a>(
    cx: &mut Context<'_>,
    system: &'a [Entry],
) -> Option<SystemInstruction<'a>> {
    let mut parts = Vec::new();
    let mut rest = Rest::default();
    for entry in system {
        let message = &*entry.message;
        let Body::System(all) = &message.body else {
            continue;
        };
        if let Some(fields) = fields(&message.extra) {
            rest.merge(rest_without(&fields, &["parts"]));
        }
        for part in all.iter() {
            match part {
                SystemPart::Text(text) if text.is_blank() => {
                    cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "left out");
                }
                SystemPart::Text(text) => parts.push(Element::Part(said(text))),
                SystemPart::Opaque(opaque) => {
                    let reason = format!("a part of {} in the system text", opaque.owner);
                    cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, reason);
                }
            }
        }
    }
    (!parts.is_empty()).then_some(SystemInstruction { parts, rest })
}
