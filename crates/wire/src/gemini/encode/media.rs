//! How pictures and files travel.
//!
//! | source | travels as |
//! |---|---|
//! | base64, a `data:` address | `inlineData`; the type is told by the bytes if it is not known |
//! | an address, a file that Google keeps | `fileData`; the type is told by the ending |
//! | a file that another vendor keeps | a note |
//! | a file of which no type is known | a note, or `fileData` without a type |

use std::borrow::Cow;

use interleaf_model::Source;

use crate::gemini::GOOGLE;

/// Media in the API's form.
pub(super) enum Carried<'a> {
    Inline { media_type: Cow<'a, str>, data: Cow<'a, str> },
    File { media_type: Option<Cow<'a, str>>, uri: &'a str },
}

/// The first characters of base64 by which a type is known.
const BEGINNINGS: &[(&str, &str)] = &[
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
    ("JVBERi0", "application/pdf"),
];

/// Endings by which a type is known.
const ENDINGS: &[(&str, &str)] = &[
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("heic", "image/heic"),
    ("heif", "image/heif"),
    ("pdf", "application/pdf"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("json", "application/json"),
    ("mp3", "audio/mp3"),
    ("wav", "audio/wav"),
    ("flac", "audio/flac"),
    ("ogg", "audio/ogg"),
    ("mp4", "video/mp4"),
    ("mov", "video/mov"),
    ("webm", "video/webm"),
];

/// What a picture is if nothing tells: decoders look at the bytes.
const ANY_IMAGE: &str = "image/jpeg";

/// Media in the API's form, or why it cannot travel.
pub(super) fn carried<'a>(
    source: &'a Source,
    media_type: Option<&'a str>,
    name: Option<&str>,
    is_image: bool,
) -> Result<Carried<'a>, &'static str> {
    let known = media_type.filter(|kind| !kind.trim().is_empty());
    let by_name = || name.and_then(by_ending);
    let any = || is_image.then_some(ANY_IMAGE);
    match source {
        Source::Base64(data) => {
            inline(data, known.or_else(|| by_bytes(data)).or_else(by_name).or_else(any))
        }
        Source::Url(url) => {
            match url.strip_prefix("data:").and_then(|data| data.split_once(";base64,")) {
                Some((kind, data)) => {
                    let kind = Some(kind).filter(|kind| !kind.is_empty());
                    inline(data, known.or(kind).or_else(|| by_bytes(data)).or_else(any))
                }
                None => file(url, known.or_else(|| by_ending(url)).or_else(by_name).or_else(any)),
            }
        }
        Source::Id { owner, id } if owner.as_str() == GOOGLE => {
            file(id, known.or_else(|| by_ending(id)).or_else(by_name).or_else(any))
        }
        Source::Id { .. } => Err("another vendor keeps it"),
    }
}

fn inline<'a>(data: &'a str, media_type: Option<&'a str>) -> Result<Carried<'a>, &'static str> {
    if data.is_empty() {
        return Err("it is empty");
    }
    let media_type = media_type.ok_or("its type is not known")?;
    Ok(Carried::Inline { media_type: media_type.into(), data: data.into() })
}

fn file<'a>(uri: &'a str, media_type: Option<&'a str>) -> Result<Carried<'a>, &'static str> {
    if uri.is_empty() {
        return Err("it is empty");
    }
    Ok(Carried::File { media_type: media_type.map(Cow::Borrowed), uri })
}

fn by_bytes(data: &str) -> Option<&'static str> {
    BEGINNINGS.iter().find(|(beginning, _)| data.starts_with(beginning)).map(|(_, kind)| *kind)
}

fn by_ending(address: &str) -> Option<&'static str> {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let (_, ending) = path.rsplit_once('.')?;
    let is_it = |(known, _): &&(&str, &str)| ending.eq_ignore_ascii_case(known);
    ENDINGS.iter().find(is_it).map(|(_, kind)| *kind)
}
