//! The blocks of `content`.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::RawValue;
use smol_str::SmolStr;

use interleaf_model::{
    Arguments, AssistantPart, CallId, ContentPart, Extra, File, Image, Json, Opaque, Producer,
    Seal, Source, SystemPart, Text, Thinking, ToolCall, ToolName, VendorName, in_base64,
};

use super::{extra, extra_of};
use crate::anthropic::{OWNER, PLAIN_TEXT};
use crate::arguments;
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_object, is_text, text, wrong_type};
use crate::{Family, misplaced, source};

/// The `type` of a block.
pub(super) fn kind_of(raw: &RawValue) -> Result<Cow<'_, str>, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    fields.take_text("type")?.ok_or_else(|| fields.incomplete("a block needs `type`"))
}

/// A field that is true or false.
pub(super) fn flag<'a>(fields: &mut Fields<'a>, name: &str) -> Result<bool, Fault<'a>> {
    match fields.take(name) {
        None => Ok(false),
        Some(raw) => match raw.get() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(wrong_type(raw, "true or false").under(name)),
        },
    }
}

pub(super) fn system_part(raw: &RawValue) -> Result<SystemPart, Fault<'_>> {
    Ok(match &*kind_of(raw)? {
        "text" => SystemPart::Text(text_part(raw)?),
        _ => SystemPart::Opaque(opaque(raw)?),
    })
}

pub(super) fn content_part(raw: &RawValue) -> Result<ContentPart, Fault<'_>> {
    Ok(match &*kind_of(raw)? {
        "text" => ContentPart::Text(text_part(raw)?),
        "image" => match media(raw)? {
            Some((source, media_type, _, extra)) => {
                ContentPart::Image(Image { source, media_type, extra })
            }
            None => ContentPart::Opaque(opaque(raw)?),
        },
        "document" => match media(raw)? {
            Some((source, media_type, name, extra)) => {
                ContentPart::File(File { source, media_type, name, extra })
            }
            None => ContentPart::Opaque(opaque(raw)?),
        },
        _ => ContentPart::Opaque(opaque(raw)?),
    })
}

pub(super) fn assistant_part(raw: &RawValue) -> Result<AssistantPart, Fault<'_>> {
    Ok(match &*kind_of(raw)? {
        "thinking" => AssistantPart::Thinking(thinking(raw)?),
        "redacted_thinking" => AssistantPart::Thinking(redacted(raw)?),
        "tool_use" => AssistantPart::Call(call(raw)?),
        _ => match content_part(raw)? {
            ContentPart::Text(text) => AssistantPart::Text(text),
            ContentPart::Image(image) => AssistantPart::Image(image),
            ContentPart::File(file) => AssistantPart::File(file),
            ContentPart::Opaque(opaque) => AssistantPart::Opaque(opaque),
        },
    })
}

fn opaque(raw: &RawValue) -> Result<Opaque, Fault<'_>> {
    misplaced::part(Family::Anthropic, raw, &Fields::read(raw)?)?;
    Ok(Opaque { owner: VendorName::new(OWNER), value: Json::from(raw) })
}

fn text_part(raw: &RawValue) -> Result<Text, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    fields.take("type");
    let Some(text) = fields.take_text("text")? else {
        return Err(fields.incomplete("a text block needs `text`"));
    };
    Ok(Text { text: text.into(), extra: extra(&fields)? })
}

fn thinking(raw: &RawValue) -> Result<Thinking, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    fields.take("type");
    let text = fields.take_text("thinking")?.unwrap_or_default();
    let signature = fields.take_text("signature")?.filter(|signature| !signature.is_empty());
    let seal = signature.map(|signature| Seal::Signature(signature.into()));
    // Only what is signed is known to be Anthropic's.
    let producer = seal.as_ref().map(|_| producer());
    Ok(Thinking { text: text.into(), seal, producer, extra: extra(&fields)? })
}

fn redacted(raw: &RawValue) -> Result<Thinking, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    fields.take("type");
    let Some(data) = fields.take_text("data")? else {
        return Err(fields.incomplete("redacted thinking needs `data`"));
    };
    let seal = Some(Seal::Encrypted(data.into()));
    Ok(Thinking { text: "".into(), seal, producer: Some(producer()), extra: extra(&fields)? })
}

fn producer() -> Producer {
    Producer { vendor: VendorName::new(OWNER), model: None }
}

fn call(raw: &RawValue) -> Result<ToolCall, Fault<'_>> {
    const RULE: &str = "a call needs `id`, which ties its result to it";
    let mut fields = Fields::read(raw)?;
    fields.take("type");
    let at = fields.peek("id");
    let id = match (fields.take_text("id")?, at) {
        (Some(id), Some(at)) if id.trim().is_empty() => {
            return Err(Fault::rule(at, RULE).under("id"));
        }
        (Some(id), _) => CallId::new(id)?,
        (None, _) => return Err(fields.incomplete(RULE)),
    };
    let Some(name) = fields.take_text("name")? else {
        return Err(fields.incomplete("a call needs `name`, the tool that it wants to run"));
    };
    let arguments = match fields.take("input") {
        None => Arguments::none(),
        Some(raw) if is_object(raw) => arguments::from_object(Json::from(raw)),
        // Some servers put the text of an object here.
        Some(raw) if is_text(raw) => {
            Arguments::from_text(&text(raw).map_err(|fault| fault.under("input"))?)
        }
        Some(raw) => Arguments::Invalid(raw.get().into()),
    };
    Ok(ToolCall { id, name: ToolName::new(name), arguments, extra: extra(&fields)? })
}

type Media = (Source, Option<SmolStr>, Option<SmolStr>, Extra);

/// The bytes of an image or a document, its type and its title; none if they are in
/// a form that we have no words for.
fn media(raw: &RawValue) -> Result<Option<Media>, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    fields.take("type");
    let title = match fields.peek("title") {
        Some(title) if is_text(title) => fields.take_text("title")?,
        _ => None,
    };
    let Some(mut source) = fields.take_object("source")? else {
        return Err(fields.incomplete("an image or a document needs `source`"));
    };
    let kind = source.take_text("type")?;
    let (found, default_type) = match kind.as_deref() {
        Some("base64") => (source.take_text("data")?.map(|d| Source::Base64(d.into())), None),
        Some("url") => (source.take_text("url")?.map(|url| Source::Url(url.into())), None),
        Some("file") => {
            let id = source.take_text("file_id")?;
            let owner = VendorName::new(OWNER);
            (id.map(|id| Source::Id { owner, id: id.into() }), None)
        }
        Some("text") => {
            let text = source.take_text("data")?;
            let data = text.map(|text| Arc::from(in_base64(&text)));
            (data.map(Source::Base64), Some(PLAIN_TEXT))
        }
        Some(_) => return Ok(None),
        None => return Err(source.incomplete("a source needs `type`")),
    };
    let Some(found) = found else {
        return Err(source.incomplete("a source needs its bytes, its address or its id"));
    };
    source::check(&found, raw)?;
    let media_type = source.take_text("media_type")?.map(SmolStr::new);
    let media_type = media_type.or(default_type.map(SmolStr::new_static));
    let mut own = ObjectText::default();
    own.push_all(&fields);
    own.push_object("source", &source);
    Ok(Some((found, media_type, title.map(SmolStr::new), extra_of(own)?)))
}
