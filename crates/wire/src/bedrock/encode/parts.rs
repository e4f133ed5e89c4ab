//! From parts to content blocks.

use std::borrow::Cow;

use interleaf_model::{Body, ContentPart, Extra, Message, MessageId, Opaque};

use super::documents::Documents;
use super::media::{file_block, image_block};
use crate::adjustment::AdjustmentKind;
use crate::bedrock::lint;
use crate::bedrock::wire::{self, AFTER_RESULT, AROUND_RESULT, Block, Kind, OWNER};
use crate::encode::Context;
use crate::{CacheMarks, names};

/// What a message has that is not an unknown field of the turn.
pub(super) const MESSAGE_FIELDS: &[&str] =
    &["role", "content", "toolResult", AFTER_RESULT, AROUND_RESULT];

pub(super) use lint::Place;

/// What the user said in one message.
pub(super) fn said_blocks<'a>(
    cx: &mut Context<'_>,
    message: &'a Message,
    documents: &mut Documents,
    out: &mut Vec<Block<'a>>,
) {
    let Body::User(parts) = &message.body else { return };
    for part in parts.iter() {
        match part {
            ContentPart::Text(text) => push_text(cx, &text.text, &text.extra, &message.id, out),
            ContentPart::Image(image) => out.push(image_block(cx, image, &message.id)),
            ContentPart::File(file) => out.push(file_block(cx, file, documents, message)),
            ContentPart::Opaque(opaque) => {
                if let Some(block) = own(cx, opaque, &message.id, Place::User, out) {
                    push_own(cx, opaque, block, documents, &message.id, out);
                }
            }
        }
    }
}

/// A part that is given back as it came, if it may stand after `before`.
pub(super) fn own<'a>(
    cx: &mut Context<'_>,
    opaque: &'a Opaque,
    message: &MessageId,
    place: Place,
    before: &[Block<'_>],
) -> Option<Block<'a>> {
    let raw = wire::raw(&opaque.value).filter(|raw| lint::takes_block(raw, place));
    let refused = if opaque.owner.as_str() != OWNER {
        opaque.owner.as_str()
    } else if let Some(raw) = raw {
        if wire::kind_of(raw) != Some("cachePoint") {
            return Some(Block::Own(raw));
        }
        if cx.options.cache == CacheMarks::On {
            // Breakpoints are placed anew.
            return None;
        }
        let last = before.last().map(Block::kind);
        if last.is_some_and(|kind| !lint::UNMARKABLE.contains(&kind)) {
            return Some(Block::Own(raw));
        }
        "a cache breakpoint is not allowed here"
    } else {
        "the API does not take it here"
    };
    cx.adjustments.add(AdjustmentKind::OpaqueDropped, message, refused);
    None
}

/// Adds a part of our own, which may be a document.
pub(super) fn push_own<'a>(
    cx: &mut Context<'_>,
    opaque: &'a Opaque,
    block: Block<'a>,
    documents: &mut Documents,
    message: &MessageId,
    out: &mut Vec<Block<'a>>,
) {
    if block.kind() == "document" && !documents.admit_own(&opaque.value) {
        let detail = "too many documents, or two with one name";
        cx.adjustments.add(AdjustmentKind::OpaqueDropped, message, detail);
    } else {
        out.push(block);
    }
}

pub(super) fn push_text<'a>(
    cx: &mut Context<'_>,
    text: &'a str,
    extra: &'a Extra,
    message: &MessageId,
    out: &mut Vec<Block<'a>>,
) {
    if text.trim().is_empty() {
        cx.adjustments.add(AdjustmentKind::BlankText, message, "");
    } else {
        out.push(Block::with(Kind::Text(text.into()), extra));
    }
}

pub(super) fn call_id<'a>(
    cx: &mut Context<'_>,
    id: &'a interleaf_model::CallId,
    message: &MessageId,
) -> Cow<'a, str> {
    let written = names::call_id(id, &cx.vendor.quirks.call_ids);
    if let Cow::Owned(written) = &written {
        cx.adjustments.add(
            AdjustmentKind::CallIdRewritten,
            message,
            format!("{id} became {written}"),
        );
    }
    written
}
