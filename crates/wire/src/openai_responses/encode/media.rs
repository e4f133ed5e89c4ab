//! Pictures and files.

use std::borrow::Cow;

use interleaf_model::{File, Image, Source};

use super::own::Own;
use super::parts::Note;
use crate::openai_responses::lint::is_address;
use crate::openai_responses::wire::{self, Part};
use crate::openai_responses::{CHAT_OWNER, OWNER, UNKNOWN_MEDIA, UNNAMED_FILE};

pub(super) fn image_part(image: &Image) -> Result<Part<'_>, Note> {
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

pub(super) fn file_part(file: &File) -> Result<Part<'_>, Note> {
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
