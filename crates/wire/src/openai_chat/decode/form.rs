//! The JSON of chat messages as it is read: what stands in which field.

mod parts;

use std::borrow::Cow;

use serde_json::value::RawValue;

use interleaf_model::Timestamp;

use self::parts::read_content;
use crate::error::Fault;
use crate::openai_chat::called::{Called, says_nothing};
use crate::raw::{Fields, is_object, is_text, text, wrong_type};
use crate::{Family, misplaced};

pub(super) use self::parts::{Content, FileSource, Part, PartForm};

/// One element of `messages`.
pub(super) struct Message<'a> {
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) at: Option<Timestamp>,
    pub(super) speaker: Speaker<'a>,
    pub(super) content: Content<'a>,
    /// The fields without a meaning here.
    pub(super) rest: Fields<'a>,
}

/// The role, with the fields that only this role has.
pub(super) enum Speaker<'a> {
    System,
    Developer,
    User,
    Assistant(Box<Turn<'a>>),
    Tool { call_id: Named<'a>, name: Option<Cow<'a, str>>, is_error: bool },
    Function { name: Cow<'a, str> },
}

/// The call that a result names, if it names one, and where it does.
pub(super) struct Named<'a> {
    pub(super) at: Option<&'a RawValue>,
    pub(super) id: Option<Cow<'a, str>>,
}

/// What an assistant message has beside its content.
pub(super) struct Turn<'a> {
    pub(super) thinking_blocks: Vec<ThinkingBlock<'a>>,
    pub(super) reasoning: Option<Cow<'a, str>>,
    pub(super) refusal: Option<&'a RawValue>,
    pub(super) tool_calls: Vec<Call<'a>>,
    /// The one call of the deprecated form.
    pub(super) function_call: Option<Call<'a>>,
}

/// One element of `thinking_blocks`.
pub(super) enum ThinkingBlock<'a> {
    Thinking {
        thinking: Cow<'a, str>,
        signature: Option<Cow<'a, str>>,
        /// Whether `id`, left in `rest`, is one of the Responses API.
        is_responses_item: bool,
        rest: Fields<'a>,
    },
    Redacted {
        data: Cow<'a, str>,
        rest: Fields<'a>,
    },
    Other(&'a RawValue),
}

/// One element of `tool_calls`, or a `function_call`.
pub(super) struct Call<'a> {
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Cow<'a, str>,
    pub(super) input: Input<'a>,
    /// `thought_signature`, and what is left of the object around it.
    pub(super) signature: Option<(&'a RawValue, Fields<'a>)>,
    /// The name of the object inside the call, and what is left of it.
    pub(super) inner: (&'static str, Fields<'a>),
    pub(super) rest: Option<Fields<'a>>,
}

/// What a tool is called with.
pub(super) enum Input<'a> {
    Absent,
    /// `arguments` as the API has it: JSON inside a string.
    Text(Cow<'a, str>),
    /// `arguments` as some servers have it: the value itself.
    Value(&'a RawValue),
    /// Free text for a custom tool.
    Custom(Cow<'a, str>),
}

const TIME_FIELDS: [&str; 3] = ["timestamp", "at", "created_at"];
const RESPONSES_ITEM_PREFIX: &str = "rs_";
const PROVIDER_FIELDS: &str = "provider_specific_fields";

pub(super) fn read_message(raw: &RawValue) -> Result<Message<'_>, Fault<'_>> {
    let mut rest = Fields::read(raw)?;
    let speaker = read_speaker(&mut rest)?;
    let has_content = rest.peek("content").is_some();
    let content = read_content(&mut rest)?;
    misplaced::message(Family::OpenaiChat, &rest, has_content)?;
    let id = match rest.peek("id") {
        Some(id) if is_text(id) => rest.take_text("id")?,
        _ => None,
    };
    let at = TIME_FIELDS.into_iter().find_map(|name| {
        let at = read_instant(rest.peek(name)?)?;
        rest.take(name);
        Some(at)
    });
    Ok(Message { id, at, speaker, content, rest })
}

fn read_speaker<'a>(fields: &mut Fields<'a>) -> Result<Speaker<'a>, Fault<'a>> {
    let Some(raw) = fields.take("role") else {
        return Err(fields.incomplete("a message needs `role`"));
    };
    let role = text(raw).map_err(|fault| fault.under("role"))?;
    Ok(match &*role {
        "system" => Speaker::System,
        "developer" => Speaker::Developer,
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant(Box::new(read_turn(fields)?)),
        "tool" => Speaker::Tool {
            call_id: Named {
                at: fields.peek("tool_call_id"),
                id: fields.take_text("tool_call_id")?,
            },
            name: fields.take_text("name")?,
            is_error: fields.take_flag("is_error")?.unwrap_or_default(),
        },
        "function" => Speaker::Function {
            name: fields.take_text("name")?.ok_or_else(|| {
                fields
                    .incomplete("a function message needs `name`, the function that it answers for")
            })?,
        },
        _ => {
            let rule = format!(
                "unknown role {role:?}: it must be system, developer, user, assistant, tool or function"
            );
            return Err(Fault::form(raw, rule).under("role"));
        }
    })
}

fn read_turn<'a>(fields: &mut Fields<'a>) -> Result<Turn<'a>, Fault<'a>> {
    let thinking_blocks =
        read_each(fields.take_list("thinking_blocks")?, "thinking_blocks", read_thinking_block)?;
    // Servers that send both repeat the blocks' text here.
    let reasoning = if thinking_blocks.is_empty() { read_reasoning(fields)? } else { None };
    let refusal = match fields.peek("refusal") {
        Some(refusal) if !is_text(refusal) => {
            return Err(wrong_type(refusal, "a string").under("refusal"));
        }
        _ => fields.take("refusal"),
    };
    let tool_calls = read_each(fields.take_list("tool_calls")?, "tool_calls", read_call)?;
    let is_empty = fields.peek("function_call").is_some_and(says_nothing);
    let function_call = match fields.take_object("function_call")? {
        Some(mut function) if !is_empty => {
            let (name, input) = read_function(&mut function)?;
            let inner = ("function", function);
            Some(Call { id: None, name, input, signature: None, inner, rest: None })
        }
        Some(_) | None => None,
    };
    Ok(Turn { thinking_blocks, reasoning, refusal, tool_calls, function_call })
}

