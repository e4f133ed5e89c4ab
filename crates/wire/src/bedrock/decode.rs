//! From a body or an answer to the model's words.

mod block;
mod documents;
mod settings;

use serde_json::value::RawValue;

use interleaf_model::{
    AssistantPart, Body, CallId, ContentPart, Extra, Finish, Json, Message, Opaque, Parts, Status,
    SystemPart, Text, ToolResult, Usage, VendorName,
};
use smol_str::SmolStr;

use self::block::{Block, BlockForm, read_block};
use super::event_stream::message_of;
use super::wire::{AROUND_RESULT, BEHIND_RESULT, OWNER};
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_object, is_text, list, text, wrong_type};
use crate::reply_builder::ReplyBuilder;
use crate::{Error, ErrorKind, Request};

pub(super) use self::block::read_citations;

/// Reads the body of a request.
pub(crate) fn decode_request(whole: &str) -> Result<Request, Error> {
    let raw = serde_json::from_str(whole).map_err(|e| Error::syntax(&e, whole))?;
    let mut request = read_request(raw).map_err(|fault| fault.locate(whole))?;
    request.options.cache = settings::cache_marks(whole);
    Ok(request)
}

/// Reads an answer that came whole.
pub(crate) fn decode_response(whole: &str) -> Result<ReplyBuilder, Error> {
    let raw = serde_json::from_str(whole).map_err(|e| Error::syntax(&e, whole))?;
    if let Some(error) = api_error(raw, whole) {
        return Err(error);
    }
    read_response(raw).map_err(|fault| fault.locate(whole))
}

fn read_request(whole: &RawValue) -> Result<Request, Fault<'_>> {
    let mut fields = Fields::read(whole)?;
    let Some(turns) = fields.take("messages") else {
        return Err(fields.incomplete("a request needs `messages`"));
    };
    let mut messages = Vec::new();
    if let Some(system) = fields.take("system") {
        let parts = match plain(system).map_err(|fault| fault.under("system"))? {
            Some(said) => vec![SystemPart::Text(said)],
            None => each(system, "system", system_part)?,
        };
        if let Ok(parts) = Parts::new(parts) {
            messages.push(Body::System(parts).into());
        }
    }
    for read in each(turns, "messages", read_message)? {
        messages.extend(read);
    }
    documents::distrust_doubles(&mut messages)?;
    let (tools, options) = settings::read(&mut fields)?;
    Ok(Request { messages, tools, options })
}

/// A text in place of a list of blocks: the API refuses it, but what it means is plain.
fn plain(raw: &RawValue) -> Result<Option<Text>, Fault<'_>> {
    if !is_text(raw) {
        return Ok(None);
    }
    text(raw).map(|said| Some(Text::new(said)))
}

/// Reads a list that stands under `name`.
fn each<'a, T>(
    at: &'a RawValue,
    name: &str,
    read: impl Fn(&'a RawValue) -> Result<T, Fault<'a>>,
) -> Result<Vec<T>, Fault<'a>> {
    let read = |(i, raw)| read(raw).map_err(|fault| fault.under(&format!("{name}[{i}]")));
    list(at).map_err(|fault| fault.under(name))?.into_iter().enumerate().map(read).collect()
}

/// Our extra of these fields.
fn own(fields: ObjectText) -> Result<Extra, interleaf_model::Error> {
    match fields.into_json()? {
        Some(fields) => Extra::of(VendorName::new(OWNER), fields),
        None => Ok(Extra::NONE),
    }
}

fn opaque(raw: &RawValue) -> Opaque {
    Opaque { owner: VendorName::new(OWNER), value: Json::from(raw) }
}

fn system_part(raw: &RawValue) -> Result<SystemPart, Fault<'_>> {
    let block = read_block(raw)?;
    Ok(match block.form {
        BlockForm::Text(said) => {
            SystemPart::Text(Text { text: said.into(), extra: own(block.rest)? })
        }
        _ => SystemPart::Opaque(opaque(raw)),
    })
}

