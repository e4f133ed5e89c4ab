//! From contents to messages.

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, ContentPart, Extra, Json, Message, Parts, Producer,
    Seal, Status, SystemPart, Text, Thinking, ToolCall, ToolName, ToolResult, VendorName,
};
use serde_json::value::RawValue;

use super::calls::Waiting;
use super::extra;
use super::parts::{Call, Form, Part, Response, media_part, read_part};
use crate::arguments;
use crate::error::Fault;
use crate::gemini::GOOGLE;
use crate::raw::{Fields, ObjectText, is_object, list, text};
use crate::{Family, misplaced};

/// Adds the messages of the contents.
pub(super) fn read<'a>(raw: &'a RawValue, messages: &mut Vec<Message>) -> Result<(), Fault<'a>> {
    let mut waiting = Waiting::default();
    let contents = list(raw).map_err(|fault| fault.under("contents"))?;
    for (i, raw) in contents.into_iter().enumerate() {
        let read = content(raw, i, &mut waiting, messages);
        read.map_err(|fault| fault.under(&format!("contents[{i}]")))?;
    }
    Ok(())
}

/// The system text.
pub(super) fn system_message(raw: &RawValue) -> Result<Message, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    system(read_parts(&mut fields)?, &fields)
}

fn system<'a>(parts: Vec<Part<'a>>, rest: &Fields<'a>) -> Result<Message, Fault<'a>> {
    let mut system = Vec::with_capacity(parts.len());
    for part in parts {
        system.push(match part.content()? {
            ContentPart::Text(text) => SystemPart::Text(text),
            ContentPart::Image(_) | ContentPart::File(_) | ContentPart::Opaque(_) => {
                SystemPart::Opaque(part.opaque())
            }
        });
    }
    let parts = Parts::new(system);
    let body = Body::System(parts.unwrap_or_else(|_| Parts::one(SystemPart::Text(Text::new("")))));
    Ok(Message { extra: rest_of(rest)?, ..Message::from(body) })
}

fn content<'a>(
    raw: &'a RawValue,
    content_idx: usize,
    waiting: &mut Waiting,
    messages: &mut Vec<Message>,
) -> Result<(), Fault<'a>> {
    let mut fields = Fields::read(raw)?;
    let role_at = fields.peek("role").unwrap_or(raw);
    let role = fields.take_text("role")?;
    let has_parts = fields.peek("parts").is_some();
    let parts = read_parts(&mut fields)?;
    misplaced::message(Family::Gemini, &fields, has_parts)?;
    let start = messages.len();
    match role.as_deref().unwrap_or("user") {
        // Older clients answer in roles of their own.
        "user" | "function" | "tool" => user(parts, content_idx, waiting, messages)?,
        "model" | "assistant" => model(parts, content_idx, waiting, messages)?,
        // No API takes it, but what it says is plain.
        "system" | "developer" => messages.push(system(parts, &fields)?),
        other => {
            let rule = format!("unknown role {other:?}: it must be user or model");
            return Err(Fault::form(role_at, rule).under("role"));
        }
    }
    if let Some(first) = messages.get_mut(start) {
        first.extra = joined(&first.extra, &fields)?;
    }
    Ok(())
}

fn read_parts<'a>(fields: &mut Fields<'a>) -> Result<Vec<Part<'a>>, Fault<'a>> {
    let read = |(i, raw)| read_part(raw).map_err(|fault| fault.under(&format!("parts[{i}]")));
    fields.take_list("parts")?.into_iter().enumerate().map(read).collect()
}

