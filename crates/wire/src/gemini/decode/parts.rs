//! The parts of a content, as the API forms them.

use std::borrow::Cow;

use interleaf_model::{ContentPart, Extra, File, Image, Json, Opaque, Source, Text, VendorName};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use super::calls::Answer;
use super::extra;
use crate::error::Fault;
use crate::gemini::GOOGLE;
use crate::gemini::wire::{peek, take};
use crate::raw::{Fields, ObjectText, text, wrong_type};
use crate::{Family, misplaced, source};

/// A part, taken apart.
pub(in crate::gemini) struct Part<'a> {
    /// The part as it came.
    pub(in crate::gemini) raw: &'a RawValue,
    pub(in crate::gemini) form: Form<'a>,
    pub(in crate::gemini) signature: Option<&'a RawValue>,
    /// What stands beside it.
    pub(in crate::gemini) rest: Fields<'a>,
}

/// What a part holds.
pub(in crate::gemini) enum Form<'a> {
    Text(Cow<'a, str>),
    Thought(Cow<'a, str>),
    Call(Box<Call<'a>>),
    Response(Box<Response<'a>>),
    Media(Box<Media<'a>>),
    /// What we have no word for.
    Other,
}

/// A call. Its `id` stays among the rest, which tells that it came with one.
pub(in crate::gemini) struct Call<'a> {
    pub(in crate::gemini) id: Option<Cow<'a, str>>,
    pub(in crate::gemini) name: Option<Cow<'a, str>>,
    pub(in crate::gemini) args: Option<&'a RawValue>,
    /// Arguments that come piece by piece.
    pub(in crate::gemini) pieces: Option<&'a RawValue>,
    pub(in crate::gemini) will_continue: bool,
    pub(in crate::gemini) rest: Fields<'a>,
}

/// A result. Its `id` stays among the rest.
pub(in crate::gemini) struct Response<'a> {
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Cow<'a, str>,
    pub(super) response: Option<&'a RawValue>,
    pub(super) parts: Vec<&'a RawValue>,
    pub(super) rest: Fields<'a>,
}

/// A picture or a file.
pub(in crate::gemini) struct Media<'a> {
    field: &'static str,
    source: Source,
    media_type: Option<SmolStr>,
    name: Option<SmolStr>,
    rest: Fields<'a>,
}

/// Takes a part apart.
pub(in crate::gemini) fn read_part(raw: &RawValue) -> Result<Part<'_>, Fault<'_>> {
    let mut rest = Fields::read(raw)?;
    let is_thought = match rest.take("thought").map(|raw| (raw, raw.get())) {
        None | Some((_, "false")) => false,
        Some((_, "true")) => true,
        Some((raw, _)) => return Err(wrong_type(raw, "true or false").under("thought")),
    };
    let signature = take(&mut rest, "thoughtSignature");
    let form = match read_form(raw, &mut rest)? {
        Form::Text(text) if is_thought => Form::Thought(text),
        // Only a text can be a thought of ours.
        _ if is_thought => Form::Other,
        form => form,
    };
    Ok(Part { raw, form, signature, rest })
}

fn read_form<'a>(raw: &'a RawValue, part: &mut Fields<'a>) -> Result<Form<'a>, Fault<'a>> {
    if let Some(raw) = take(part, "functionCall") {
        return read_call(raw).map_err(|fault| fault.under("functionCall"));
    }
    if let Some(raw) = take(part, "functionResponse") {
        return read_response(raw).map_err(|fault| fault.under("functionResponse"));
    }
    if let Some(raw) = take(part, "inlineData") {
        return read_inline(raw).map_err(|fault| fault.under("inlineData"));
    }
    if let Some(raw) = take(part, "fileData") {
        return read_file(raw).map_err(|fault| fault.under("fileData"));
    }
    if let Some(said) = part.take_text("text")? {
        // The other families' word for what the key says here.
        if part.peek("type").is_some_and(|kind| kind.get() == r#""text""#) {
            part.take("type");
        }
        return Ok(Form::Text(said));
    }
    // A part that holds nothing says nothing.
    let is_empty = part.iter().next().is_none();
    if is_empty {
        return Ok(Form::Text(Cow::Borrowed("")));
    }
    misplaced::part(Family::Gemini, raw, part)?;
    Ok(Form::Other)
}

fn read_call(raw: &RawValue) -> Result<Form<'_>, Fault<'_>> {
    let mut rest = Fields::read(raw)?;
    Ok(Form::Call(Box::new(Call {
        id: peek_id(&rest)?,
        name: rest.take_text("name")?,
        args: rest.take("args"),
        pieces: take(&mut rest, "partialArgs"),
        will_continue: take(&mut rest, "willContinue").is_some_and(|raw| raw.get() == "true"),
        rest,
    })))
}

