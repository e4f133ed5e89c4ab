//! From parts to content blocks.

use std::borrow::Cow;

use interleaf_model::{
    Arguments, AssistantPart, Body, ContentPart, Extra, File, Image, Json, Message, MessageId,
    Opaque, Seal, Source, Status, Thinking, ToolCall,
};

use super::documents::{Documents, format_and_source, sendable};
use crate::adjustment::AdjustmentKind;
use crate::bedrock::lint;
use crate::bedrock::media::{self, Format, MediaKind};
use crate::bedrock::wire::{
    self, AROUND_RESULT, BEHIND_RESULT, Block, KINDS, Kind, Known, Media, OWNER, Reasoning,
    ReasoningText, Rest, S3Location, ToolResult, ToolUse, own_field,
};
use crate::encode::{Context, TurnPlace};
use crate::{CacheMarks, Family, arguments, names, thinking};

/// What a message has that is not an unknown field of the turn.
pub(super) const MESSAGE_FIELDS: &[&str] =
    &["role", "content", "toolResult", BEHIND_RESULT, AROUND_RESULT];

pub(super) use lint::Place;

/// What the assistant said in one message.
pub(super) fn assistant_blocks<'a>(
    cx: &mut Context<'_>,
    message: &'a Message,
    index: usize,
    place: TurnPlace,
    out: &mut Vec<Block<'a>>,
) {
    let Body::Assistant(parts) = &message.body else { return };
    for part in parts.iter() {
        match part {
            AssistantPart::Text(text) => push_text(cx, &text.text, &text.extra, &message.id, out),
            AssistantPart::Thinking(thought) => {
                let family = Family::Bedrock;
                let adjustments = &mut cx.adjustments;
                if thinking::goes_back(
                    thought,
                    message,
                    index,
                    family,
                    cx.options,
                    place,
                    adjustments,
                ) {
                    push_thinking(cx, thought, &message.id, out);
                }
            }
            AssistantPart::Call(call) => out.push(tool_use(cx, call, &message.id)),
            AssistantPart::Image(_) => {
                out.push(left_out(cx, "image", "the assistant cannot send one", &message.id));
            }
            AssistantPart::File(_) => {
                out.push(left_out(cx, "file", "the assistant cannot send one", &message.id));
            }
            AssistantPart::Opaque(opaque) => {
                if let Some(block) = own(cx, opaque, &message.id, Place::Assistant, out) {
                    out.push(block);
                }
            }
        }
    }
}

/// What the user said in one message.
pub(super) fn said_blocks<'a>(
    cx: &mut Context<'_>,
    message: &'a Message,
    documents: &mut Documents,
    out: &mut Vec<Block<'a>>,
) {
    let Body::User(parts) = &message.body else { return };
    for part in parts.iter() {
        match part {
            ContentPart::Text(text) => push_text(cx, &text.text, &text.extra, &message.id, out),
            ContentPart::Image(image) => out.push(image_block(cx, image, &message.id)),
            ContentPart::File(file) => out.push(file_block(cx, file, documents, message)),
            ContentPart::Opaque(opaque) => {
                if let Some(block) = own(cx, opaque, &message.id, Place::User, out) {
                    push_own(cx, opaque, block, documents, &message.id, out);
                }
            }
        }
    }
}

/// The result of one call, and behind all results what cannot stand in one.
pub(super) fn result_block<'a>(
    cx: &mut Context<'_>,
    message: &'a Message,
    documents: &mut Documents,
    out: &mut Vec<Block<'a>>,
    behind: &mut Vec<Block<'a>>,
) {
    let Body::Tool(result) = &message.body else { return };
    let mut content = Vec::new();
    let mut n_moved = 0;
    for part in result.parts.iter() {
        match part {
            ContentPart::Text(text) => push_result_text(cx, text, &message.id, &mut content),
            ContentPart::Image(image) => content.push(image_block(cx, image, &message.id)),
            ContentPart::File(file) => {
                let block = file_block(cx, file, documents, message);
                if block.kind() == "audio" {
                    n_moved += 1;
                    let note = format!("[audio {n_moved} of call {} follows]", result.call);
                    content.push(Block::text(note));
                    behind.push(block);
                    cx.adjustments.add(AdjustmentKind::MediaMoved, &message.id, "audio");
                } else {
                    content.push(block);
                }
            }
            ContentPart::Opaque(opaque) => {
                if let Some(block) = own(cx, opaque, &message.id, Place::Result, &content) {
                    push_own(cx, opaque, block, documents, &message.id, &mut content);
                }
            }
        }
    }
    let is_error = result.status == Status::Error;
    if is_error && content.is_empty() {
        content.push(Block::text("error"));
        cx.adjustments.add(
            AdjustmentKind::BlankText,
            &message.id,
            "a failed result must say something",
        );
    }
    let id = call_id(cx, &result.call, &message.id);
    let written = &["toolUseId", "content", "status"];
    let kind = Kind::ToolResult(ToolResult {
        tool_use_id: id,
        content,
        status: is_error.then_some("error"),
        rest: Rest::inside(&message.extra, "toolResult", written),
    });
    let rest = Rest::inside(&message.extra, AROUND_RESULT, KINDS);
    out.push(Block::Known(Known { kind, rest }));
    if cx.options.cache == CacheMarks::Off
        && let Some(mark) = own_field(&message.extra, BEHIND_RESULT)
        && wire::kind_of(mark) == Some("cachePoint")
        && lint::takes_block(mark, Place::User)
    {
        out.push(Block::Own(mark));
    }
}

