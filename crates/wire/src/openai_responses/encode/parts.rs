//! The parts of contents and outputs.

use std::borrow::Cow;

use interleaf_model::{ContentPart, MessageId, Opaque, Text};
use serde_json::value::RawValue;

use super::media::{file_part, image_part};
use super::own::Own;
use crate::adjustment::{AdjustmentKind, Adjustments};
use crate::openai_responses::decode::joined;
use crate::openai_responses::lint::{Side, takes_part};
use crate::openai_responses::wire::{self, Part, Rest};
use crate::openai_responses::{OWNER, WRAPPED_PART, is_part_type};
use crate::raw::nearest_raw;

/// What is said in place of something that cannot be sent.
pub(super) struct Note(pub(super) String);

/// The parts of a user message or of a result; what has no place here is told in
/// the adjustments. Items of the vendor's own are not among them.
pub(super) fn content_part<'a>(
    part: &'a ContentPart,
    message: &MessageId,
    adjustments: &mut Adjustments,
) -> Option<Part<'a>> {
    let dropped = |note: Note, adjustments: &mut Adjustments| {
        adjustments.add(AdjustmentKind::MediaDropped, message, note.0.clone());
        Some(note_part(note, "input_text"))
    };
    match part {
        ContentPart::Text(text) if text.is_blank() => {
            adjustments.add(AdjustmentKind::BlankText, message, "");
            None
        }
        ContentPart::Text(text) => Some(text_part(text, "input_text")),
        ContentPart::Image(image) => match image_part(image) {
            Ok(part) => Some(part),
            Err(note) => dropped(note, adjustments),
        },
        ContentPart::File(file) => match file_part(file) {
            Ok(part) => Some(part),
            Err(note) => dropped(note, adjustments),
        },
        ContentPart::Opaque(opaque) => match opaque_part(opaque, Side::Input) {
            Ok(part) => Some(part),
            Err(Note(detail)) => {
                adjustments.add(AdjustmentKind::OpaqueDropped, message, detail);
                None
            }
        },
    }
}

pub(super) fn text_part<'a>(text: &'a Text, kind: &'static str) -> Part<'a> {
    let own = Own::of(&text.extra, OWNER);
    let is_output = kind == "output_text";
    // Only the user's parts may have breakpoints, only the model's annotations.
    let foreign = if is_output { "prompt_cache_breakpoint" } else { "annotations" };
    let annotations = (is_output && own.peek("annotations").is_none()).then_some([]);
    let extra = own.rest(&["type", "text", "item", foreign]);
    Part::Text(wire::Text { r#type: kind, text: Cow::Borrowed(&text.text), annotations, extra })
}

pub(super) fn note_part<'a>(note: Note, kind: &'static str) -> Part<'a> {
    let annotations = (kind == "output_text").then_some([]);
    let extra = Rest::NONE;
    Part::Text(wire::Text { r#type: kind, text: Cow::Owned(note.0), annotations, extra })
}

/// A content part of the vendor's own, as it came; or why it is left out.
pub(super) fn opaque_part(opaque: &Opaque, side: Side) -> Result<Part<'_>, Note> {
    if opaque.owner.as_str() != OWNER {
        return Err(Note(format!("it is {}'s", opaque.owner)));
    }
    let raw: &RawValue = serde_json::from_str(opaque.value.as_str())
        .map_err(|_| Note("it is not JSON".to_owned()))?;
    let own = Own::of_raw(raw);
    let kind = own.peek_text("type").unwrap_or_default();
    let raw = match own.peek("part") {
        Some(part) if kind == WRAPPED_PART => part,
        _ if is_part_type(&kind) => raw,
        _ => return Err(Note("content cannot hold it".to_owned())),
    };
    if !takes_part(&nearest_raw(raw), side) {
        return Err(Note("the API would refuse it here".to_owned()));
    }
    Ok(Part::Raw(Cow::Borrowed(raw)))
}

/// The summary as it came, if it still says the same.
pub(super) fn summary<'a>(own: &mut Own<'a>, said: &'a str) -> wire::Summary<'a> {
    let kept = own.take("summary").filter(|raw| raw.get().starts_with('['));
    let content = own.peek("content").map(joined).unwrap_or_default();
    match kept {
        Some(kept) if joined(kept) == said || content == said => wire::Summary::Raw(kept),
        None if !said.is_empty() && content == said => wire::Summary::Empty([]),
        _ if said.trim().is_empty() => wire::Summary::Empty([]),
        _ => wire::Summary::One([wire::SummaryText { r#type: "summary_text", text: said }]),
    }
}