fn read_response(raw: &RawValue) -> Result<Form<'_>, Fault<'_>> {
    let mut rest = Fields::read(raw)?;
    Ok(Form::Response(Box::new(Response {
        id: peek_id(&rest)?,
        name: rest.take_text("name")?.unwrap_or_default(),
        response: rest.take("response"),
        parts: rest.take_list("parts")?,
        rest,
    })))
}

/// An empty id is none.
fn peek_id<'a>(fields: &Fields<'a>) -> Result<Option<Cow<'a, str>>, Fault<'a>> {
    let id = fields.peek("id").map(text).transpose().map_err(|fault| fault.under("id"))?;
    Ok(id.filter(|id| !id.trim().is_empty()))
}

fn read_inline(raw: &RawValue) -> Result<Form<'_>, Fault<'_>> {
    let mut rest = Fields::read(raw)?;
    let Some(data) = rest.take_text("data")? else {
        return Err(rest.incomplete("inline data needs `data`"));
    };
    let source = Source::Base64(data.into());
    source::check(&source, raw)?;
    media("inlineData", source, rest)
}

fn read_file(raw: &RawValue) -> Result<Form<'_>, Fault<'_>> {
    let mut rest = Fields::read(raw)?;
    let Some(uri) = take(&mut rest, "fileUri") else {
        return Err(rest.incomplete("a file needs `fileUri`"));
    };
    let uri = text(uri).map_err(|fault| fault.under("fileUri"))?;
    let source = if is_googles(&uri) {
        Source::Id { owner: VendorName::new(GOOGLE), id: uri.into() }
    } else {
        Source::Url(uri.into())
    };
    media("fileData", source, rest)
}

/// Whether only Google can fetch what is after an address.
fn is_googles(uri: &str) -> bool {
    let is_web = uri.starts_with("https://") || uri.starts_with("http://");
    !is_web || uri.starts_with("https://generativelanguage.googleapis.com/")
}

fn media<'a>(
    field: &'static str,
    source: Source,
    mut rest: Fields<'a>,
) -> Result<Form<'a>, Fault<'a>> {
    let media_type = take(&mut rest, "mimeType").map(text).transpose();
    let media_type = media_type.map_err(|fault| fault.under("mimeType"))?.map(SmolStr::new);
    // It stays among the rest: on the way back it is written only where it came from.
    let name = peek(&rest, "displayName").map(text).transpose();
    let name = name.map_err(|fault| fault.under("displayName"))?.map(SmolStr::new);
    Ok(Form::Media(Box::new(Media { field, source, media_type, name, rest })))
}

impl Response<'_> {
    /// The result as one that looks for its call.
    pub(super) fn answer(&self, place: (usize, usize)) -> Answer<'_> {
        Answer { id: self.id.as_deref(), name: &self.name, place }
    }
}

impl<'a> Part<'a> {
    /// What Google attached to the part; `inner` is what is left of the object in it.
    pub(in crate::gemini) fn extra(
        &self,
        inner: Option<(&str, &Fields<'a>)>,
    ) -> Result<Extra, interleaf_model::Error> {
        let mut own = self.beside();
        if let Some((name, fields)) = inner {
            own.push_object(name, fields);
        }
        extra(own)
    }

    /// The fields beside what the part holds.
    pub(super) fn beside(&self) -> ObjectText {
        let mut own = ObjectText::default();
        if let Some(signature) = self.signature {
            own.push("thoughtSignature", signature.get());
        }
        own.push_all(&self.rest);
        own
    }

    /// The part as it came, for Google alone.
    pub(in crate::gemini) fn opaque(&self) -> Opaque {
        Opaque { owner: VendorName::new(GOOGLE), value: Json::from(self.raw) }
    }

    /// The part in a user message, unless it is a call, a result or a thought.
    pub(super) fn content(&self) -> Result<ContentPart, interleaf_model::Error> {
        Ok(match &self.form {
            Form::Text(said) => {
                ContentPart::Text(Text { text: said.as_ref().into(), extra: self.extra(None)? })
            }
            Form::Media(media) => media_part(self, media)?,
            Form::Thought(_) | Form::Call(_) | Form::Response(_) | Form::Other => {
                ContentPart::Opaque(self.opaque())
            }
        })
    }
}

/// A picture if the type says so, else a file.
pub(in crate::gemini) fn media_part(
    part: &Part<'_>,
    media: &Media<'_>,
) -> Result<ContentPart, interleaf_model::Error> {
    let Media { field, source, media_type, name, rest } = media;
    let (source, media_type) = (source.clone(), media_type.clone());
    let extra = part.extra(Some((field, rest)))?;
    let is_image = media_type.as_ref().is_some_and(|kind| kind.starts_with("image/"));
    Ok(if is_image {
        ContentPart::Image(Image { source, media_type, extra })
    } else {
        ContentPart::File(File { source, media_type, name: name.clone(), extra })
    })
}
