//! `content` and its parts.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::read_each;
use crate::error::Fault;
use crate::raw::{Fields, is_list, is_text, list, text, wrong_type};
use crate::{Family, misplaced};

/// `content`; absent and `null` are an empty list.
pub(in crate::openai_chat::decode) enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

/// One element of a `content` list.
pub(in crate::openai_chat::decode) struct Part<'a> {
    pub(in crate::openai_chat::decode) raw: &'a RawValue,
    pub(in crate::openai_chat::decode) form: PartForm<'a>,
    /// The name of the object inside the part, and what is left of it.
    pub(in crate::openai_chat::decode) inner: Option<(&'static str, Fields<'a>)>,
    pub(in crate::openai_chat::decode) rest: Fields<'a>,
}

/// A part by its `type`.
pub(in crate::openai_chat::decode) enum PartForm<'a> {
    Text(Cow<'a, str>),
    ImageUrl { url: Cow<'a, str>, detail: Option<&'a RawValue> },
    File { source: FileSource<'a>, filename: Option<Cow<'a, str>> },
    InputAudio { data: Cow<'a, str>, format: Option<Cow<'a, str>> },
    Other,
}

/// Where a `file` is.
pub(in crate::openai_chat::decode) enum FileSource<'a> {
    Data(Cow<'a, str>),
    Id(Cow<'a, str>),
    Url(Cow<'a, str>),
}

pub(super) fn read_content<'a>(fields: &mut Fields<'a>) -> Result<Content<'a>, Fault<'a>> {
    let Some(raw) = fields.take("content") else {
        return Ok(Content::Parts(Vec::new()));
    };
    let inside = |fault: Fault<'a>| fault.under("content");
    if is_text(raw) {
        text(raw).map(Content::Text).map_err(inside)
    } else if is_list(raw) {
        let parts = list(raw).map_err(inside)?;
        read_each(parts, "content", read_part).map(Content::Parts)
    } else {
        Err(inside(wrong_type(raw, "a string, null or a list of parts")))
    }
}

fn read_part(raw: &RawValue) -> Result<Part<'_>, Fault<'_>> {
    let mut rest = Fields::read(raw)?;
    let Some(kind) = rest.take_text("type")? else {
        return Err(rest.incomplete("a part needs `type`"));
    };
    let (form, inner) = match &*kind {
        "text" => {
            let text = rest.take_text("text")?;
            let text = text.ok_or_else(|| rest.incomplete("a text part needs `text`"))?;
            (PartForm::Text(text), None)
        }
        "image_url" => read_image_url(&mut rest)?,
        "file" => {
            let mut file = take_inner(&mut rest, "file")?;
            let filename = file.take_text("filename")?;
            let source = read_file_source(&mut file)?;
            (PartForm::File { source, filename }, Some(("file", file)))
        }
        "input_audio" => {
            let mut audio = take_inner(&mut rest, "input_audio")?;
            let data = audio.take_text("data")?;
            let data = data.ok_or_else(|| audio.incomplete("audio needs `data`, its base64"))?;
            let format = audio.take_text("format")?;
            (PartForm::InputAudio { data, format }, Some(("input_audio", audio)))
        }
        _ => {
            misplaced::part(Family::OpenaiChat, raw, &Fields::read(raw)?)?;
            (PartForm::Other, None)
        }
    };
    Ok(Part { raw, form, inner, rest })
}

type FormAndInner<'a> = (PartForm<'a>, Option<(&'static str, Fields<'a>)>);

fn read_image_url<'a>(part: &mut Fields<'a>) -> Result<FormAndInner<'a>, Fault<'a>> {
    if part.peek("image_url").is_some_and(is_text) {
        let url = part.take_text("image_url")?.unwrap_or_default();
        return Ok((PartForm::ImageUrl { url, detail: part.take("detail") }, None));
    }
    let mut image = take_inner(part, "image_url")?;
    let url = image.take_text("url")?;
    let url = url.ok_or_else(|| image.incomplete("an image needs `url`"))?;
    let detail = image.take("detail");
    Ok((PartForm::ImageUrl { url, detail }, Some(("image_url", image))))
}

fn read_file_source<'a>(file: &mut Fields<'a>) -> Result<FileSource<'a>, Fault<'a>> {
    if let Some(data) = file.take_text("file_data")? {
        return Ok(FileSource::Data(data));
    }
    if let Some(id) = file.take_text("file_id")? {
        // Gateways put addresses here as well.
        let is_address = id.contains("://");
        return Ok(if is_address { FileSource::Url(id) } else { FileSource::Id(id) });
    }
    let url = file.take_text("file_url")?;
    url.map(FileSource::Url)
        .ok_or_else(|| file.incomplete("a file needs `file_data`, `file_id` or `file_url`"))
}

/// The object that a part of this type holds under the type's name.
fn take_inner<'a>(part: &mut Fields<'a>, name: &'static str) -> Result<Fields<'a>, Fault<'a>> {
    part.take_object(name)?
        .ok_or_else(|| part.incomplete(format!("a part of type {name} needs `{name}`")))
}