/// One message of the API is one of ours, or several where it holds results.
fn read_message(raw: &RawValue) -> Result<Vec<Message>, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    let Some(role) = fields.take("role") else {
        return Err(fields.incomplete("a message needs `role`"));
    };
    let spoken = text(role).map_err(|fault| fault.under("role"))?;
    let Some(content) = fields.take("content") else {
        return Err(fields.incomplete("a message needs `content`"));
    };
    let said = plain(content).map_err(|fault| fault.under("content"))?;
    let mut messages: Vec<Message> = match &*spoken {
        "user" => match said {
            Some(said) => vec![Body::User(Parts::one(ContentPart::Text(said))).into()],
            None => user_messages(each(content, "content", read_block)?)?,
        },
        "assistant" => {
            let parts = match said {
                Some(said) => vec![AssistantPart::Text(said)],
                None => each(content, "content", assistant_part)?,
            };
            let parts = Parts::new(parts);
            let blank = |_| Parts::one(AssistantPart::Text(Text::new("")));
            vec![Body::Assistant(parts.unwrap_or_else(blank)).into()]
        }
        "system" => {
            let parts = match said {
                Some(said) => vec![SystemPart::Text(said)],
                None => each(content, "content", system_part)?,
            };
            let parts = Parts::new(parts);
            let blank = |_| Parts::one(SystemPart::Text(Text::new("")));
            vec![Body::System(parts.unwrap_or_else(blank)).into()]
        }
        _ => {
            let rule = format!("unknown role {spoken:?}: it must be user, assistant or system");
            return Err(Fault::form(role, rule).under("role"));
        }
    };
    if let Some(last) = messages.last_mut() {
        let mut rest = ObjectText::default();
        rest.push_all(&fields);
        attach(last, rest)?;
    }
    Ok(messages)
}

/// Adds unknown fields of a message to those of its result.
fn attach(message: &mut Message, mut rest: ObjectText) -> Result<(), interleaf_model::Error> {
    if let Some(before) = message.extra.get(OWNER)
        && let Some(fields) = super::wire::object(before)
    {
        rest.push_all(&fields);
    }
    message.extra = own(rest)?;
    Ok(())
}

fn user_messages<'a>(blocks: Vec<Block<'a>>) -> Result<Vec<Message>, Fault<'a>> {
    let mut messages: Vec<Message> = Vec::new();
    let mut said: Vec<ContentPart> = Vec::new();
    for (i, block) in blocks.into_iter().enumerate() {
        match block.form {
            BlockForm::ToolResult(_) => {
                flush(&mut said, &mut messages);
                let inside = |fault: Fault<'a>| fault.under(&format!("content[{i}]"));
                messages.push(tool_message(block).map_err(inside)?);
            }
            // A breakpoint behind a result is the result's; a message of its own it
            // would be something that the user said.
            BlockForm::CachePoint if said.is_empty() && is_unmarked_result(messages.last()) => {
                if let Some(last) = messages.last_mut() {
                    let mut rest = ObjectText::default();
                    rest.push(BEHIND_RESULT, block.raw.get());
                    attach(last, rest)?;
                }
            }
            _ => said.push(content_part(block)?),
        }
    }
    flush(&mut said, &mut messages);
    if messages.is_empty() {
        messages.push(Message::user(""));
    }
    Ok(messages)
}

fn is_unmarked_result(message: Option<&Message>) -> bool {
    message.is_some_and(|message| {
        message.as_result().is_some()
            && super::wire::own_field(&message.extra, BEHIND_RESULT).is_none()
    })
}

fn flush(said: &mut Vec<ContentPart>, messages: &mut Vec<Message>) {
    if let Ok(parts) = Parts::new(std::mem::take(said)) {
        messages.push(Body::User(parts).into());
    }
}

fn tool_message(block: Block<'_>) -> Result<Message, Fault<'_>> {
    let BlockForm::ToolResult(mut result) = block.form else {
        return Ok(Message::user(""));
    };
    let call = match result.take_text("toolUseId")? {
        Some(id) => CallId::new(id)?,
        None => return Err(result.incomplete("a result needs `toolUseId`")),
    };
    let status = match result.take_text("status")?.as_deref() {
        Some("error") => Status::Error,
        _ => Status::Ok,
    };
    let parts = match result.take("content") {
        Some(content) => each(content, "toolResult.content", result_part)?,
        None => Vec::new(),
    };
    let parts = Parts::new(parts).unwrap_or_else(|_| Parts::one(ContentPart::Text(Text::new(""))));
    let mut extra = ObjectText::default();
    extra.push_object("toolResult", &result);
    if let Some(around) = block.rest.into_json()? {
        extra.push(AROUND_RESULT, around.as_str());
    }
    let body = Body::Tool(ToolResult { call, name: None, status, parts });
    Ok(Message { extra: own(extra)?, ..Message::from(body) })
}

fn result_part(raw: &RawValue) -> Result<ContentPart, Fault<'_>> {
    content_part(read_block(raw)?)
}