/// A part that is given back as it came, if it may stand behind `before`.
pub(super) fn own<'a>(
    cx: &mut Context<'_>,
    opaque: &'a Opaque,
    message: &MessageId,
    place: Place,
    before: &[Block<'_>],
) -> Option<Block<'a>> {
    let raw = wire::raw(&opaque.value).filter(|raw| lint::takes_block(raw, place));
    let refused = if opaque.owner.as_str() != OWNER {
        opaque.owner.as_str()
    } else if let Some(raw) = raw {
        if wire::kind_of(raw) != Some("cachePoint") {
            return Some(Block::Own(raw));
        }
        if cx.options.cache == CacheMarks::On {
            // Breakpoints are placed anew.
            return None;
        }
        let behind = before.last().map(Block::kind);
        if behind.is_some_and(|kind| !lint::UNMARKABLE.contains(&kind)) {
            return Some(Block::Own(raw));
        }
        "a cache breakpoint cannot stand here"
    } else {
        "the API does not take it here"
    };
    cx.adjustments.add(AdjustmentKind::OpaqueDropped, message, refused);
    None
}

/// Adds a part of our own, which may be a document.
fn push_own<'a>(
    cx: &mut Context<'_>,
    opaque: &'a Opaque,
    block: Block<'a>,
    documents: &mut Documents,
    message: &MessageId,
    out: &mut Vec<Block<'a>>,
) {
    if block.kind() == "document" && !documents.admit_own(&opaque.value) {
        let detail = "too many documents, or two of one name";
        cx.adjustments.add(AdjustmentKind::OpaqueDropped, message, detail);
    } else {
        out.push(block);
    }
}

fn push_text<'a>(
    cx: &mut Context<'_>,
    text: &'a str,
    extra: &'a Extra,
    message: &MessageId,
    out: &mut Vec<Block<'a>>,
) {
    if text.trim().is_empty() {
        cx.adjustments.add(AdjustmentKind::BlankText, message, "");
    } else {
        out.push(Block::with(Kind::Text(text.into()), extra));
    }
}

/// A text of a result; a JSON object that came as one goes back as one.
fn push_result_text<'a>(
    cx: &mut Context<'_>,
    text: &'a interleaf_model::Text,
    message: &MessageId,
    out: &mut Vec<Block<'a>>,
) {
    if own_field(&text.extra, "json").is_some()
        && text.text.starts_with('{')
        && let Ok(json) = serde_json::from_str(&text.text)
    {
        out.push(Block::with(Kind::Json(json), &text.extra));
    } else {
        push_text(cx, &text.text, &text.extra, message, out);
    }
}

fn push_thinking<'a>(
    cx: &mut Context<'_>,
    thinking: &'a Thinking,
    message: &MessageId,
    out: &mut Vec<Block<'a>>,
) {
    const INNER: &str = "reasoningContent";
    let reasoning = match &thinking.seal {
        Some(Seal::Signature(signature)) if !signature.is_empty() => {
            let rest = Rest::inside(&thinking.extra, INNER, &["text", "signature"]);
            Reasoning::ReasoningText(ReasoningText { text: &thinking.text, signature, rest })
        }
        Some(Seal::Encrypted(data)) if media::is_base64(data) => {
            if !thinking.text.is_empty() {
                let detail = "its readable text, beside the sealed one";
                cx.adjustments.add(AdjustmentKind::ThinkingDropped, message, detail);
            }
            Reasoning::RedactedContent(data)
        }
        Some(Seal::Encrypted(_)) => {
            cx.adjustments.add(AdjustmentKind::ThinkingDropped, message, "its seal is not base64");
            return;
        }
        Some(Seal::Signature(_)) | None => {
            cx.adjustments.add(AdjustmentKind::ThinkingDropped, message, "it has no signature");
            return;
        }
    };
    out.push(Block::with(Kind::ReasoningContent(reasoning), &thinking.extra));
}

