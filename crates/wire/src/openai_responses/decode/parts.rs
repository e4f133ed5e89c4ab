//! An item of the assistant's as parts, and the parts of contents.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::RawValue;
use smol_str::{SmolStr, format_smolstr};

use interleaf_model::{
    Arguments, AssistantPart, CallId, ContentPart, File, Image, Json, Opaque, Parts, Producer,
    Seal, Source, SystemPart, Text, Thinking, ToolCall, ToolName, VendorName,
};

use super::messages::item_type;
use super::{extra, rest};
use crate::arguments::from_object;
use crate::error::Fault;
use crate::made_id::by_place;
use crate::openai_responses::{
    CHAT_OWNER, OWNER, UNKNOWN_MEDIA, UNNAMED_FILE, WRAPPED_PART, is_part_type,
};
use crate::raw::{Fields, ObjectText, is_list, is_text, list, text};
use crate::{Family, misplaced, source};

/// What an item of the assistant's is made of: one part, but for messages.
pub(in crate::openai_responses) fn assistant_item(
    i: usize,
    raw: &RawValue,
) -> Result<Vec<AssistantPart>, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    let kind = item_type(&fields)?;
    fields.take("type");
    let part = match &*kind {
        "message" => return message(raw, fields),
        "reasoning" => thinking(fields)?,
        "function_call" => function_call(i, fields)?,
        "custom_tool_call" => custom_call(i, fields)?,
        "image_generation_call" if fields.peek("result").is_some_and(is_text) => image(fields)?,
        _ => opaque(raw),
    };
    Ok(vec![part])
}

fn opaque(raw: &RawValue) -> AssistantPart {
    AssistantPart::Opaque(Opaque { owner: VendorName::new(OWNER), value: Json::from(raw) })
}

/// The texts of a message. What the item has beside its content is kept with the
/// first; where there is no text to keep it with, the whole item is opaque.
fn message<'a>(raw: &'a RawValue, mut fields: Fields<'a>) -> Result<Vec<AssistantPart>, Fault<'a>> {
    fields.take("role");
    let has_content = fields.peek("content").is_some();
    let parts = read_content(&mut fields, "content")?;
    misplaced::message(Family::OpenaiResponses, &fields, has_content)?;
    let mut item = ObjectText::default();
    item.push_object("item", &fields);
    let first = match parts.first() {
        Some(Part { form: Form::Text(text), fields, .. }) => {
            item.push_all(fields);
            AssistantPart::Text(Text { text: Arc::from(&**text), extra: extra(item)? })
        }
        Some(Part { form: Form::Other, .. }) => return Ok(vec![opaque(raw)]),
        Some(part) => assistant_part(part)?,
        None => AssistantPart::Text(Text { text: "".into(), extra: extra(item)? }),
    };
    let others = parts.iter().skip(1).map(assistant_part);
    std::iter::once(Ok(first)).chain(others).collect()
}

