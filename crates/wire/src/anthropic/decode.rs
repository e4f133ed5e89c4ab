//! From a request or an answer to the model's words.

mod parts;
mod settings;

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use interleaf_model::{
    AssistantPart, Body, CallId, ContentPart, Extra, Json, Message, Opaque, Parts, Status,
    SystemPart, Text, Tool, ToolName, ToolResult, VendorName,
};

use self::parts::{assistant_part, content_part, kind_of, system_part};
use super::OWNER;
use super::encode::IN_MESSAGE;
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_list, is_object, is_text, list, text, wrong_type};
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

/// The names of the calls so far, for their results.
type Calls<'a> = HashMap<Cow<'a, str>, ToolName>;

fn read_request(whole: &RawValue) -> Result<Request, Fault<'_>> {
    let mut fields = Fields::read(whole)?;
    let Some(raw) = fields.take("messages") else {
        return Err(fields.incomplete("a request needs `messages`"));
    };
    let mut messages = Vec::new();
    if let Some(system) = fields.take("system") {
        let parts = system_parts(system).map_err(|fault| fault.under("system"))?;
        messages.extend(Parts::new(parts).ok().map(|parts| Message::from(Body::System(parts))));
    }
    let mut calls = Calls::new();
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
        }
    }
    let mut options = settings::read_options(&mut fields)?;
    options.hosted_tools = hosted_tools;
    Ok(Request { messages, tools, options })
}

fn system_parts(raw: &RawValue) -> Result<Vec<SystemPart>, Fault<'_>> {
    if is_text(raw) {
        let text = text(raw)?;
        let is_said = !text.is_empty();
        return Ok(is_said.then(|| SystemPart::Text(Text::new(text))).into_iter().collect());
    }
    read_each(raw, "", system_part)
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

/// A message, or the several that it stands for.
fn read_message<'a>(raw: &'a RawValue, calls: &mut Calls<'a>) -> Result<Vec<Message>, Fault<'a>> {
    let mut fields = Fields::read(raw)?;
    let Some(role) = fields.take("role") else {
        return Err(fields.incomplete("a message needs `role`"));
    };
    let speaker = text(role).map_err(|fault| fault.under("role"))?;
    let content = fields.take("content");
    match &*speaker {
        "system" => {
            let parts = content.map(system_parts).transpose();
            let parts = parts.map_err(|fault| fault.under("content"))?.unwrap_or_default();
            let empty = || Parts::one(SystemPart::Text(Text::new("")));
            let parts = Parts::new(parts).unwrap_or_else(|_| empty());
            let extra = extra(&fields)?;
            Ok(vec![Message { extra, ..Message::from(Body::System(parts)) }])
        }
        "user" => read_user(content, &fields, calls),
        "assistant" => {
            let parts = assistant_parts(content)?;
            for part in &parts {
                if let AssistantPart::Call(call) = part {
                    calls.insert(Cow::Owned(call.id.as_str().to_owned()), call.name.clone());
                }
            }
            let empty = || Parts::one(AssistantPart::Text(Text::new("")));
            let parts = Parts::new(parts).unwrap_or_else(|_| empty());
            let extra = extra(&fields)?;
            Ok(vec![Message { extra, ..Message::from(Body::Assistant(parts)) }])
        }
        _ => {
            let rule = format!("unknown role {speaker:?}: it must be user, assistant or system");
            Err(Fault::form(role, rule).under("role"))
        }
    }
}

fn assistant_parts(content: Option<&RawValue>) -> Result<Vec<AssistantPart>, Fault<'_>> {
    match content {
        None => Ok(Vec::new()),
        Some(raw) if is_text(raw) => {
            let text = text(raw).map_err(|fault| fault.under("content"))?;
            Ok(vec![AssistantPart::Text(Text::new(text))])
        }
        Some(raw) => read_each(raw, "content", assistant_part),
    }
}

