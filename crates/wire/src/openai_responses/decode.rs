//! From bodies and answers to the model's words.

mod messages;
mod parts;
mod settings;
mod tools;

use std::collections::BTreeMap;

use interleaf_model::{Extra, Message, VendorName};
use serde_json::value::RawValue;

use super::{CONTINUED, OWNER};
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_list, is_text, list, text, wrong_type};
use crate::{Error, Request};

pub(super) use self::parts::{assistant_item, joined, message_part};

/// Reads the body of a request.
///
/// # Errors
/// If the text is no object, or its items and tools are none.
pub(crate) fn decode_request(text: &str) -> Result<Request, Error> {
    let whole = serde_json::from_str(text).map_err(|e| Error::syntax(&e, text))?;
    read_request(whole).map_err(|fault| fault.locate(text))
}

fn read_request(whole: &RawValue) -> Result<Request, Fault<'_>> {
    let mut fields = Fields::of_body(whole, "input")?;
    let mut messages = Vec::new();
    if fields.peek("instructions").is_some_and(is_text) {
        let text = fields.take_text("instructions")?.unwrap_or_default();
        let mut own = ObjectText::default();
        own.push("role", r#""instructions""#);
        messages.push(Message { extra: extra(own)?, ..Message::system(&text) });
    }
    if let Some(input) = fields.take("input") {
        let continues = CONTINUED.iter().any(|name| fields.peek(name).is_some());
        messages.extend(read_input(input, continues)?);
    }
    let (tools, hosted_tools) = tools::tools(&mut fields)?;
    let mut options = settings::read(fields)?;
    options.hosted_tools = hosted_tools;
    Ok(Request { messages, tools, options })
}

fn read_input(raw: &RawValue, continues: bool) -> Result<Vec<Message>, Fault<'_>> {
    if is_text(raw) {
        let text = text(raw).map_err(|fault| fault.under("input"))?;
        return Ok(vec![Message::user(&text)]);
    }
    if !is_list(raw) {
        return Err(wrong_type(raw, "a string or a list of items").under("input"));
    }
    let list = list(raw).map_err(|fault| fault.under("input"))?;
    let mut reader = messages::Reader::new(continues);
    for (i, item) in list.into_iter().enumerate() {
        reader.item(i, item).map_err(|fault| fault.under(&format!("input[{i}]")))?;
    }
    Ok(reader.finish())
}

/// What this family attached.
fn extra(own: ObjectText) -> Result<Extra, interleaf_model::Error> {
    match own.into_json()? {
        Some(fields) => Extra::from_map(BTreeMap::from([(VendorName::new(OWNER), fields)])),
        None => Ok(Extra::NONE),
    }
}

/// The fields that are left, as this family's extra.
fn rest(fields: &Fields<'_>) -> Result<Extra, interleaf_model::Error> {
    let mut own = ObjectText::default();
    own.push_all(fields);
    extra(own)
}
