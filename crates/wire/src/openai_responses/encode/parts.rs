//! The parts of contents and outputs.

use std::borrow::Cow;

use serde_json::value::RawValue;

use interleaf_model::{ContentPart, File, Image, MessageId, Opaque, Source, Text};

use super::own::Own;
use crate::adjustment::{AdjustmentKind, Adjustments};
use crate::openai_responses::lint::{Side, is_address, takes_part};
use crate::openai_responses::wire::{self, Part, Raw};
use crate::openai_responses::{
    CHAT_OWNER, OWNER, UNKNOWN_MEDIA, UNNAMED_FILE, WRAPPED_PART, is_part_type,
};

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
    let extra = Raw::default();
    Part::Text(wire::Text { r#type: kind, text: Cow::Owned(note.0), annotations, extra })
}

fn image_part(image: &Image) -> Result<Part<'_>, Note> {
    let media_type = image.media_type.as_deref().filter(|kind| !kind.is_empty());
    let (mut image_url, mut file_id) = (None, None);
    match &image.source {
        Source::Base64(data) if is_data(data) => {
            let media_type = media_type.unwrap_or("image/png");
            image_url = Some(Cow::Owned(format!("data:{media_type};base64,{data}")));
        }
        Source::Url(url) if is_address(url) => image_url = Some(Cow::Borrowed(&**url)),
        Source::Id { owner, id } if is_ours(owner.as_str()) && !id.is_empty() => {
            file_id = Some(&**id);
        }
        _ => return Err(Note("[an image that cannot be sent here]".to_owned())),
    }
    // A media type may hold anything, but an address may not.
    if image_url.as_deref().is_some_and(|url| !is_address(url)) {
        return Err(Note("[an image of a media type that cannot be sent here]".to_owned()));
    }
    let mut own = Own::of(&image.extra, OWNER);
    let detail = own
        .take_text("detail")
        .or_else(|| Own::of(&image.extra, CHAT_OWNER).take_text("detail"))
        .unwrap_or(Cow::Borrowed("auto"));
    let extra = own.rest(&["type", "image_url", "file_id"]);
    Ok(Part::Image(wire::Image { r#type: "input_image", image_url, file_id, detail, extra }))
}

fn file_part(file: &File) -> Result<Part<'_>, Note> {
    let media_type = file.media_type.as_deref().filter(|kind| !kind.is_empty());
    if let Some(media_type) = media_type
        && (media_type.starts_with("audio/") || media_type.starts_with("video/"))
    {
        return Err(Note(format!("[a file of type {media_type} that cannot be sent here]")));
    }
    let mut part = wire::File {
        r#type: "input_file",
        filename: file.name.as_deref().filter(|name| !name.is_empty()),
        file_data: None,
        file_url: None,
        file_id: None,
        extra: Own::of(&file.extra, OWNER).rest(&[
            "type",
            "filename",
            "file_data",
            "file_url",
            "file_id",
        ]),
    };
    match &file.source {
        Source::Base64(data) if is_data(data) => {
            let media_type = media_type.unwrap_or(UNKNOWN_MEDIA);
            part.file_data = Some(format!("data:{media_type};base64,{data}"));
            part.filename = part.filename.or(Some(UNNAMED_FILE));
        }
        Source::Url(url) if is_address(url) => part.file_url = Some(url),
        Source::Id { owner, id } if is_ours(owner.as_str()) && !id.is_empty() => {
            part.file_id = Some(id);
        }
        _ => {
            let name = file.name.as_deref().unwrap_or("a file");
            return Err(Note(format!("[{name}: it cannot be sent here]")));
        }
    }
    Ok(Part::File(part))
}

fn is_data(data: &str) -> bool {
    !data.is_empty() && !data.contains(char::is_whitespace)
}

fn is_ours(owner: &str) -> bool {
    owner == OWNER || owner == CHAT_OWNER
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
        _ => return Err(Note("it is no part of a content".to_owned())),
    };
    let value: serde_json::Value =
        serde_json::from_str(raw.get()).map_err(|_| Note("it is not JSON".to_owned()))?;
    if !takes_part(&value, side) {
        return Err(Note("the API would refuse it here".to_owned()));
    }
    Ok(Part::Raw(Cow::Borrowed(raw)))
}
