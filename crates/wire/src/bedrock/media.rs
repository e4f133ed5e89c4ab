//! Formats of pictures, documents, films and sounds, both ways.

use self::MediaKind::{Audio, Document, Image, Video};
pub(super) use crate::base64::is_base64;

/// What kind of block a format goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaKind {
    Image,
    Document,
    Video,
    Audio,
}

/// A format of the API.
#[derive(Debug)]
pub(super) struct Format {
    pub(super) kind: MediaKind,
    /// The API's name for it.
    pub(super) name: &'static str,
    /// Its media types; the first is what it is read as.
    pub(super) media_types: &'static [&'static str],
    /// How names of such files end, beside the API's name.
    extensions: &'static [&'static str],
    /// How its base64 begins.
    magic: &'static str,
}

const fn format(
    kind: MediaKind,
    name: &'static str,
    media_types: &'static [&'static str],
    extensions: &'static [&'static str],
    magic: &'static str,
) -> Format {
    Format { kind, name, media_types, extensions, magic }
}

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const SHEET: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

pub(super) const FORMATS: &[Format] = &[
    format(Image, "png", &["image/png"], &[], "iVBORw0KGgo"),
    format(Image, "jpeg", &["image/jpeg", "image/jpg"], &["jpg"], "/9j/"),
    format(Image, "gif", &["image/gif"], &[], "R0lGOD"),
    format(Image, "webp", &["image/webp"], &[], "UklGR"),
    format(Document, "pdf", &["application/pdf"], &[], "JVBERi0"),
    format(Document, "csv", &["text/csv"], &[], ""),
    format(Document, "doc", &["application/msword"], &[], ""),
    format(Document, "docx", &[WORD], &[], ""),
    format(Document, "xls", &["application/vnd.ms-excel"], &[], ""),
    format(Document, "xlsx", &[SHEET], &[], ""),
    format(Document, "html", &["text/html"], &["htm"], ""),
    format(Document, "md", &["text/markdown", "text/x-markdown"], &["markdown"], ""),
    format(
        Document,
        "txt",
        &["text/plain", "application/json", "application/xml", "application/yaml"],
        &["text", "log", "json", "xml", "yaml", "yml"],
        "",
    ),
    format(Video, "mp4", &["video/mp4"], &[], ""),
    format(Video, "mov", &["video/quicktime"], &[], ""),
    format(Video, "mkv", &["video/x-matroska"], &[], ""),
    format(Video, "webm", &["video/webm"], &[], ""),
    format(Video, "flv", &["video/x-flv"], &[], ""),
    format(Video, "mpeg", &["video/mpeg"], &[], ""),
    format(Video, "mpg", &["video/mpg"], &[], ""),
    format(Video, "wmv", &["video/x-ms-wmv"], &[], ""),
    format(Video, "three_gp", &["video/3gpp"], &["3gp"], ""),
    format(Audio, "wav", &["audio/wav", "audio/x-wav", "audio/wave"], &[], ""),
    format(Audio, "mp3", &["audio/mp3"], &[], ""),
    format(Audio, "mpeg", &["audio/mpeg"], &[], ""),
    format(Audio, "opus", &["audio/opus"], &[], ""),
    format(Audio, "aac", &["audio/aac"], &[], ""),
    format(Audio, "x-aac", &["audio/x-aac"], &[], ""),
    format(Audio, "flac", &["audio/flac"], &[], ""),
    format(Audio, "mp4", &["audio/mp4"], &[], ""),
    format(Audio, "m4a", &["audio/m4a", "audio/x-m4a"], &[], ""),
    format(Audio, "ogg", &["audio/ogg"], &[], ""),
    format(Audio, "mka", &["audio/x-matroska"], &[], ""),
    format(Audio, "mkv", &["audio/mkv"], &[], ""),
    format(Audio, "mpga", &["audio/mpga"], &[], ""),
    format(Audio, "pcm", &["audio/pcm", "audio/l16"], &[], ""),
    format(Audio, "webm", &["audio/webm"], &[], ""),
];

impl MediaKind {
    /// The block's key.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Image => "image",
            Document => "document",
            Video => "video",
            Audio => "audio",
        }
    }

    /// The format of this name.
    pub(super) fn format(self, name: &str) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.kind == self && format.name == name)
    }
}

/// The format of a file: by its media type, else by how its name ends, else by how
/// its base64 begins.
pub(super) fn detect(
    media_type: Option<&str>,
    name: &str,
    base64: &str,
) -> Option<&'static Format> {
    let media_type = media_type.unwrap_or_default().split(';').next().unwrap_or_default();
    let media_type = media_type.trim().to_ascii_lowercase();
    if !matches!(&*media_type, "" | "application/octet-stream") {
        let known = FORMATS.iter().find(|format| format.media_types.contains(&&*media_type));
        let is_text = || media_type.starts_with("text/").then(|| Document.format("txt")).flatten();
        return known.or_else(is_text);
    }
    // What follows the name in an address does not count.
    let name = name.split(['?', '#']).next().unwrap_or_default();
    let by_name = name.rsplit_once('.').and_then(|(_, extension)| {
        let extension = extension.to_ascii_lowercase();
        FORMATS
            .iter()
            .find(|format| format.name == extension || format.extensions.contains(&&*extension))
    });
    let by_magic = || FORMATS.iter().find(|f| !f.magic.is_empty() && base64.starts_with(f.magic));
    by_name.or_else(by_magic)
}

/// The media type and the base64 of a `data:` address.
pub(super) fn split_data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}

/// The longest name of a document.
pub(super) const LONGEST_NAME: usize = 200;

/// Whether the API takes a name for a document.
pub(super) fn is_document_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || "-()[] ".contains(c);
    (1..=LONGEST_NAME).contains(&name.len())
        && name.chars().all(legal)
        && !name.contains("  ")
        && !name.trim().is_empty()
}

/// A name that the API takes, made from any: without the ending, and with a hyphen
/// for whatever is not legal.
pub(super) fn document_name(name: &str, format: &str) -> String {
    /// What is left for a number that makes the name unique.
    const ROOM: usize = 10;
    if is_document_name(name) && name.len() <= LONGEST_NAME - ROOM {
        return name.to_owned();
    }
    let stem = name.rsplit_once('.').filter(|(_, end)| end.eq_ignore_ascii_case(format));
    let stem = stem.map_or(name, |(stem, _)| stem);
    let mut out = String::new();
    for c in stem.chars() {
        let c = match c {
            c if c.is_ascii_alphanumeric() || "()[]".contains(c) => c,
            c if c.is_whitespace() => ' ',
            _ => '-',
        };
        // One space, one hyphen.
        if out.len() < LONGEST_NAME - ROOM && !(" -".contains(c) && out.ends_with([' ', '-'])) {
            out.push(c);
        }
    }
    let out = out.trim_matches([' ', '-']);
    if out.is_empty() { "document".to_owned() } else { out.to_owned() }
}
