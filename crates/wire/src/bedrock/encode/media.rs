//! Pictures, documents, films and sounds.

use crate::bedrock::wire::OWNER;
use interleaf_model::{Extra, File, Image, Message, MessageId, Source};

use super::documents::{Documents, format_and_source, sendable};
use crate::adjustment::AdjustmentKind;
use crate::bedrock::media::{self, Format, MediaKind};
use crate::bedrock::wire::{self, Block, Kind, Media, Rest, S3Location, own_field};
use crate::encode::Context;

pub(super) fn image_block<'a>(
    cx: &mut Context<'_>,
    image: &'a Image,
    message: &MessageId,
) -> Block<'a> {
    let format = sendable(&image.source, image.media_type.as_deref(), "");
    match format {
        Some(format) if format.kind == MediaKind::Image => {
            let media = media_of(format, &image.source, &image.extra);
            Block::with(Kind::Image(media), &image.extra)
        }
        _ => left_out(cx, "image", why(&image.source), message),
    }
}

pub(super) fn file_block<'a>(
    cx: &mut Context<'_>,
    file: &'a File,
    documents: &mut Documents,
    message: &Message,
) -> Block<'a> {
    let what = file.name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or("file");
    let Some((format, source)) = format_and_source(file) else {
        return left_out(cx, what, why(&file.source), &message.id);
    };
    let kind = match format.kind {
        MediaKind::Image => Kind::Image(media_of(format, source, &file.extra)),
        MediaKind::Video => Kind::Video(media_of(format, source, &file.extra)),
        MediaKind::Audio => Kind::Audio(media_of(format, source, &file.extra)),
        MediaKind::Document => {
            let Some(name) = documents.admit(file, message, format) else {
                return left_out(cx, what, "there are too many documents", &message.id);
            };
            if file.name.as_deref() != Some(&*name) {
                let before = file.name.as_deref().unwrap_or_default();
                let detail = format!("{before:?} became {name:?}");
                cx.adjustments.add(AdjustmentKind::FileRenamed, &message.id, detail);
            }
            let Media { format, source, mut rest } = media_of(format, source, &file.extra);
            rest.take("name");
            Kind::Document(wire::Document { format, name, source, rest })
        }
    };
    Block::with(kind, &file.extra)
}

/// The caller knows that the source can travel.
fn media_of<'a>(format: &Format, source: &'a Source, extra: &'a Extra) -> Media<'a> {
    let name = format.kind.as_str();
    let source = match source {
        Source::Url(url) if url.starts_with("s3://") => {
            let location = own_field(extra, name)
                .and_then(|inner| crate::raw::Fields::read(inner).ok()?.peek("s3Location"));
            let rest = location.map_or(Rest::NONE, |inner| Rest::of_value(inner, &["uri"]));
            wire::Source::S3Location(S3Location { uri: url, rest })
        }
        Source::Url(url) => {
            wire::Source::Bytes(media::split_data_url(url).map_or("", |(_, data)| data))
        }
        Source::Base64(data) => wire::Source::Bytes(data),
        Source::Id { id, .. } => wire::Source::Bytes(id),
    };
    let rest = Rest::inside(extra, OWNER, name, &["format", "source", "s3Location"]);
    Media { format: format.name, source, rest }
}

/// Why a medium cannot travel.
fn why(source: &Source) -> &'static str {
    match source {
        Source::Base64(_) => "the API does not take its format",
        Source::Url(_) => "the API does not fetch addresses",
        Source::Id { .. } => "the API has no uploaded files",
    }
}

/// The note that stands for what cannot travel.
pub(super) fn left_out<'a>(
    cx: &mut Context<'_>,
    what: &str,
    why: &str,
    message: &MessageId,
) -> Block<'a> {
    cx.adjustments.add(AdjustmentKind::MediaDropped, message, format!("{what}: {why}"));
    Block::text(format!("[{what} left out: {why}]"))
}