/// Results become messages of their own; what stands between them keeps its place.
fn read_user<'a>(
    content: Option<&'a RawValue>,
    fields: &Fields<'a>,
    calls: &Calls<'a>,
) -> Result<Vec<Message>, Fault<'a>> {
    let mut messages: Vec<Message> = Vec::new();
    let mut said = Vec::new();
    match content {
        None => {}
        Some(raw) if is_text(raw) => {
            let text = text(raw).map_err(|fault| fault.under("content"))?;
            said.push(ContentPart::Text(Text::new(text)));
        }
        Some(raw) => {
            let blocks = read_each(raw, "content", Ok)?;
            for (i, raw) in blocks.into_iter().enumerate() {
                let inside = |fault: Fault<'a>| fault.under(&format!("content[{i}]"));
                if kind_of(raw).map_err(inside)? == "tool_result" {
                    messages.extend(user_message(&mut said));
                    messages.push(read_result(raw, calls).map_err(inside)?);
                } else {
                    said.push(content_part(raw).map_err(inside)?);
                }
            }
        }
    }
    messages.extend(user_message(&mut said));
    if messages.is_empty() {
        messages.push(Message::user(""));
    }
    attach(&mut messages, fields)?;
    Ok(messages)
}

fn user_message(said: &mut Vec<ContentPart>) -> Option<Message> {
    let parts = Parts::new(std::mem::take(said)).ok()?;
    Some(Body::User(parts).into())
}

/// Gives the fields of the message itself to what the user said, or else to the
/// first result.
fn attach(messages: &mut [Message], fields: &Fields<'_>) -> Result<(), interleaf_model::Error> {
    let Some(mine) = object(fields)? else { return Ok(()) };
    if let Some(user) = messages.iter_mut().rfind(|message| message.as_result().is_none()) {
        user.extra = Extra::of(VendorName::new(OWNER), mine)?;
    } else if let Some(first) = messages.first_mut() {
        let mut own = ObjectText::default();
        if let Some(json) = first.extra.get(OWNER)
            && let Ok(raw) = serde_json::from_str(json.as_str())
            && let Ok(before) = Fields::read(raw)
        {
            own.push_all(&before);
        }
        own.push(IN_MESSAGE, mine.as_str());
        first.extra = extra_of(own)?;
    }
    Ok(())
}

fn read_result<'a>(raw: &'a RawValue, calls: &Calls<'a>) -> Result<Message, Fault<'a>> {
    const RULE: &str = "a result needs `tool_use_id`, the id of the call that it answers";
    let mut fields = Fields::read(raw)?;
    fields.take("type");
    let at = fields.peek("tool_use_id");
    let id = fields.take_text("tool_use_id")?;
    let id = match (id, at) {
        (Some(id), Some(at)) if id.trim().is_empty() => {
            return Err(Fault::rule(at, RULE).under("tool_use_id"));
        }
        (Some(id), _) => id,
        (None, _) => return Err(fields.incomplete(RULE)),
    };
    let parts = match fields.take("content") {
        None => Vec::new(),
        Some(raw) if is_text(raw) => {
            let text = text(raw).map_err(|fault| fault.under("content"))?;
            vec![ContentPart::Text(Text::new(text))]
        }
        Some(raw) => read_each(raw, "content", content_part)?,
    };
    let status = if parts::flag(&mut fields, "is_error")? { Status::Error } else { Status::Ok };
    let parts = Parts::new(parts).unwrap_or_else(|_| Parts::one(ContentPart::Text(Text::new(""))));
    let name = calls.get(&id).cloned();
    let result = ToolResult { call: CallId::new(&id)?, name, status, parts };
    Ok(Message { extra: extra(&fields)?, ..Message::from(Body::Tool(result)) })
}

enum Declared {
    Tool(Tool),
    Hosted(Opaque),
}

/// A tool with a schema is the caller's, whatever else it says.
fn read_tool(raw: &RawValue) -> Result<Declared, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    let is_custom = match fields.peek("type") {
        None => true,
        Some(kind) => kind.get() == r#""custom""#,
    };
    if !is_custom {
        let owner = VendorName::new(OWNER);
        return Ok(Declared::Hosted(Opaque { owner, value: Json::from(raw) }));
    }
    let Some(name) = fields.take_text("name")? else {
        return Err(fields.incomplete("a tool needs `name`"));
    };
    let description = fields.take_text("description")?.map(Into::into);
    let parameters = match fields.take("input_schema") {
        Some(schema) if !is_object(schema) => {
            return Err(wrong_type(schema, "an object").under("input_schema"));
        }
        schema => schema.map(Json::from),
    };
    let strict = match fields.peek("strict") {
        None => None,
        Some(_) => Some(parts::flag(&mut fields, "strict")?),
    };
    let name = ToolName::new(name);
    Ok(Declared::Tool(Tool { name, description, parameters, strict, extra: extra(&fields)? }))
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
