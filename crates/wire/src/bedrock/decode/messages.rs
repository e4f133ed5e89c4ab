//! Messages, one by one.

use interleaf_model::{
    AssistantPart, Body, ContentPart, Message, Parts, Status, SystemPart, Text, ToolResult,
};
use serde_json::value::RawValue;

use super::parts::{Block, BlockForm, read_block};
use super::{assistant_part, content_part, each, own, plain, result_part, system_part};
use crate::bedrock::wire::{AFTER_RESULT, AROUND_RESULT, OWNER};
use crate::error::Fault;
use crate::open_calls::OpenCalls;
use crate::raw::{Fields, ObjectText, text};
use crate::{Family, misplaced};

/// One message of the API is one of ours, or several where it holds results.
pub(super) fn read_message<'a>(
    raw: &'a RawValue,
    calls: &mut OpenCalls,
) -> Result<Vec<Message>, Fault<'a>> {
    let mut fields = Fields::read(raw)?;
    let Some(role) = fields.take("role") else {
        return Err(fields.incomplete("a message needs `role`"));
    };
    let spoken = text(role).map_err(|fault| fault.under("role"))?;
    let Some(content) = fields.take("content") else {
        return Err(fields.incomplete("a message needs `content`"));
    };
    misplaced::message(Family::Bedrock, &fields, true)?;
    let said = plain(content).map_err(|fault| fault.under("content"))?;
    let mut messages: Vec<Message> = match &*spoken {
        "user" => match said {
            Some(said) => vec![Body::User(Parts::one(ContentPart::Text(said))).into()],
            None => user_messages(each(content, "content", read_block)?, calls)?,
        },
        "assistant" => {
            let parts = match said {
                Some(said) => vec![AssistantPart::Text(said)],
                None => each(content, "content", assistant_part)?,
            };
            let parts = Parts::new(parts);
            let blank = |_| Parts::one(AssistantPart::Text(Text::new("")));
            let message = Message::from(Body::Assistant(parts.unwrap_or_else(blank)));
            calls.open(message.calls());
            vec![message]
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
        && let Some(fields) = crate::bedrock::wire::object(before)
    {
        rest.push_all(&fields);
    }
    message.extra = own(rest)?;
    Ok(())
}

fn user_messages<'a>(
    blocks: Vec<Block<'a>>,
    calls: &mut OpenCalls,
) -> Result<Vec<Message>, Fault<'a>> {
    let mut messages: Vec<Message> = Vec::new();
    let mut said: Vec<ContentPart> = Vec::new();
    for (i, block) in blocks.into_iter().enumerate() {
        match block.form {
            BlockForm::ToolResult(_) => {
                flush(&mut said, &mut messages);
                let inside = |fault: Fault<'a>| fault.under(&format!("content[{i}]"));
                messages.push(tool_message(block, calls).map_err(inside)?);
            }
            // A breakpoint after a result belongs to the result; as a message of its own
            // it would be something that the user said.
            BlockForm::CachePoint if said.is_empty() && is_unmarked_result(messages.last()) => {
                if let Some(last) = messages.last_mut() {
                    let mut rest = ObjectText::default();
                    rest.push(AFTER_RESULT, block.raw.get());
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
            && crate::bedrock::wire::own_field(&message.extra, AFTER_RESULT).is_none()
    })
}

fn flush(said: &mut Vec<ContentPart>, messages: &mut Vec<Message>) {
    if let Ok(parts) = Parts::new(std::mem::take(said)) {
        messages.push(Body::User(parts).into());
    }
}

fn tool_message<'a>(block: Block<'a>, calls: &mut OpenCalls) -> Result<Message, Fault<'a>> {
    let BlockForm::ToolResult(mut result) = block.form else {
        return Ok(Message::user(""));
    };
    let named = result.take_text("toolUseId")?;
    let call = calls
        .answer(named.as_deref())
        .ok_or_else(|| result.incomplete("a result needs `toolUseId`"))?;
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