/// A thought: its summary, or where there is none its text.
fn thinking(mut fields: Fields<'_>) -> Result<AssistantPart, Fault<'_>> {
    let seal = fields.take_text("encrypted_content")?.filter(|sealed| !sealed.is_empty());
    let summary = fields.peek("summary");
    let mut said = summary.map(joined).unwrap_or_default();
    // A summary of one plain text can be made again; any other is kept.
    if summary.is_some_and(is_plain_summary) {
        fields.take("summary");
    }
    if said.is_empty() {
        said = fields.peek("content").map(joined).unwrap_or_default();
    }
    Ok(AssistantPart::Thinking(Thinking {
        text: said.into(),
        seal: seal.map(|sealed| Seal::Encrypted(sealed.into())),
        producer: Some(Producer { vendor: VendorName::new(OWNER), model: None }),
        extra: rest(&fields)?,
    }))
}

/// The texts of a list of parts, one after the other.
pub(in crate::openai_responses) fn joined(raw: &RawValue) -> String {
    let texts = list(raw).unwrap_or_default().into_iter().filter_map(|part| {
        let mut fields = Fields::read(part).ok()?;
        fields.take_text("text").ok()?.map(Cow::into_owned)
    });
    texts.collect()
}

/// Whether a summary is empty, or one text that is not.
fn is_plain_summary(raw: &RawValue) -> bool {
    let Ok(parts) = list(raw) else { return false };
    let is_plain = |part: &RawValue| {
        let Ok(mut fields) = Fields::read(part) else { return false };
        let kind = fields.take("type").is_some_and(|kind| kind.get() == r#""summary_text""#);
        let text = fields.take("text").is_some_and(|text| is_text(text) && text.get() != "\"\"");
        kind && text && fields.iter().next().is_none()
    };
    match parts.as_slice() {
        [] => true,
        [only] => is_plain(only),
        _ => false,
    }
}

fn function_call(i: usize, mut fields: Fields<'_>) -> Result<AssistantPart, Fault<'_>> {
    let (id, name) = (call_id(i, &mut fields)?, call_name(&mut fields)?);
    let arguments = match fields.peek("arguments") {
        Some(raw) if is_text(raw) => {
            match Arguments::from_text(&fields.take_text("arguments")?.unwrap_or_default()) {
                Arguments::Object(json) => from_object(json),
                invalid @ Arguments::Invalid(_) => invalid,
            }
        }
        // The API refuses this, but what it means is plain.
        Some(raw) => Arguments::from_text(raw.get()),
        None => Arguments::none(),
    };
    fields.take("arguments");
    let extra = rest(&fields)?;
    Ok(AssistantPart::Call(ToolCall { id, name, arguments, extra }))
}

/// A call whose input is any text. What reads as arguments otherwise than it was
/// written is kept beside them.
fn custom_call(i: usize, mut fields: Fields<'_>) -> Result<AssistantPart, Fault<'_>> {
    let (id, name) = (call_id(i, &mut fields)?, call_name(&mut fields)?);
    let input = fields.take_text("input")?.unwrap_or_default();
    let arguments = Arguments::from_text(&input);
    let mut own = ObjectText::default();
    own.push("type", r#""custom_tool_call""#);
    if arguments.as_str() != input {
        own.push("input", &serde_json::Value::from(&*input).to_string());
    }
    own.push_all(&fields);
    let extra = extra(own)?;
    Ok(AssistantPart::Call(ToolCall { id, name, arguments, extra }))
}

/// The id of a call; one that came without gets it from its place.
fn call_id<'a>(i: usize, fields: &mut Fields<'a>) -> Result<CallId, Fault<'a>> {
    let id = fields.take_text("call_id")?.unwrap_or_default();
    Ok(CallId::new(id).or_else(|_| CallId::new(by_place(i, 0)))?)
}

fn call_name<'a>(fields: &mut Fields<'a>) -> Result<ToolName, Fault<'a>> {
    let name = fields.take_text("name")?;
    let name =
        name.ok_or_else(|| fields.incomplete("a call needs `name`, the tool that it runs"))?;
    Ok(ToolName::new(name))
}

/// A picture that the API made.
fn image(mut fields: Fields<'_>) -> Result<AssistantPart, Fault<'_>> {
    let data = fields.take_text("result")?.unwrap_or_default();
    let format = fields.peek("output_format").and_then(|format| text(format).ok());
    let media_type = format_smolstr!("image/{}", format.as_deref().unwrap_or("png"));
    let mut own = ObjectText::default();
    own.push("type", r#""image_generation_call""#);
    own.push_all(&fields);
    let source = Source::Base64(data.into());
    Ok(AssistantPart::Image(Image { source, media_type: Some(media_type), extra: extra(own)? }))
}

pub(super) fn content_parts<'a>(
    fields: &mut Fields<'a>,
    name: &'static str,
) -> Result<Parts<ContentPart>, Fault<'a>> {
    let parts = read_content(fields, name)?;
    let parts = parts.iter().map(content_part).collect::<Result<_, _>>()?;
    Ok(Parts::new(parts).unwrap_or_else(|_| Parts::one(ContentPart::Text(Text::new("")))))
}

/// A system message holds text; whatever else was sent is kept as it came.
pub(super) fn system_parts<'a>(fields: &mut Fields<'a>) -> Result<Parts<SystemPart>, Fault<'a>> {
    let parts = read_content(fields, "content")?;
    let part = |part: &Part<'a>| {
        Ok(match content_part(part)? {
            ContentPart::Text(text) => SystemPart::Text(text),
            ContentPart::Opaque(opaque) => SystemPart::Opaque(opaque),
            ContentPart::Image(_) | ContentPart::File(_) => SystemPart::Opaque(Opaque {
                owner: VendorName::new(OWNER),
                value: Json::from(part.raw),
            }),
        })
    };
    let parts = parts.iter().map(part).collect::<Result<_, Fault<'a>>>()?;
    Ok(Parts::new(parts).unwrap_or_else(|_| Parts::one(SystemPart::Text(Text::new("")))))
}