fn read_reasoning<'a>(fields: &mut Fields<'a>) -> Result<Option<Cow<'a, str>>, Fault<'a>> {
    for name in ["reasoning_content", "reasoning"] {
        match fields.peek(name) {
            Some(raw) if is_text(raw) && raw.get() != r#""""# => return fields.take_text(name),
            _ => {}
        }
    }
    Ok(None)
}

fn read_thinking_block(raw: &RawValue) -> Result<ThinkingBlock<'_>, Fault<'_>> {
    let mut rest = Fields::read(raw)?;
    let kind = rest.take_text("type")?;
    Ok(match kind.as_deref() {
        Some("thinking") => {
            let thinking = rest.take_text("thinking")?.unwrap_or_default();
            let signature = rest.take_text("signature")?.filter(|signature| !signature.is_empty());
            let id = match rest.peek("id") {
                Some(id) if is_text(id) => text(id).map_err(|fault| fault.under("id"))?,
                _ => Cow::Borrowed(""),
            };
            let is_responses_item = id.starts_with(RESPONSES_ITEM_PREFIX);
            ThinkingBlock::Thinking { thinking, signature, is_responses_item, rest }
        }
        Some("redacted_thinking") => {
            let data = rest.take_text("data")?;
            let data = data.ok_or_else(|| rest.incomplete("redacted thinking needs `data`"))?;
            ThinkingBlock::Redacted { data, rest }
        }
        _ => ThinkingBlock::Other(raw),
    })
}

fn read_call(raw: &RawValue) -> Result<Call<'_>, Fault<'_>> {
    let mut rest = Fields::read(raw)?;
    let id = rest.take_text("id")?.filter(|id| !is_blank(id));
    let called = Called::of(&mut rest);
    let Some(mut inner) = rest.take_object(called.place())? else {
        return Err(rest.incomplete("a call needs `function` or `custom`, what it wants to run"));
    };
    let (name, input) = match called {
        Called::Function => {
            // Any other type is kept, so that it can be given back.
            if rest.peek("type").is_some_and(|kind| kind.get() == r#""function""#) {
                rest.take("type");
            }
            read_function(&mut inner)?
        }
        Called::Custom => {
            rest.take("type");
            let name = read_name(&mut inner)?;
            (name, Input::Custom(inner.take_text("input")?.unwrap_or_default()))
        }
    };
    let inner = (called.place(), inner);
    let signature = read_signature(&mut rest)?;
    Ok(Call { id, name, input, signature, inner, rest: Some(rest) })
}

fn read_function<'a>(function: &mut Fields<'a>) -> Result<(Cow<'a, str>, Input<'a>), Fault<'a>> {
    let name = read_name(function)?;
    let input = match function.peek("arguments") {
        None => Input::Absent,
        Some(raw) if is_text(raw) => {
            Input::Text(function.take_text("arguments")?.unwrap_or_default())
        }
        Some(raw) => Input::Value(raw),
    };
    function.take("arguments");
    Ok((name, input))
}

fn read_name<'a>(fields: &mut Fields<'a>) -> Result<Cow<'a, str>, Fault<'a>> {
    let name = fields.take_text("name")?;
    name.ok_or_else(|| fields.incomplete("a call needs `name`, the tool that it wants to run"))
}

fn read_signature<'a>(
    call: &mut Fields<'a>,
) -> Result<Option<(&'a RawValue, Fields<'a>)>, Fault<'a>> {
    let Some(raw) = call.peek(PROVIDER_FIELDS).filter(|raw| is_object(raw)) else {
        return Ok(None);
    };
    let mut fields = Fields::read(raw).map_err(|fault| fault.under(PROVIDER_FIELDS))?;
    let Some(signature) = fields.take("thought_signature") else {
        return Ok(None);
    };
    call.take(PROVIDER_FIELDS);
    Ok(Some((signature, fields)))
}

/// Reads a list that stands under `name`.
fn read_each<'a, T>(
    list: Vec<&'a RawValue>,
    name: &str,
    read: fn(&'a RawValue) -> Result<T, Fault<'a>>,
) -> Result<Vec<T>, Fault<'a>> {
    let read = |(i, raw)| read(raw).map_err(|fault| fault.under(&format!("{name}[{i}]")));
    list.into_iter().enumerate().map(read).collect()
}

/// RFC 3339, or a number of seconds since 1970.
fn read_instant(raw: &RawValue) -> Option<Timestamp> {
    if is_text(raw) {
        return text(raw).ok()?.parse().ok();
    }
    let microseconds = match raw.get().parse::<i64>() {
        Ok(seconds) => seconds.checked_mul(1_000_000)?,
        // A float is exact to the microsecond for instants of this millennium; what
        // lies beyond saturates, and no instant is as large as that.
        Err(_) => (serde_json::from_str::<f64>(raw.get()).ok()? * 1e6).round() as i64,
    };
    Timestamp::from_microseconds(microseconds).ok()
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