fn content_part(block: Block<'_>) -> Result<ContentPart, Fault<'_>> {
    let Block { raw, form, mut rest } = block;
    Ok(match form {
        BlockForm::Text(said) => ContentPart::Text(Text { text: said.into(), extra: own(rest)? }),
        BlockForm::Json(value) if is_object(value) => {
            rest.push("json", "true");
            ContentPart::Text(Text { text: value.get().into(), extra: own(rest)? })
        }
        BlockForm::Image(mut image) => {
            image.extra = own(rest)?;
            ContentPart::Image(image)
        }
        BlockForm::File(mut file) => {
            file.extra = own(rest)?;
            ContentPart::File(file)
        }
        BlockForm::Json(_)
        | BlockForm::ToolUse(_)
        | BlockForm::ToolResult(_)
        | BlockForm::Thinking { .. }
        | BlockForm::CachePoint
        | BlockForm::Other => ContentPart::Opaque(opaque(raw)),
    })
}

fn assistant_part(raw: &RawValue) -> Result<AssistantPart, Fault<'_>> {
    let Block { raw, form, mut rest } = read_block(raw)?;
    Ok(match form {
        BlockForm::Text(said) => AssistantPart::Text(Text { text: said.into(), extra: own(rest)? }),
        BlockForm::ToolUse(call) => {
            let (mut call, inner) = block::tool_call(call)?;
            rest.push_object("toolUse", &inner);
            call.extra = own(rest)?;
            AssistantPart::Call(call)
        }
        BlockForm::Thinking { text, seal, inner } => {
            rest.push_object("reasoningContent", &inner);
            AssistantPart::Thinking(interleaf_model::Thinking {
                text: text.into(),
                seal,
                producer: Some(interleaf_model::Producer {
                    vendor: VendorName::new(OWNER),
                    model: None,
                }),
                extra: own(rest)?,
            })
        }
        BlockForm::Image(mut image) => {
            image.extra = own(rest)?;
            AssistantPart::Image(image)
        }
        BlockForm::File(mut file) => {
            file.extra = own(rest)?;
            AssistantPart::File(file)
        }
        BlockForm::Json(_)
        | BlockForm::ToolResult(_)
        | BlockForm::CachePoint
        | BlockForm::Other => AssistantPart::Opaque(opaque(raw)),
    })
}

/// What the API says instead of an answer: `{"message": "…"}`, perhaps with its type.
fn api_error(raw: &RawValue, whole: &str) -> Option<Error> {
    let fields = Fields::read(raw).ok()?;
    let is_error = ["message", "Message", "__type"].iter().any(|name| fields.peek(name).is_some());
    if fields.peek("output").is_some() || !is_error {
        return None;
    }
    let kind = fields.peek("__type").and_then(|kind| text(kind).ok()).unwrap_or_default();
    let message = message_of(whole);
    // The type may be a whole shape id, `namespace#Name`.
    let rule = match kind.rsplit('#').next() {
        Some(kind) if !kind.is_empty() => format!("{kind}: {message}"),
        _ => message,
    };
    Some(Error::new(ErrorKind::Api, rule))
}

fn read_response(whole: &RawValue) -> Result<ReplyBuilder, Fault<'_>> {
    let mut fields = Fields::read(whole)?;
    let Some(mut output) = fields.take_object("output")? else {
        return Err(fields.incomplete("an answer needs `output`"));
    };
    let Some(message) = output.take("message") else {
        return Err(output.incomplete("an answer needs `message`"));
    };
    let mut reply = ReplyBuilder::default();
    read_answer(message, &mut reply).map_err(|fault| fault.under("output.message"))?;
    reply.finish = fields.take_text("stopReason")?.map(|reason| finish(&reason));
    reply.usage = fields.take("usage").map(usage).transpose().map_err(|f| f.under("usage"))?;
    Ok(reply)
}

fn read_answer<'a>(raw: &'a RawValue, reply: &mut ReplyBuilder) -> Result<(), Fault<'a>> {
    let mut message = Fields::read(raw)?;
    message.take("role");
    let Some(content) = message.take("content") else {
        return Err(message.incomplete("a message needs `content`"));
    };
    for (key, part) in (0..).zip(each(content, "content", assistant_part)?) {
        match part {
            // A stream says nothing of an empty text.
            AssistantPart::Text(text) if text.text.is_empty() => {}
            part => reply.part(key, part),
        }
    }
    let mut rest = ObjectText::default();
    rest.push_all(&message);
    reply.extra = own(rest)?;
    Ok(())
}

/// Why the model stopped, in our words.
pub(super) fn finish(reason: &str) -> Finish {
    match reason {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "tool_use" => Finish::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "guardrail_intervened" | "content_filtered" => Finish::ContentFilter,
        other => Finish::Other(SmolStr::new(other)),
    }
}

/// What the answer cost. The API counts cached tokens apart from the others.
pub(super) fn usage(raw: &RawValue) -> Result<Usage, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    let mut count = |name: &'static str| -> Result<u64, Fault<'_>> {
        let Some(raw) = fields.take(name) else { return Ok(0) };
        let wrong = |_| wrong_type(raw, "a count").under(name);
        raw.get().parse::<u64>().map_err(wrong)
    };
    let cache_read = count("cacheReadInputTokens")?;
    let cache_write = count("cacheWriteInputTokens")?;
    let fresh = count("inputTokens")?;
    let completion = count("outputTokens")?;
    let prompt = fresh.saturating_add(cache_read).saturating_add(cache_write);
    Ok(Usage { prompt, cache_read, cache_write, completion, reasoning: 0 })
}
