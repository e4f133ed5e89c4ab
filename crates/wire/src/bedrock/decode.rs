//! From a body or an answer to the model's words.

mod documents;
mod messages;
mod parts;
mod settings;
mod tools;

use interleaf_model::{
    AssistantPart, Body, ContentPart, Extra, Json, Opaque, Parts, SystemPart, Text, VendorName,
};
use serde_json::value::RawValue;

use self::messages::read_message;
use self::parts::{Block, BlockForm, read_block};
use super::wire::OWNER;
use crate::error::Fault;
use crate::open_calls::OpenCalls;
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
    let mut fields = Fields::of_body(whole, "messages")?;
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
    let mut calls = OpenCalls::default();
    for read in each(turns, "messages", |raw| read_message(raw, &mut calls))? {
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
    mut read: impl FnMut(&'a RawValue) -> Result<T, Fault<'a>>,
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
