//! From a request or an answer to the model's words.

mod messages;
mod parts;
mod settings;
mod tools;

use interleaf_model::{Body, Extra, Json, Message, Parts, VendorName};
use serde_json::value::RawValue;

use self::messages::{Calls, read_message, system_parts};
use self::tools::{Declared, read_tool};
use super::OWNER;
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_list, list, wrong_type};
use crate::thinking::name_producer;
use crate::{Error, Request};

/// Reads the body of a request.
///
/// # Errors
/// If the text is no object, has no `messages`, or these are not messages.
pub(crate) fn decode_request(text: &str) -> Result<Request, Error> {
    let whole: &RawValue = serde_json::from_str(text).map_err(|e| Error::syntax(&e, text))?;
    let mut request = read_request(whole).map_err(|fault| fault.locate(text))?;
    request.options.cache = settings::cache_marks(text);
    name_producer(&mut request.messages, &request.options.model);
    Ok(request)
}

fn read_request(whole: &RawValue) -> Result<Request, Fault<'_>> {
    let mut fields = Fields::of_body(whole, "messages")?;
    let Some(raw) = fields.take("messages") else {
        return Err(fields.incomplete("a request needs `messages`"));
    };
    let mut messages = Vec::new();
    if let Some(system) = fields.take("system") {
        let parts = system_parts(system).map_err(|fault| fault.under("system"))?;
        messages.extend(Parts::new(parts).ok().map(|parts| Message::from(Body::System(parts))));
    }
    let mut calls = Calls::default();
    let raw = list(raw).map_err(|fault| fault.under("messages"))?;
    for (i, raw) in raw.into_iter().enumerate() {
        let read = read_message(raw, &mut calls);
        messages.extend(read.map_err(|fault| fault.under(&format!("messages[{i}]")))?);
    }
    let mut tools = Vec::new();
    let mut hosted_tools = Vec::new();
    for (i, raw) in fields.take_list("tools")?.into_iter().enumerate() {
        match read_tool(raw).map_err(|fault| fault.under(&format!("tools[{i}]")))? {
            Declared::Tool(tool) => tools.push(tool),
            Declared::Hosted(opaque) => hosted_tools.push(opaque),
            Declared::Foreign(theirs, hosted) => {
                tools.extend(theirs);
                hosted_tools.extend(hosted);
            }
        }
    }
    let mut options = settings::read_options(&mut fields)?;
    options.hosted_tools = hosted_tools;
    Ok(Request { messages, tools, options })
}

/// Reads the elements of a list that stands under `name`.
fn read_each<'a, T>(
    raw: &'a RawValue,
    name: &str,
    read: fn(&'a RawValue) -> Result<T, Fault<'a>>,
) -> Result<Vec<T>, Fault<'a>> {
    if !is_list(raw) {
        return Err(wrong_type(raw, "a string or a list of blocks").under(name));
    }
    let read = |(i, raw)| read(raw).map_err(|fault| fault.under(&format!("{name}[{i}]")));
    list(raw).map_err(|fault| fault.under(name))?.into_iter().enumerate().map(read).collect()
}

/// What is left, as an extra.
fn extra(fields: &Fields<'_>) -> Result<Extra, interleaf_model::Error> {
    let mut own = ObjectText::default();
    own.push_all(fields);
    extra_of(own)
}

fn object(fields: &Fields<'_>) -> Result<Option<Json>, interleaf_model::Error> {
    let mut own = ObjectText::default();
    own.push_all(fields);
    own.into_json()
}

pub(super) fn extra_of(own: ObjectText) -> Result<Extra, interleaf_model::Error> {
    match own.into_json()? {
        Some(fields) => Extra::of(VendorName::new(OWNER), fields),
        None => Ok(Extra::NONE),
    }
}
