//! Pictures and files.

use interleaf_model::{File, Image, Message, Source};

use super::parts::part_rest;
use crate::adjustment::AdjustmentKind;
use crate::encode::Context;
use crate::openai_chat::OPENAI;
use crate::openai_chat::wire::{self, ImageUrl, InputAudio, Part};

/// A picture, or a text that says that there was one.
pub(super) fn image_or_note<'a>(
    cx: &mut Context<'_>,
    message: &Message,
    picture: &'a Image,
) -> Part<'a> {
    match image(cx, message, picture) {
        Ok(part) => part,
        Err(reason) => note(cx, message, "image", &reason),
    }
}

/// A file, or a text that says that there was one.
pub(super) fn file_or_note<'a>(
    cx: &mut Context<'_>,
    message: &Message,
    attached: &'a File,
) -> Part<'a> {
    match file(cx, message, attached) {
        Ok(part) => part,
        Err(reason) => note(cx, message, "file", &reason),
    }
}

/// A text where something could not travel.
pub(super) fn note<'a>(
    cx: &mut Context<'_>,
    message: &Message,
    what: &str,
    reason: &str,
) -> Part<'a> {
    cx.adjustments.add(AdjustmentKind::MediaDropped, &message.id, format!("{what}: {reason}"));
    Part::text(format!("[{what} left out: {reason}]"))
}

fn image<'a>(
    cx: &mut Context<'_>,
    message: &Message,
    image: &'a Image,
) -> Result<Part<'a>, String> {
    let url = match &image.source {
        Source::Base64(data) => {
            let media_type = image.media_type.as_deref().map(str::trim).filter(|m| !m.is_empty());
            format!("data:{};base64,{data}", media_type.unwrap_or_else(|| guess(data))).into()
        }
        Source::Url(url) if is_inline(url) => (&**url).into(),
        Source::Url(url) if !is_web_address(url) => return Err(format!("it is at {url}")),
        Source::Url(url) if cx.vendor.quirks.inline_images => {
            return Err(format!("it is at {url}, and pictures must be inline"));
        }
        Source::Url(url) => (&**url).into(),
        Source::Id { owner, id } => return Err(format!("{owner} keeps it as {id}")),
    };
    let mut rest = part_rest(cx, message, &image.extra, &["type"]);
    let inner = rest.take_inner("image_url", &["url", "detail"]);
    let detail = rest.take("detail");
    Ok(Part::ImageUrl { image_url: ImageUrl { url, detail, rest: inner }, rest })
}

fn file<'a>(cx: &mut Context<'_>, message: &Message, file: &'a File) -> Result<Part<'a>, String> {
    let media_type = file.media_type.as_deref().unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let mut rest = part_rest(cx, message, &file.extra, &["type"]);
    if let (Some(format), Source::Base64(data)) = (essence.strip_prefix("audio/"), &file.source) {
        let format = match format {
            "wav" | "x-wav" | "wave" | "vnd.wave" => "wav",
            "mpeg" | "mp3" => "mp3",
            _ => return Err(format!("a sound in {media_type}")),
        };
        let inner = rest.take_inner("input_audio", &["data", "format"]);
        rest.take("file");
        return Ok(Part::InputAudio {
            input_audio: InputAudio { data, format, rest: inner },
            rest,
        });
    }
    let (file_data, file_id) = match &file.source {
        Source::Base64(data) if media_type.is_empty() => (Some((&**data).into()), None),
        Source::Base64(data) => (Some(format!("data:{media_type};base64,{data}").into()), None),
        Source::Id { owner, id } if owner.as_str() == OPENAI => (None, Some(&**id)),
        Source::Id { owner, id } => return Err(format!("{owner} keeps it as {id}")),
        Source::Url(url) => return Err(format!("it is at {url}")),
    };
    let filename = file.name.as_deref().map(Into::into);
    let inner = rest.take_inner("file", &["filename", "file_data", "file_id", "file_url"]);
    rest.take("input_audio");
    Ok(Part::File { file: wire::File { filename, file_data, file_id, rest: inner }, rest })
}

/// What a picture without a media type is, by its first bytes.
fn guess(base64: &str) -> &'static str {
    const FIRST_BYTES: [(&str, &str); 3] =
        [("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp")];
    let known = FIRST_BYTES.into_iter().find(|(start, _)| base64.starts_with(start));
    known.map_or("image/png", |(_, media_type)| media_type)
}

fn is_inline(url: &str) -> bool {
    has_scheme(url, "data:")
}

fn is_web_address(url: &str) -> bool {
    has_scheme(url, "https://") || has_scheme(url, "http://")
}

fn has_scheme(url: &str, scheme: &str) -> bool {
    url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}
