//! From a request body to the model's words.

mod calls;
mod messages;
mod parts;
mod settings;
mod tools;

pub(super) use parts::{Call, Form, Part, media_part, read_part};
pub(super) use settings::{response_format, tool_choice};

use std::collections::BTreeMap;

use interleaf_model::{Extra, Json, VendorName};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use super::wire::take;
use super::{GOOGLE, models};
use crate::error::Fault;
use crate::raw::{Fields, ObjectText};
use crate::{Error, Family, Options, OwnFields, Request};

/// Reads the body of a request.
pub(crate) fn decode_request(text: &str) -> Result<Request, Error> {
    let whole = serde_json::from_str(text).map_err(|e| Error::syntax(&e, text))?;
    read_request(whole).map_err(|fault| fault.locate(text))
}

fn read_request(whole: &RawValue) -> Result<Request, Fault<'_>> {
    let mut fields = Fields::of_body(whole, "contents")?;
    let Some(raw) = take(&mut fields, "contents") else {
        return Err(fields.incomplete("a request needs `contents`"));
    };
    let mut messages = Vec::new();
    if let Some(raw) = take(&mut fields, "systemInstruction") {
        let message = messages::system_message(raw);
        messages.push(message.map_err(|fault| fault.under("systemInstruction"))?);
    }
    messages::read(raw, &mut messages)?;
    let (tools, hosted_tools) = tools::read(&mut fields)?;
    let mut options =
        Options { hosted_tools, rest: OwnFields::of(Family::Gemini), ..Options::default() };
    if let Some(name) = fields.take_text("model")? {
        options.model = SmolStr::new(models::short(&name));
        options.model_field = Some(SmolStr::new(name));
    }
    settings::read(&mut fields, &mut options)?;
    for (name, value) in fields.iter() {
        options.rest.set(name, Json::from(value));
    }
    Ok(Request { messages, tools, options })
}

/// What Google attached.
fn extra(own: ObjectText) -> Result<Extra, interleaf_model::Error> {
    let own = own.into_json()?.map(|fields| (VendorName::new(GOOGLE), fields));
    Extra::from_map(BTreeMap::from_iter(own))
}
