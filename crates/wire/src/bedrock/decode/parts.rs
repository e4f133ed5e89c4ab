//! Content blocks: a union, told apart by the one key that a block has.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::RawValue;
use smol_str::SmolStr;

use interleaf_model::{CallId, Extra, File, Image, Json, Seal, Source, ToolCall, ToolName};

use crate::arguments;
use crate::bedrock::media::{Format, MediaKind};
use crate::bedrock::wire::KINDS;
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_object, is_text, text, wrong_type};
use crate::{Family, misplaced, source};

/// A content block.
pub(super) struct Block<'a> {
    pub(super) raw: &'a RawValue,
    pub(super) form: BlockForm<'a>,
    /// The unknown fields: those beside the key, and those inside under its name.
    pub(super) rest: ObjectText,
}

/// A block by its key. Extras of media are in the block's rest.
pub(super) enum BlockForm<'a> {
    Text(Cow<'a, str>),
    Json(&'a RawValue),
    Image(Image),
    /// A document, a film or a sound.
    File(File),
    ToolUse(Fields<'a>),
    ToolResult(Fields<'a>),
    Thinking {
        text: Cow<'a, str>,
        seal: Option<Seal>,
        inner: Fields<'a>,
    },
    CachePoint,
    /// Something that only the API understands.
    Other,
}

pub(super) fn read_block(raw: &RawValue) -> Result<Block<'_>, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    let mut kinds = KINDS.iter().filter(|kind| fields.peek(kind).is_some());
    let (kind, second) = (kinds.next().copied(), kinds.next());
    // The other families' word for what the key says here.
    if kind.is_some() && fields.peek("type").is_some_and(is_text) {
        fields.take("type");
    }
    let mut inner_rest = ObjectText::default();
    let form = match (kind, second) {
        (Some(kind), None) => read_form(kind, &mut fields, &mut inner_rest)?,
        _ => {
            misplaced::part(Family::Bedrock, raw, &fields)?;
            BlockForm::Other
        }
    };
    if let BlockForm::Image(Image { source, .. }) | BlockForm::File(File { source, .. }) = &form {
        source::check(source, raw)?;
    }
    let mut rest = inner_rest;
    rest.push_all(&fields);
    Ok(Block { raw, form, rest })
}

fn read_form<'a>(
    kind: &'static str,
    fields: &mut Fields<'a>,
    rest: &mut ObjectText,
) -> Result<BlockForm<'a>, Fault<'a>> {
    Ok(match kind {
        "text" => match fields.take_text("text")? {
            Some(text) => BlockForm::Text(text),
            None => BlockForm::Other,
        },
        "json" => fields.take("json").map_or(BlockForm::Other, BlockForm::Json),
        "cachePoint" => BlockForm::CachePoint,
        "image" => read_media(MediaKind::Image, fields, rest)?,
        "document" => read_media(MediaKind::Document, fields, rest)?,
        "video" => read_media(MediaKind::Video, fields, rest)?,
        "audio" => read_media(MediaKind::Audio, fields, rest)?,
        "toolUse" => read_tool_use(fields)?,
        "toolResult" => {
            fields.take_object("toolResult")?.map_or(BlockForm::Other, BlockForm::ToolResult)
        }
        "reasoningContent" => read_reasoning(fields)?,
        _ => BlockForm::Other,
    })
}

/// A call for us to answer. What the API runs itself is not.
fn read_tool_use<'a>(fields: &mut Fields<'a>) -> Result<BlockForm<'a>, Fault<'a>> {
    let Some(mut call) = fields.take_object("toolUse")? else { return Ok(BlockForm::Other) };
    match call.peek("type").map(RawValue::get) {
        // Answers say so; requests do not take it.
        Some(r#""tool_use""#) => {
            call.take("type");
        }
        Some(_) => return Ok(BlockForm::Other),
        None => {}
    }
    Ok(BlockForm::ToolUse(call))
}

/// A call, and what is left of it.
pub(super) fn tool_call(mut call: Fields<'_>) -> Result<(ToolCall, Fields<'_>), Fault<'_>> {
    let Some(id) = call.take_text("toolUseId")? else {
        return Err(call.incomplete("a call needs `toolUseId`"));
    };
    let Some(name) = call.take_text("name")? else {
        return Err(call.incomplete("a call needs `name`, the tool that it wants to run"));
    };
    let arguments = match call.take("input") {
        None => interleaf_model::Arguments::none(),
        Some(input) if is_object(input) => arguments::from_object(Json::from(input)),
        Some(input) => interleaf_model::Arguments::Invalid(input.get().into()),
    };
    let (id, name) = (CallId::new(id)?, ToolName::new(name));
    Ok((ToolCall { id, name, arguments, extra: Extra::NONE }, call))
}

