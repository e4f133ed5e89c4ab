//! Pictures and documents.

use std::borrow::Cow;

use interleaf_model::{Extra, File, Image, Source};

use super::{fields, rest, rest_of};
use crate::CacheMarks;
use crate::anthropic::wire::{Block, DocumentBlock, ImageBlock, Rest, SourceForm};
use crate::anthropic::{IMAGE_TYPES, OWNER, PDF, PLAIN_TEXT};
use crate::base64;

/// How files of each type begin, in base64.
const MAGIC: [(&str, &str); 5] = [
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
    ("JVBERi", PDF),
];

/// Types that are text, whatever they are called.
const TEXT_TYPES: [&str; 6] = [
    "application/json",
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/javascript",
];

/// The block of a picture, or the note that stands for it.
pub(super) fn image_block(image: &Image, cache: CacheMarks) -> Result<Block<'_>, String> {
    let media_type = media_type(image.media_type.as_deref(), &image.source, None);
    let source = match &image.source {
        Source::Base64(data) => {
            let known = IMAGE_TYPES.into_iter().find(|known| media_type == Some(known));
            match known.filter(|_| !data.is_empty()) {
                Some(known) => in_base64(known, data),
                None => {
                    let shown = media_type.unwrap_or("unknown");
                    return Err(format!("[image not sent: its type is {shown}]"));
                }
            }
        }
        source => elsewhere(source).ok_or("[image not sent: its bytes are not at hand]")?,
    };
    let rest = rest(&image.extra, &["type", "source"], cache);
    let source = with_inner(source, &image.extra);
    Ok(Block::Image(ImageBlock { source, cache_control: None, rest }))
}

/// The block of a file, without the fields `unwritten`, or the note that stands for it.
pub(super) fn file_block<'a>(
    file: &'a File,
    cache: CacheMarks,
    unwritten: &[&str],
) -> Result<Block<'a>, String> {
    let media_type = media_type(file.media_type.as_deref(), &file.source, file.name.as_deref());
    if let Some(kind) = media_type
        && IMAGE_TYPES.contains(&kind)
    {
        let rest = rest(&file.extra, &["type", "source"], cache);
        let source = match &file.source {
            Source::Base64(data) => IMAGE_TYPES
                .into_iter()
                .find(|known| *known == kind && !data.is_empty())
                .map(|known| in_base64(known, data)),
            source => elsewhere(source),
        };
        let source = source.ok_or_else(|| note(file, "its bytes are not at hand"))?;
        return Ok(Block::Image(ImageBlock { source, cache_control: None, rest }));
    }
    let is_text = |kind: &str| kind.starts_with("text/") || TEXT_TYPES.contains(&kind);
    let source = match (&file.source, media_type) {
        (Source::Base64(data), Some(PDF)) if !data.is_empty() => in_base64(PDF, data),
        (Source::Base64(data), Some(kind)) if is_text(kind) => {
            let text = base64::decode(data).filter(|text| !text.is_empty());
            let text = text.ok_or_else(|| note(file, "it is not UTF-8"))?;
            SourceForm {
                kind: "text",
                media_type: Some(PLAIN_TEXT),
                data: Some(Cow::Owned(text)),
                ..blank()
            }
        }
        (Source::Url(_) | Source::Id { .. }, None | Some(PDF | PLAIN_TEXT)) => {
            elsewhere(&file.source).ok_or_else(|| note(file, "its bytes are not at hand"))?
        }
        (_, Some(kind)) => return Err(note(file, &format!("its type is {kind}"))),
        (_, None) => return Err(note(file, "its type is unknown")),
    };
    let title = file.name.as_deref().filter(|name| !name.trim().is_empty());
    let mut rest = rest(&file.extra, &["type", "source", "title"], cache);
    rest.retain(|name, _| !unwritten.contains(&name));
    let source = with_inner(source, &file.extra);
    Ok(Block::Document(DocumentBlock { source, title, cache_control: None, rest }))
}

fn note(file: &File, reason: &str) -> String {
    match file.name.as_deref() {
        Some(name) => format!("[file {name} not sent: {reason}]"),
        None => format!("[file not sent: {reason}]"),
    }
}

/// The type, without its parameters; where it is not said, as the bytes or the name
/// tell.
fn media_type<'a>(said: Option<&'a str>, source: &Source, name: Option<&str>) -> Option<&'a str> {
    let said = said.and_then(|said| said.split(';').next()).map(str::trim);
    match said.filter(|said| !said.is_empty()) {
        Some("image/jpg") => return Some("image/jpeg"),
        Some(said) => return Some(said),
        None => {}
    }
    if let Source::Base64(data) = source
        && let Some((_, kind)) = MAGIC.into_iter().find(|(start, _)| data.starts_with(start))
    {
        return Some(kind);
    }
    match name?.rsplit_once('.')?.1 {
        "pdf" => Some(PDF),
        "txt" | "md" | "csv" => Some(PLAIN_TEXT),
        _ => None,
    }
}

fn blank<'a>() -> SourceForm<'a> {
    let rest = Rest::default();
    SourceForm { kind: "", media_type: None, data: None, url: None, file_id: None, rest }
}

fn in_base64<'a>(media_type: &'static str, data: &'a str) -> SourceForm<'a> {
    let data = Some(Cow::Borrowed(data));
    SourceForm { kind: "base64", media_type: Some(media_type), data, ..blank() }
}

/// Bytes after an address, or that the API keeps.
fn elsewhere(source: &Source) -> Option<SourceForm<'_>> {
    let is_web = |url: &str| {
        let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        matches!(scheme.as_deref(), Some("https" | "http"))
    };
    match source {
        Source::Url(url) if is_web(url) => {
            Some(SourceForm { kind: "url", url: Some(url), ..blank() })
        }
        Source::Id { owner, id } if owner.as_str() == OWNER && !id.is_empty() => {
            Some(SourceForm { kind: "file", file_id: Some(id), ..blank() })
        }
        Source::Base64(_) | Source::Url(_) | Source::Id { .. } => None,
    }
}

/// What the API attached to the source itself, below that name in the extra.
fn with_inner<'a>(source: SourceForm<'a>, extra: &'a Extra) -> SourceForm<'a> {
    let inner = extra.get(OWNER).and_then(fields).and_then(|own| own.peek("source"));
    let inner = inner.and_then(|raw| crate::raw::Fields::read(raw).ok());
    let written = ["type", "media_type", "data", "url", "file_id"];
    match inner {
        Some(inner) => SourceForm { rest: rest_of(&inner, &written, CacheMarks::Off), ..source },
        None => source,
    }
}