/// One element of a content list.
struct Part<'a> {
    raw: &'a RawValue,
    form: Form<'a>,
    /// The fields without a meaning here.
    fields: Fields<'a>,
}

enum Form<'a> {
    Text(Cow<'a, str>),
    Image(Source, Option<SmolStr>),
    File(Source, Option<SmolStr>, Option<SmolStr>),
    Other,
}

fn read_content<'a>(
    fields: &mut Fields<'a>,
    name: &'static str,
) -> Result<Vec<Part<'a>>, Fault<'a>> {
    let Some(raw) = fields.take(name) else { return Ok(Vec::new()) };
    if is_list(raw) {
        let parts = list(raw).map_err(|fault| fault.under(name))?.into_iter().enumerate();
        let read =
            |(i, part)| read_part(part).map_err(|fault| fault.under(&format!("{name}[{i}]")));
        return parts.map(read).collect();
    }
    // A result that is no text at all is read as the text of its JSON.
    let said = match (is_text(raw), name) {
        (true, _) => text(raw).map_err(|fault| fault.under(name))?,
        (false, "output") => Cow::Borrowed(raw.get()),
        (false, _) => {
            return Err(crate::raw::wrong_type(raw, "a string or a list of parts").under(name));
        }
    };
    let empty: &'static RawValue = empty_object()?;
    Ok(vec![Part { raw, form: Form::Text(said), fields: Fields::read(empty)? }])
}

fn empty_object() -> Result<&'static RawValue, Fault<'static>> {
    serde_json::from_str("{}").map_err(|e| Fault::unreadable(RawValue::NULL, &e))
}

/// A part of the assistant's that stands alone; nothing if it cannot be read.
pub(in crate::openai_responses) fn message_part(raw: &RawValue) -> Option<AssistantPart> {
    read_part(raw).and_then(|part| assistant_part(&part)).ok()
}