fn tool_use<'a>(cx: &mut Context<'_>, call: &'a ToolCall, message: &MessageId) -> Block<'a> {
    let name = cx.names.write(&call.name, &cx.vendor.quirks.tool_names);
    if let Cow::Owned(name) = &name {
        let detail = format!("{} became {name}", call.name);
        cx.adjustments.add(AdjustmentKind::ToolNameRewritten, message, detail);
    }
    let input = match &call.arguments {
        Arguments::Object(json) => json.clone(),
        invalid @ Arguments::Invalid(_) => {
            cx.adjustments.add(AdjustmentKind::ArgumentsWrapped, message, call.id.as_str());
            let object = arguments::as_object(invalid).into_owned();
            Json::parse(object).unwrap_or_else(|_| empty_object())
        }
    };
    let id = call_id(cx, &call.id, message);
    let rest = Rest::inside(&call.extra, "toolUse", &["toolUseId", "name", "input"]);
    let kind = Kind::ToolUse(ToolUse { tool_use_id: id, name, input, rest });
    Block::with(kind, &call.extra)
}

fn empty_object() -> Json {
    match Arguments::none() {
        Arguments::Object(json) => json,
        Arguments::Invalid(_) => Json::from(&serde_json::Value::Null),
    }
}

fn call_id<'a>(
    cx: &mut Context<'_>,
    id: &'a interleaf_model::CallId,
    message: &MessageId,
) -> Cow<'a, str> {
    let written = names::call_id(id, &cx.vendor.quirks.call_ids);
    if let Cow::Owned(written) = &written {
        cx.adjustments.add(
            AdjustmentKind::CallIdRewritten,
            message,
            format!("{id} became {written}"),
        );
    }
    written
}

fn image_block<'a>(cx: &mut Context<'_>, image: &'a Image, message: &MessageId) -> Block<'a> {
    let format = sendable(&image.source, image.media_type.as_deref(), "");
    match format {
        Some(format) if format.kind == MediaKind::Image => {
            let media = media_of(format, &image.source, &image.extra);
            Block::with(Kind::Image(media), &image.extra)
        }
        _ => left_out(cx, "image", why(&image.source), message),
    }
}

fn file_block<'a>(
    cx: &mut Context<'_>,
    file: &'a File,
    documents: &mut Documents,
    message: &Message,
) -> Block<'a> {
    let what = file.name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or("file");
    let Some((format, source)) = format_and_source(file) else {
        return left_out(cx, what, why(&file.source), &message.id);
    };
    let kind = match format.kind {
        MediaKind::Image => Kind::Image(media_of(format, source, &file.extra)),
        MediaKind::Video => Kind::Video(media_of(format, source, &file.extra)),
        MediaKind::Audio => Kind::Audio(media_of(format, source, &file.extra)),
        MediaKind::Document => {
            let Some(name) = documents.admit(file, message, format) else {
                return left_out(cx, what, "there are too many documents", &message.id);
            };
            if file.name.as_deref() != Some(&*name) {
                let before = file.name.as_deref().unwrap_or_default();
                let detail = format!("{before:?} became {name:?}");
                cx.adjustments.add(AdjustmentKind::FileRenamed, &message.id, detail);
            }
            let Media { format, source, mut rest } = media_of(format, source, &file.extra);
            rest.0.retain(|(field, _)| field != "name");
            Kind::Document(wire::Document { format, name, source, rest })
        }
    };
    Block::with(kind, &file.extra)
}

/// The caller knows that the source can travel.
fn media_of<'a>(format: &Format, source: &'a Source, extra: &'a Extra) -> Media<'a> {
    let name = format.kind.as_str();
    let source = match source {
        Source::Url(url) if url.starts_with("s3://") => {
            let location = own_field(extra, name)
                .and_then(|inner| crate::raw::Fields::read(inner).ok()?.peek("s3Location"));
            let rest = location.map_or(Rest::NONE, |inner| Rest::of_value(inner, &["uri"]));
            wire::Source::S3Location(S3Location { uri: url, rest })
        }
        Source::Url(url) => {
            wire::Source::Bytes(media::split_data_url(url).map_or("", |(_, data)| data))
        }
        Source::Base64(data) => wire::Source::Bytes(data),
        Source::Id { id, .. } => wire::Source::Bytes(id),
    };
    let rest = Rest::inside(extra, name, &["format", "source", "s3Location"]);
    Media { format: format.name, source, rest }
}

/// Why a medium cannot travel.
fn why(source: &Source) -> &'static str {
    match source {
        Source::Base64(_) => "the API does not take its format",
        Source::Url(_) => "the API does not fetch addresses",
        Source::Id { .. } => "the API has no uploaded files",
    }
}

/// The note that stands for what cannot travel.
fn left_out<'a>(cx: &mut Context<'_>, what: &str, why: &str, message: &MessageId) -> Block<'a> {
    cx.adjustments.add(AdjustmentKind::MediaDropped, message, format!("{what}: {why}"));
    Block::text(format!("[{what} left out: {why}]"))
}
