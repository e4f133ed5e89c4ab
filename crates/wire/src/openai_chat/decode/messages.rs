//! Chat messages, one by one.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, Extra, Json, Message, MessageId, Opaque, Parts,
    Producer, Seal, Status, Text, Thinking, ToolCall, ToolName, ToolResult, VendorName,
};
use serde_json::value::RawValue;

use super::extra;
use super::form::{self, Call, Content, Input, Speaker, ThinkingBlock, Turn};
use super::parts::{assistant_part, content_parts, system_parts};
use crate::arguments::from_object;
use crate::error::Fault;
use crate::made_id::by_place;
use crate::open_calls::OpenCalls;
use crate::openai_chat::OPENAI;
use crate::raw::{Fields, ObjectText, is_object, list};

/// The latest call of each function in the deprecated form, which has no ids.
type FunctionCalls<'a> = HashMap<Cow<'a, str>, CallId>;

/// The calls so far.
#[derive(Default)]
struct Calls<'a> {
    functions: FunctionCalls<'a>,
    open: OpenCalls,
}

const ANTHROPIC: &str = "anthropic";
const GOOGLE: &str = "google";

pub(super) fn read_messages(raw: &RawValue) -> Result<Vec<Message>, Fault<'_>> {
    let mut calls = Calls::default();
    let raws = list(raw).map_err(|fault| fault.under("messages"))?;
    // A list that grows would hold many messages twice.
    let mut messages = Vec::with_capacity(raws.len());
    for (i, raw) in raws.into_iter().enumerate() {
        let message = form::read_message(raw).and_then(|form| message(form, i, &mut calls));
        messages.push(message.map_err(|fault| fault.under(&format!("messages[{i}]")))?);
    }
    Ok(messages)
}

fn message<'a>(
    form: form::Message<'a>,
    message_idx: usize,
    calls: &mut Calls<'a>,
) -> Result<Message, Fault<'a>> {
    let mut own = ObjectText::default();
    let body = match form.speaker {
        Speaker::System => Body::System(system_parts(form.content)?),
        Speaker::Developer => {
            own.push("role", r#""developer""#);
            Body::System(system_parts(form.content)?)
        }
        Speaker::User => Body::User(content_parts(form.content)?),
        Speaker::Assistant(turn) => {
            Body::Assistant(assistant_parts(turn, form.content, message_idx, &mut calls.functions)?)
        }
        Speaker::Tool { call_id, name, is_error } => Body::Tool(ToolResult {
            call: match calls.open.answer(call_id.id.as_deref()) {
                Some(call) => call,
                None => return Err(unnamed(call_id.at, &form.rest)),
            },
            name: name.map(ToolName::new),
            status: if is_error { Status::Error } else { Status::Ok },
            parts: content_parts(form.content)?,
        }),
        Speaker::Function { name } => {
            let call = match calls.functions.get(&name) {
                Some(call) => call.clone(),
                None => CallId::new(by_place(message_idx, 0))?,
            };
            let parts = content_parts(form.content)?;
            let name = Some(ToolName::new(name));
            Body::Tool(ToolResult { call, name, status: Status::Ok, parts })
        }
    };
    own.push_all(&form.rest);
    let id = form.id.map(MessageId::new).unwrap_or_default();
    let extra = extra([(OPENAI, own)])?;
    let message = Message { id, at: form.at, extra, ..Message::from(body) };
    calls.open.open(message.calls());
    Ok(message)
}

fn unnamed<'a>(at: Option<&'a RawValue>, message: &Fields<'a>) -> Fault<'a> {
    const RULE: &str = "a tool message needs `tool_call_id`, the id of the call that it answers";
    match at {
        Some(at) => Fault::rule(at, RULE).under("tool_call_id"),
        None => message.incomplete(RULE),
    }
}