/// The results, then the rest.
fn user<'a>(
    parts: Vec<Part<'a>>,
    content_idx: usize,
    waiting: &mut Waiting,
    messages: &mut Vec<Message>,
) -> Result<(), Fault<'a>> {
    let responses = parts.iter().enumerate().filter_map(|(i, part)| match &part.form {
        Form::Response(response) => Some((i, part, response)),
        _ => None,
    });
    let responses: Vec<_> = responses.collect();
    let answers = responses.iter().map(|(i, _, response)| response.answer((content_idx, *i)));
    let calls = waiting.answer(&answers.collect::<Vec<_>>())?;
    for ((i, part, response), call) in responses.iter().zip(calls) {
        messages.push(result(part, response, call, *i)?);
    }
    let said = parts.iter().filter(|part| !matches!(part.form, Form::Response(_)));
    let said = said.map(Part::content).collect::<Result<Vec<_>, _>>()?;
    match Parts::new(said) {
        Ok(said) => messages.push(Body::User(said).into()),
        Err(_) if responses.is_empty() => messages.push(Message::user("")),
        Err(_) => {}
    }
    Ok(())
}

/// A result in the model's turn is no history that a model makes; it is read where it
/// stands.
fn model<'a>(
    parts: Vec<Part<'a>>,
    content_idx: usize,
    waiting: &mut Waiting,
    messages: &mut Vec<Message>,
) -> Result<(), Fault<'a>> {
    let mut said = Vec::new();
    let n_before = messages.len();
    for (i, part) in parts.iter().enumerate() {
        let place = (content_idx, i);
        match &part.form {
            Form::Response(response) => {
                if let Ok(parts) = Parts::new(std::mem::take(&mut said)) {
                    messages.push(Body::Assistant(parts).into());
                }
                for call in waiting.answer(&[response.answer(place)])? {
                    messages.push(result(part, response, call, i)?);
                }
            }
            Form::Call(call) => {
                let call = tool_call(part, call, waiting, place);
                said.push(AssistantPart::Call(
                    call.map_err(|fault| fault.under(&format!("parts[{i}].functionCall")))?,
                ));
            }
            _ => said.push(assistant_part(part)?),
        }
    }
    match Parts::new(said) {
        Ok(said) => messages.push(Body::Assistant(said).into()),
        Err(_) if messages.len() == n_before => messages.push(Message::assistant("")),
        Err(_) => {}
    }
    Ok(())
}

fn assistant_part<'a>(part: &Part<'a>) -> Result<AssistantPart, Fault<'a>> {
    Ok(match &part.form {
        Form::Text(said) if said.is_empty() && part.signature.is_some() => {
            AssistantPart::Opaque(part.opaque())
        }
        Form::Text(said) => {
            AssistantPart::Text(Text { text: said.as_ref().into(), extra: part.extra(None)? })
        }
        Form::Thought(thought) => AssistantPart::Thinking(thinking(part, thought)?),
        Form::Media(media) => match media_part(part, media)? {
            ContentPart::Text(text) => AssistantPart::Text(text),
            ContentPart::Image(image) => AssistantPart::Image(image),
            ContentPart::File(file) => AssistantPart::File(file),
            ContentPart::Opaque(opaque) => AssistantPart::Opaque(opaque),
        },
        Form::Call(_) | Form::Response(_) | Form::Other => AssistantPart::Opaque(part.opaque()),
    })
}

fn thinking<'a>(part: &Part<'a>, thought: &str) -> Result<Thinking, Fault<'a>> {
    let seal = match part.signature {
        Some(raw) => {
            let signature = text(raw).map_err(|fault| fault.under("thoughtSignature"))?;
            Some(Seal::Signature(signature.into()))
        }
        None => None,
    };
    let mut own = ObjectText::default();
    own.push_all(&part.rest);
    Ok(Thinking {
        text: thought.into(),
        seal,
        producer: Some(Producer { vendor: VendorName::new(GOOGLE), model: None }),
        extra: extra(own)?,
    })
}

fn tool_call<'a>(
    part: &Part<'a>,
    call: &Call<'a>,
    waiting: &mut Waiting,
    place: (usize, usize),
) -> Result<ToolCall, Fault<'a>> {
    let Some(name) = &call.name else {
        return Err(call.rest.incomplete("a call needs `name`, the tool that it wants to run"));
    };
    let arguments = match call.args {
        None => Arguments::none(),
        Some(raw) if is_object(raw) => arguments::from_object(Json::from(raw)),
        Some(raw) => Arguments::Invalid(raw.get().into()),
    };
    Ok(ToolCall {
        id: waiting.call(call.id.as_deref(), name, place)?,
        name: ToolName::new(name),
        arguments,
        extra: part.extra(Some(("functionCall", &call.rest)))?,
    })
}

