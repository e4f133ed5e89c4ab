//! Messages, one by one.

use std::collections::HashMap;

use interleaf_model::{
    AssistantPart, Body, CallId, ContentPart, Extra, Message, Parts, Status, SystemPart, Text,
    ToolName, ToolResult, VendorName,
};
use serde_json::value::RawValue;

use super::parts::{self, assistant_part, content_part, kind_of, system_part};
use super::{extra, extra_of, object, read_each};
use crate::anthropic::OWNER;
use crate::anthropic::encode::IN_MESSAGE;
use crate::error::Fault;
use crate::open_calls::OpenCalls;
use crate::raw::{Fields, ObjectText, is_text, text};
use crate::{Family, misplaced};

/// The calls so far, for their results.
#[derive(Default)]
pub(super) struct Calls {
    names: HashMap<CallId, ToolName>,
    open: OpenCalls,
}

pub(super) fn system_parts(raw: &RawValue) -> Result<Vec<SystemPart>, Fault<'_>> {
    if is_text(raw) {
        let text = text(raw)?;
        let is_said = !text.is_empty();
        return Ok(is_said.then(|| SystemPart::Text(Text::new(text))).into_iter().collect());
    }
    read_each(raw, "", system_part)
}

/// A message, or the several that it stands for.
pub(super) fn read_message<'a>(
    raw: &'a RawValue,
    calls: &mut Calls,
) -> Result<Vec<Message>, Fault<'a>> {
    let mut fields = Fields::read(raw)?;
    let Some(role) = fields.take("role") else {
        return Err(fields.incomplete("a message needs `role`"));
    };
    let speaker = text(role).map_err(|fault| fault.under("role"))?;
    let content = fields.take("content");
    misplaced::message(Family::Anthropic, &fields, content.is_some())?;
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
            let empty = || Parts::one(AssistantPart::Text(Text::new("")));
            let parts = Parts::new(parts).unwrap_or_else(|_| empty());
            let extra = extra(&fields)?;
            let message = Message { extra, ..Message::from(Body::Assistant(parts)) };
            let names = message.calls().map(|call| (call.id.clone(), call.name.clone()));
            calls.names.extend(names);
            calls.open.open(message.calls());
            Ok(vec![message])
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
    calls: &mut Calls,
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

fn read_result<'a>(raw: &'a RawValue, calls: &mut Calls) -> Result<Message, Fault<'a>> {
    const RULE: &str = "a result needs `tool_use_id`, the id of the call that it answers";
    let mut fields = Fields::read(raw)?;
    fields.take("type");
    let at = fields.peek("tool_use_id");
    let named = fields.take_text("tool_use_id")?;
    let call = calls.open.answer(named.as_deref()).ok_or_else(|| match at {
        Some(at) => Fault::rule(at, RULE).under("tool_use_id"),
        None => fields.incomplete(RULE),
    })?;
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
    let name = calls.names.get(&call).cloned();
    let result = ToolResult { call, name, status, parts };
    Ok(Message { extra: extra(&fields)?, ..Message::from(Body::Tool(result)) })
}