/// Thinking, then what was said, then the calls: the order in which models work.
fn assistant_parts<'a>(
    turn: Box<Turn<'a>>,
    content: Content<'a>,
    message_idx: usize,
    functions: &mut FunctionCalls<'a>,
) -> Result<Parts<AssistantPart>, Fault<'a>> {
    let mut parts = Vec::new();
    for block in turn.thinking_blocks {
        parts.push(thinking(block)?);
    }
    if let Some(text) = turn.reasoning {
        let thinking =
            Thinking { text: text.into(), seal: None, producer: None, extra: Extra::NONE };
        parts.push(AssistantPart::Thinking(thinking));
    }
    match content {
        Content::Text(text) => parts.push(AssistantPart::Text(Text::new(text))),
        Content::Parts(list) => {
            for part in list {
                parts.push(assistant_part(part)?);
            }
        }
    }
    if let Some(refusal) = turn.refusal {
        let mut part = ObjectText::default();
        part.push("type", r#""refusal""#);
        part.push("refusal", refusal.get());
        if let Some(value) = part.into_json()? {
            parts.push(AssistantPart::Opaque(Opaque { owner: VendorName::new(OPENAI), value }));
        }
    }
    let n_calls = turn.tool_calls.len();
    for (i, call) in turn.tool_calls.into_iter().enumerate() {
        parts.push(AssistantPart::Call(tool_call(call, (message_idx, i))?));
    }
    if let Some(call) = turn.function_call {
        let name = call.name.clone();
        let call = tool_call(call, (message_idx, n_calls))?;
        functions.insert(name, call.id.clone());
        parts.push(AssistantPart::Call(call));
    }
    Ok(Parts::new(parts).unwrap_or_else(|_| Parts::one(AssistantPart::Text(Text::new("")))))
}

fn thinking(block: ThinkingBlock<'_>) -> Result<AssistantPart, Fault<'_>> {
    let (text, seal, vendor, rest) = match block {
        ThinkingBlock::Thinking { thinking, signature, is_responses_item: true, rest } => {
            (thinking, signature.map(|s| Seal::Encrypted(s.into())), Some(OPENAI), rest)
        }
        // Several vendors sign: the body's model tells whose it is.
        ThinkingBlock::Thinking { thinking, signature, rest, .. } => {
            (thinking, signature.map(|s| Seal::Signature(s.into())), None, rest)
        }
        ThinkingBlock::Redacted { data, rest } => {
            (Cow::Borrowed(""), Some(Seal::Encrypted(data.into())), Some(ANTHROPIC), rest)
        }
        ThinkingBlock::Other(raw) => {
            let owner = VendorName::new(ANTHROPIC);
            return Ok(AssistantPart::Opaque(Opaque { owner, value: Json::from(raw) }));
        }
    };
    let mut own = ObjectText::default();
    own.push_all(&rest);
    Ok(AssistantPart::Thinking(Thinking {
        text: text.into(),
        seal,
        producer: vendor.map(|vendor| Producer { vendor: VendorName::new(vendor), model: None }),
        extra: extra([(vendor.unwrap_or(OPENAI), own)])?,
    }))
}

fn tool_call(
    call: Call<'_>,
    (message_idx, call_idx): (usize, usize),
) -> Result<ToolCall, Fault<'_>> {
    let id = match call.id {
        Some(id) => CallId::new(id)?,
        None => CallId::new(by_place(message_idx, call_idx))?,
    };
    let mut own = ObjectText::default();
    if let Input::Custom(_) = call.input {
        own.push("type", r#""custom""#);
    }
    if let Some(rest) = &call.rest {
        own.push_all(rest);
    }
    let (name, inner) = &call.inner;
    own.push_object(name, inner);
    let mut google = ObjectText::default();
    if let Some((signature, rest)) = &call.signature {
        own.push_object("provider_specific_fields", rest);
        google.push("thoughtSignature", signature.get());
    }
    Ok(ToolCall {
        id,
        name: ToolName::new(call.name),
        arguments: arguments(&call.input),
        extra: extra([(GOOGLE, google), (OPENAI, own)])?,
    })
}

fn arguments(input: &Input<'_>) -> Arguments {
    match input {
        Input::Absent => Arguments::none(),
        Input::Text(text) => match Arguments::from_text(text) {
            Arguments::Object(json) => from_object(json),
            invalid @ Arguments::Invalid(_) => invalid,
        },
        Input::Value(raw) if is_object(raw) => from_object(Json::from(*raw)),
        Input::Value(raw) => Arguments::Invalid(raw.get().into()),
        // These are no arguments for a function, but they are this tool's input.
        Input::Custom(text) if matches!(text.trim(), "" | "null") => {
            Arguments::Invalid(Arc::from(&**text))
        }
        Input::Custom(text) => Arguments::from_text(text),
    }
}