fn read_reasoning<'a>(fields: &mut Fields<'a>) -> Result<BlockForm<'a>, Fault<'a>> {
    let Some(mut inner) = fields.take_object("reasoningContent")? else {
        return Ok(BlockForm::Other);
    };
    if let Some(mut thought) = inner.take_object("reasoningText")? {
        if inner.iter().next().is_some() {
            return Ok(BlockForm::Other);
        }
        let text = thought.take_text("text")?.unwrap_or_default();
        let signature = thought.take_text("signature")?.filter(|signature| !signature.is_empty());
        let seal = signature.map(|signature| Seal::Signature(signature.into()));
        return Ok(BlockForm::Thinking { text, seal, inner: thought });
    }
    match inner.take_text("redactedContent")? {
        Some(data) if inner.iter().next().is_none() => {
            let seal = Some(Seal::Encrypted(data.into()));
            Ok(BlockForm::Thinking { text: Cow::Borrowed(""), seal, inner })
        }
        _ => Ok(BlockForm::Other),
    }
}

fn read_media<'a>(
    kind: MediaKind,
    fields: &mut Fields<'a>,
    rest: &mut ObjectText,
) -> Result<BlockForm<'a>, Fault<'a>> {
    let name = kind.as_str();
    let Some(raw) = fields.take(name) else { return Ok(BlockForm::Other) };
    let inside = |fault: Fault<'a>| fault.under(name);
    let mut inner = Fields::read(raw).map_err(inside)?;
    let format = inner.take_text("format").map_err(inside)?;
    let format = format.and_then(|format| kind.format(&format));
    let source = inner.take("source").filter(|source| is_object(source));
    // A document may hold text of its own, or parts, which no other API has.
    let (Some(format), Some(source)) = (format, source) else { return Ok(BlockForm::Other) };
    let Some((source, location)) = read_source(source).map_err(|f| inside(f.under("source")))?
    else {
        return Ok(BlockForm::Other);
    };
    // A name stays in the rest as well: so it is known to be unique.
    let title = match inner.peek("name") {
        Some(title) if kind == MediaKind::Document && is_text(title) => {
            Some(text(title).map_err(|fault| inside(fault.under("name")))?)
        }
        _ => None,
    };
    let mut left = ObjectText::default();
    left.push_all(&inner);
    if let Some(location) = location {
        left.push_object("s3Location", &location);
    }
    if let Some(left) = left.into_json()? {
        rest.push(name, left.as_str());
    }
    Ok(form(format, source, title))
}

fn form<'a>(format: &Format, source: Source, title: Option<Cow<'_, str>>) -> BlockForm<'a> {
    let media_type = format.media_types.first().map(|media_type| SmolStr::new_static(media_type));
    if format.kind == MediaKind::Image {
        return BlockForm::Image(Image { source, media_type, extra: Extra::NONE });
    }
    let name = title.map(SmolStr::new);
    BlockForm::File(File { source, media_type, name, extra: Extra::NONE })
}

type SourceAndRest<'a> = (Source, Option<Fields<'a>>);

/// Bytes or an S3 location; nothing if it is something else, or more.
fn read_source(raw: &RawValue) -> Result<Option<SourceAndRest<'_>>, Fault<'_>> {
    let mut source = Fields::read(raw)?;
    let read = if let Some(data) = source.take_text("bytes")? {
        Some((Source::Base64(Arc::from(&*data)), None))
    } else if let Some(mut location) = source.take_object("s3Location")? {
        let uri = location.take_text("uri")?.filter(|uri| uri.starts_with("s3://"));
        uri.map(|uri| (Source::Url(Arc::from(&*uri)), Some(location)))
    } else {
        None
    };
    Ok(read.filter(|_| source.iter().next().is_none()))
}

/// The block that a stream of text and citations amounts to.
pub(in crate::bedrock) fn read_citations(said: &str, citations: &[String]) -> Option<Json> {
    let said = serde_json::Value::from(said);
    let citations = citations.join(",");
    let block = format!(
        r#"{{"citationsContent":{{"content":[{{"text":{said}}}],"citations":[{citations}]}}}}"#
    );
    Json::parse(block).ok()
}

/// The text of a value that must be a string.
pub(super) fn must_be_text<'a>(raw: &'a RawValue, name: &str) -> Result<Cow<'a, str>, Fault<'a>> {
    if !is_text(raw) {
        return Err(wrong_type(raw, "a string").under(name));
    }
    text(raw).map_err(|fault| fault.under(name))
}