fn read_part(raw: &RawValue) -> Result<Part<'_>, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    let Some(kind) = fields.peek("type") else {
        return Err(fields.incomplete("a part needs `type`"));
    };
    let kind = text(kind).map_err(|fault| fault.under("type"))?;
    let form = match &*kind {
        "input_text" | "output_text" | "text" => {
            let said = fields.take_text("text")?;
            Form::Text(said.ok_or_else(|| fields.incomplete("a text part needs `text`"))?)
        }
        "input_image" => read_image(&mut fields)?,
        "input_file" => read_file(&mut fields)?,
        _ => {
            misplaced::part(Family::OpenaiResponses, raw, &fields)?;
            Form::Other
        }
    };
    if let Form::Image(source, _) | Form::File(source, ..) = &form {
        source::check(source, raw)?;
    }
    // What is written anew in any case need not be kept.
    let usual = match form {
        Form::Text(_) => Some(("annotations", "[]")),
        Form::Image(..) => Some(("detail", r#""auto""#)),
        Form::File(..) | Form::Other => None,
    };
    if let Some((name, value)) = usual
        && fields.peek(name).is_some_and(|raw| raw.get() == value)
    {
        fields.take(name);
    }
    if !matches!(form, Form::Other) {
        fields.take("type");
    }
    Ok(Part { raw, form, fields })
}

fn read_image<'a>(fields: &mut Fields<'a>) -> Result<Form<'a>, Fault<'a>> {
    if fields.peek("image_url").is_some() {
        let url = fields.take_text("image_url")?.unwrap_or_default();
        let (source, media_type) = source::of_url(&url);
        return Ok(Form::Image(source, media_type));
    }
    match fields.take_text("file_id")? {
        Some(id) => Ok(Form::Image(source_of_id(&id), None)),
        None => Err(fields.incomplete("an image needs `image_url` or `file_id`")),
    }
}

fn read_file<'a>(fields: &mut Fields<'a>) -> Result<Form<'a>, Fault<'a>> {
    let (source, media_type) = if let Some(data) = fields.take_text("file_data")? {
        let (source, media_type) = source::of_data(&data);
        (source, media_type.filter(|kind| kind != UNKNOWN_MEDIA))
    } else if let Some(url) = fields.take_text("file_url")? {
        (Source::Url(Arc::from(&*url)), None)
    } else if let Some(id) = fields.take_text("file_id")? {
        (source_of_id(&id), None)
    } else {
        return Err(fields.incomplete("a file needs `file_data`, `file_url` or `file_id`"));
    };
    let name = fields.take_text("filename")?.filter(|name| name != UNNAMED_FILE);
    Ok(Form::File(source, media_type, name.map(SmolStr::new)))
}

fn source_of_id(id: &str) -> Source {
    Source::Id { owner: VendorName::new(CHAT_OWNER), id: Arc::from(id) }
}

fn content_part<'a>(part: &Part<'a>) -> Result<ContentPart, Fault<'a>> {
    Ok(match &part.form {
        Form::Text(text) => {
            ContentPart::Text(Text { text: Arc::from(&**text), extra: rest(&part.fields)? })
        }
        Form::Image(source, media_type) => ContentPart::Image(Image {
            source: source.clone(),
            media_type: media_type.clone(),
            extra: rest(&part.fields)?,
        }),
        Form::File(source, media_type, name) => ContentPart::File(File {
            source: source.clone(),
            media_type: media_type.clone(),
            name: name.clone(),
            extra: rest(&part.fields)?,
        }),
        Form::Other => {
            ContentPart::Opaque(Opaque { owner: VendorName::new(OWNER), value: part_value(part)? })
        }
    })
}

fn assistant_part<'a>(part: &Part<'a>) -> Result<AssistantPart, Fault<'a>> {
    Ok(match content_part(part)? {
        ContentPart::Text(text) => AssistantPart::Text(text),
        ContentPart::Image(image) => AssistantPart::Image(image),
        ContentPart::File(file) => AssistantPart::File(file),
        ContentPart::Opaque(opaque) => AssistantPart::Opaque(opaque),
    })
}

/// A part of unknown type, such that it can be told from an item.
fn part_value(part: &Part<'_>) -> Result<Json, interleaf_model::Error> {
    let kind = part.fields.peek("type").and_then(|kind| text(kind).ok()).unwrap_or_default();
    if is_part_type(&kind) {
        return Ok(Json::from(part.raw));
    }
    let mut wrapped = ObjectText::default();
    wrapped.push("type", &serde_json::Value::from(WRAPPED_PART).to_string());
    wrapped.push("part", part.raw.get());
    Ok(wrapped.into_json()?.unwrap_or_else(|| Json::from(part.raw)))
}
