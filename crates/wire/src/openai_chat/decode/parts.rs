//! The parts of `content`.

use std::sync::Arc;

use smol_str::{SmolStr, format_smolstr};

use interleaf_model::{
    AssistantPart, ContentPart, Extra, File, Image, Json, Opaque, Parts, Source, SystemPart, Text,
    VendorName,
};

use super::form::{Content, FileSource, Part, PartForm};
use super::{OPENAI, extra};
use crate::error::Fault;
use crate::raw::ObjectText;
use crate::source;

pub(super) fn system_parts(content: Content<'_>) -> Result<Parts<SystemPart>, Fault<'_>> {
    let parts = match content {
        Content::Text(text) => vec![SystemPart::Text(Text::new(text))],
        Content::Parts(parts) => parts.into_iter().map(system_part).collect::<Result<_, _>>()?,
    };
    Ok(Parts::new(parts).unwrap_or_else(|_| Parts::one(SystemPart::Text(Text::new("")))))
}

pub(super) fn content_parts(content: Content<'_>) -> Result<Parts<ContentPart>, Fault<'_>> {
    let parts = match content {
        Content::Text(text) => vec![ContentPart::Text(Text::new(text))],
        Content::Parts(parts) => parts.into_iter().map(content_part).collect::<Result<_, _>>()?,
    };
    Ok(Parts::new(parts).unwrap_or_else(|_| Parts::one(ContentPart::Text(Text::new("")))))
}

pub(super) fn assistant_part(part: Part<'_>) -> Result<AssistantPart, Fault<'_>> {
    Ok(match content_part(part)? {
        ContentPart::Text(text) => AssistantPart::Text(text),
        ContentPart::Image(image) => AssistantPart::Image(image),
        ContentPart::File(file) => AssistantPart::File(file),
        ContentPart::Opaque(opaque) => AssistantPart::Opaque(opaque),
    })
}

/// A system message holds text; whatever else was sent is kept as it came.
fn system_part(part: Part<'_>) -> Result<SystemPart, Fault<'_>> {
    let raw = part.raw;
    Ok(match content_part(part)? {
        ContentPart::Text(text) => SystemPart::Text(text),
        ContentPart::Opaque(opaque) => SystemPart::Opaque(opaque),
        ContentPart::Image(_) | ContentPart::File(_) => {
            SystemPart::Opaque(Opaque { owner: VendorName::new(OPENAI), value: Json::from(raw) })
        }
    })
}

fn content_part(part: Part<'_>) -> Result<ContentPart, Fault<'_>> {
    Ok(match &part.form {
        PartForm::Text(text) => {
            ContentPart::Text(Text { text: Arc::from(&**text), extra: part_extra(&part)? })
        }
        PartForm::ImageUrl { url, .. } => {
            let (source, media_type) = source::of_url(url);
            source::check(&source, part.raw)?;
            ContentPart::Image(Image { source, media_type, extra: part_extra(&part)? })
        }
        PartForm::File { source, filename } => {
            let (source, media_type) = match source {
                FileSource::Data(data) => source::of_data(data),
                FileSource::Url(url) => source::of_url(url),
                FileSource::Id(id) => {
                    let owner = VendorName::new(OPENAI);
                    (Source::Id { owner, id: Arc::from(&**id) }, None)
                }
            };
            source::check(&source, part.raw)?;
            let name = filename.as_deref().map(SmolStr::new);
            ContentPart::File(File { source, media_type, name, extra: part_extra(&part)? })
        }
        PartForm::InputAudio { data, format } => {
            let media_type = format.as_deref().map(|format| match format {
                "mp3" => SmolStr::new_static("audio/mpeg"),
                _ => format_smolstr!("audio/{format}"),
            });
            let source = Source::Base64(Arc::from(&**data));
            source::check(&source, part.raw)?;
            ContentPart::File(File { source, media_type, name: None, extra: part_extra(&part)? })
        }
        PartForm::Other => {
            let value = Json::from(part.raw);
            ContentPart::Opaque(Opaque { owner: VendorName::new(OPENAI), value })
        }
    })
}

/// The fields without a meaning here; those of the inner object stay below its
/// name, but for the `detail` of an image.
fn part_extra(part: &Part<'_>) -> Result<Extra, interleaf_model::Error> {
    let mut own = ObjectText::default();
    if let PartForm::ImageUrl { detail: Some(detail), .. } = &part.form {
        own.push("detail", detail.get());
    }
    own.push_all(&part.rest);
    if let Some((name, inner)) = &part.inner {
        own.push_object(name, inner);
    }
    extra([(OPENAI, own)])
}
