//! How pictures and files travel.
//!
//! | source | travels as |
//! |---|---|
//! | base64, a `data:` address | `inlineData`; the type is told by the bytes if it is not known |
//! | an address, a file that Google keeps | `fileData`; the type is told by the ending |
//! | a file that another vendor keeps | a note |
//! | a file of which no type is known | a note, or `fileData` without a type |

use std::borrow::Cow;

use interleaf_model::{Extra, File, Image, Message, Source};

use super::parts::{Beside, Writing, beside, plain};
use crate::adjustment::AdjustmentKind;
use crate::gemini::GOOGLE;
use crate::gemini::wire::{Data, Element, FileData, InlineData, Part, peek, rest_without};

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

impl<'a> Writing<'a, '_, '_> {
    pub(super) fn image(&mut self, image: &'a Image, message: &Message, is_signed: bool) {
        let element = match self.carry_image(image, message) {
            Ok(carried) => Element::Part(media_part(carried, &image.extra, is_signed)),
            Err(note) => note_part(note),
        };
        self.parts.push(element);
    }

    pub(super) fn file(&mut self, file: &'a File, message: &Message, is_signed: bool) {
        let element = match self.carry_file(file, message) {
            Ok(carried) => Element::Part(media_part(carried, &file.extra, is_signed)),
            Err(note) => note_part(note),
        };
        self.parts.push(element);
    }

    pub(super) fn carry_image(
        &mut self,
        image: &'a Image,
        message: &Message,
    ) -> Result<Carried<'a>, String> {
        let carried = carried(&image.source, image.media_type.as_deref(), None, true);
        carried.map_err(|reason| {
            self.cx.adjustments.add(AdjustmentKind::MediaDropped, &message.id, reason);
            format!("[an image is left out: {reason}]")
        })
    }

    /// A name that did not come from Google has no place to go.
    fn report_name(&mut self, file: &File, message: &Message) {
        let is_kept = ["inlineData", "fileData"].into_iter().any(|field| {
            let inner = beside(&file.extra, field).inner;
            inner.is_some_and(|inner| peek(&inner, "displayName").is_some())
        });
        if let Some(name) = file.name.as_deref().filter(|_| !is_kept) {
            self.cx.adjustments.add(AdjustmentKind::FileNameDropped, &message.id, name);
        }
    }

    pub(super) fn carry_file(
        &mut self,
        file: &'a File,
        message: &Message,
    ) -> Result<Carried<'a>, String> {
        let name = file.name.as_deref();
        let carried = carried(&file.source, file.media_type.as_deref(), name, false);
        if carried.is_ok() {
            self.report_name(file, message);
        }
        carried.map_err(|reason| {
            self.cx.adjustments.add(AdjustmentKind::MediaDropped, &message.id, reason);
            match name {
                Some(name) => format!("[the file {name} is left out: {reason}]"),
                None => format!("[a file is left out: {reason}]"),
            }
        })
    }
}

fn note_part<'a>(note: String) -> Element<'a> {
    let Element::Part(mut part) = plain("") else {
        return plain("");
    };
    part.data = Data::Text(Cow::Owned(note));
    Element::Part(part)
}

pub(super) fn media_part<'a>(carried: Carried<'a>, extra: &'a Extra, is_signed: bool) -> Part<'a> {
    let (field, known): (_, &[&str]) = match carried {
        Carried::Inline { .. } => ("inlineData", &["mimeType", "data"]),
        Carried::File { .. } => ("fileData", &["mimeType", "fileUri"]),
    };
    let Beside { signature, inner, rest } = beside(extra, field);
    let inner = inner.map(|fields| rest_without(&fields, known)).unwrap_or_default();
    let data = match carried {
        Carried::Inline { media_type, data } => {
            Data::InlineData(InlineData { mime_type: media_type, data, rest: inner })
        }
        Carried::File { media_type, uri } => {
            Data::FileData(FileData { mime_type: media_type, file_uri: uri, rest: inner })
        }
    };
    let thought_signature = signature.filter(|_| is_signed);
    Part { data, thought: false, thought_signature, rest }
}