fn result<'a>(
    part: &Part<'a>,
    response: &Response<'a>,
    call: CallId,
    part_idx: usize,
) -> Result<Message, Fault<'a>> {
    let Said { status, text, form } = said(response.response)?;
    let mut parts = vec![ContentPart::Text(Text::new(text))];
    for (i, raw) in response.parts.iter().enumerate() {
        let inner = read_part(raw).and_then(|inner| Ok(inner.content()?));
        let place = format!("parts[{part_idx}].functionResponse.parts[{i}]");
        parts.push(inner.map_err(|fault| fault.under(&place))?);
    }
    // A result of pictures alone has no text of its own.
    if parts.len() > 1 && parts[0].as_text().is_some_and(|text| text.text.is_empty()) {
        parts.remove(0);
    }
    let mut inner = ObjectText::default();
    if let Some(form) = form {
        inner.push("response", form);
    }
    inner.push_all(&response.rest);
    let mut own = ObjectText::default();
    if let Some(beside) = part.beside().into_json()? {
        own.push("part", beside.as_str());
    }
    if let Some(inner) = inner.into_json()? {
        own.push("functionResponse", inner.as_str());
    }
    let name = Some(ToolName::new(&response.name)).filter(|name| !name.as_str().is_empty());
    let body = Body::Tool(ToolResult { call, name, status, parts: Parts::new(parts)? });
    Ok(Message { extra: extra(own)?, ..Message::from(body) })
}

struct Said {
    status: Status,
    text: String,
    /// How it was said, if not by the convention; JSON.
    form: Option<&'static str>,
}

/// The text is the JSON of the object that was sent.
const OBJECT: &str = r#""object""#;
/// The text was the `result`, which many clients write for `output`.
const RESULT: &str = r#""result""#;

/// What a tool said. `output` and `error` are the API's convention.
fn said(response: Option<&RawValue>) -> Result<Said, Fault<'_>> {
    let Some(raw) = response else {
        return Ok(Said { status: Status::Ok, text: String::new(), form: None });
    };
    if is_object(raw) {
        let fields = Fields::read(raw).map_err(|fault| fault.under("response"))?;
        let mut names = fields.iter();
        if let (Some((name, value)), None) = (names.next(), names.next())
            && let Some((status, form)) = meaning_of(name)
            && let Ok(said) = text(value)
        {
            return Ok(Said { status, text: said.into_owned(), form });
        }
    }
    let text = match text(raw) {
        Ok(text) => text.into_owned(),
        Err(_) => raw.get().to_owned(),
    };
    Ok(Said { status: Status::Ok, text, form: is_object(raw).then_some(OBJECT) })
}

fn meaning_of(name: &str) -> Option<(Status, Option<&'static str>)> {
    match name {
        "output" => Some((Status::Ok, None)),
        "result" => Some((Status::Ok, Some(RESULT))),
        "error" => Some((Status::Error, None)),
        _ => None,
    }
}

/// What is left of a content, for the message it became.
fn rest_of<'a>(rest: &Fields<'a>) -> Result<Extra, Fault<'a>> {
    let mut own = ObjectText::default();
    own.push_all(rest);
    Ok(extra(own)?)
}

/// The extra of a message with what is left of its content in front.
fn joined<'a>(before: &Extra, rest: &Fields<'a>) -> Result<Extra, Fault<'a>> {
    if rest.iter().next().is_none() {
        return Ok(before.clone());
    }
    let mut own = ObjectText::default();
    own.push_all(rest);
    if let Some(json) = before.get(GOOGLE)
        && let Ok(fields) = Fields::read(json.as_raw())
    {
        own.push_all(&fields);
    }
    Ok(extra(own)?)
}
