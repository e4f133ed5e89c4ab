//! From a body or an answer to the model's words.

mod documents;
mod parts;
mod settings;

use serde_json::value::RawValue;

use interleaf_model::{
    AssistantPart, Body, CallId, ContentPart, Extra, Json, Message, Opaque, Parts, Status,
    SystemPart, Text, ToolResult, VendorName,
};

use self::parts::{Block, BlockForm, read_block};
use super::wire::{AROUND_RESULT, BEHIND_RESULT, OWNER};
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_object, is_text, list, text};
use crate::{Error, Request};

pub(super) use self::parts::read_citations;

/// Reads the body of a request.
pub(crate) fn decode_request(whole: &str) -> Result<Request, Error> {
    let raw = serde_json::from_str(whole).map_err(|e| Error::syntax(&e, whole))?;
    let mut request = read_request(raw).map_err(|fault| fault.locate(whole))?;
    request.options.cache = settings::cache_marks(whole);
    Ok(request)
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
pub(super) fn each<'a, T>(
    at: &'a RawValue,
    name: &str,
    read: impl Fn(&'a RawValue) -> Result<T, Fault<'a>>,
) -> Result<Vec<T>, Fault<'a>> {
    let read = |(i, raw)| read(raw).map_err(|fault| fault.under(&format!("{name}[{i}]")));
    list(at).map_err(|fault| fault.under(name))?.into_iter().enumerate().map(read).collect()
}

/// Our extra of these fields.
pub(super) fn own(fields: ObjectText) -> Result<Extra, interleaf_model::Error> {
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

pub(super) fn assistant_part(raw: &RawValue) -> Result<AssistantPart, Fault<'_>> {
    let Block { raw, form, mut rest } = read_block(raw)?;
    Ok(match form {
        BlockForm::Text(said) => AssistantPart::Text(Text { text: said.into(), extra: own(rest)? }),
        BlockForm::ToolUse(call) => {
            let (mut call, inner) = parts::tool_call(call)?;
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
