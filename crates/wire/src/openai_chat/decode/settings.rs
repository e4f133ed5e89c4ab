//! What a body holds beside its messages.

use std::borrow::Cow;

use interleaf_model::Json;
use serde_json::value::RawValue;
use smol_str::SmolStr;

use super::read_messages;
use super::tools::read_tools;
use crate::anthropic::thinking;
use crate::error::Fault;
use crate::openai_chat::SETTINGS;
use crate::raw::{Fields, ObjectText, is_object, is_text, list, text};
use crate::thinking::name_maker;
use crate::{
    AnswerSchema, Effort, Family, Number, Options, OwnFields, Request, ResponseFormat,
    ThinkingAmount, ThinkingMode, ToolChoice, foreign_choice, setting_type,
};

pub(super) fn read(whole: &RawValue) -> Result<Request, Fault<'_>> {
    let mut fields = Fields::of_body(whole, "messages")?;
    let Some(messages) = fields.take("messages") else {
        return Err(fields.incomplete("a request needs `messages`"));
    };
    let mut messages = read_messages(messages)?;
    // Recorded conversations keep the settings apart.
    fields.inline("params")?;
    let (tools, hosted_tools) = read_tools(&mut fields)?;
    let options = Options { hosted_tools, ..read_options(&mut fields)? };
    name_maker(&mut messages, &options.model);
    Ok(Request { messages, tools, options })
}

fn read_options<'a>(fields: &mut Fields<'a>) -> Result<Options, Fault<'a>> {
    setting_type::refuse(&SETTINGS, |name| fields.peek(name))?;
    let max_tokens = fields.take("max_tokens").and_then(setting_type::count);
    let completion_tokens = fields.take("max_completion_tokens").and_then(setting_type::count);
    let mut options = Options {
        model: fields.take_text("model")?.map(SmolStr::new).unwrap_or_default(),
        max_tokens: completion_tokens.or(max_tokens),
        temperature: fields.take("temperature").map(Json::from).map(Number::from_json),
        top_p: fields.take("top_p").map(Json::from).map(Number::from_json),
        top_k: fields.take("top_k").map(Json::from).map(Number::from_json),
        stop: take_stop(fields)?,
        stream: fields.take_flag("stream")?.unwrap_or_default(),
        parallel_tool_calls: fields.take_flag("parallel_tool_calls")?,
        cache_key: fields.take_text("prompt_cache_key")?.map(SmolStr::new),
        rest: OwnFields::of(Family::OpenaiChat),
        ..Options::default()
    };
    if let Some((choice, parallel)) = take_tool_choice(fields)? {
        options.tool_choice = Some(choice);
        options.parallel_tool_calls = options.parallel_tool_calls.or(parallel);
    }
    // What is asked for with every stream.
    if options.stream && fields.peek("stream_options").is_some_and(asks_for_usage) {
        fields.take("stream_options");
    }
    let (thinking, thinking_left) = take_thinking(fields);
    let (format, format_left) = take_format(fields);
    (options.thinking, options.response_format) = (thinking, format);
    for (name, value) in fields.iter() {
        options.rest.set(name, Json::from(value));
    }
    for (name, left) in [("thinking", thinking_left), ("response_format", format_left)] {
        if let Some(left) = left.into_json()? {
            options.rest.set(name, left);
        }
    }
    Ok(options)
}

fn asks_for_usage(raw: &RawValue) -> bool {
    let mut fields = Fields::read(raw).ok();
    let fields = fields.as_mut();
    fields.is_some_and(|fields| {
        fields.take_flag("include_usage").is_ok_and(|is_set| is_set == Some(true))
            && fields.iter().next().is_none()
    })
}

/// The effort, and the switches that some vendors have; and what is left of a switch.
fn take_thinking(fields: &mut Fields<'_>) -> (Option<ThinkingMode>, ObjectText) {
    let (mut mode, mut left) = (ThinkingMode::default(), ObjectText::default());
    let switch = fields.peek("thinking").and_then(|raw| Fields::read(raw).ok());
    if let Some(mut switch) = switch {
        let is_known = |kind: &RawValue| matches!(kind.get(), r#""enabled""# | r#""disabled""#);
        if switch.peek("type").is_some_and(is_known) {
            mode = thinking::read(&mut switch);
        }
        if mode.amount.is_some() {
            fields.take("thinking");
            left.push_all(&switch);
        }
    }
    if mode.amount.is_none() {
        mode.amount = match fields.peek("enable_thinking").map(RawValue::get) {
            Some("true") => Some(ThinkingAmount::Free),
            Some("false") => Some(ThinkingAmount::Off),
            _ => None,
        };
        if mode.amount.is_some() {
            fields.take("enable_thinking");
        }
    }
    let word = fields.peek("reasoning_effort").and_then(|raw| text(raw).ok());
    match word.as_deref() {
        Some("none") if mode.amount.is_none() => mode.amount = Some(ThinkingAmount::Off),
        Some(word) => mode.effort = Effort::named(word),
        None => {}
    }
    if word.as_deref() == Some("none") && mode.is_off() || mode.effort.is_some() {
        fields.take("reasoning_effort");
    }
    (mode.said(), left)
}

/// The form of the answer, and what it holds beside what has a neutral word.
fn take_format(fields: &mut Fields<'_>) -> (Option<ResponseFormat>, ObjectText) {
    let mut left = ObjectText::default();
    let read = fields.peek("response_format").and_then(read_format);
    let Some((format, outer, inner)) = read else { return (None, left) };
    fields.take("response_format");
    left.push_all(&outer);
    if let Some(inner) = inner {
        left.push_object("json_schema", &inner);
    }
    (Some(format), left)
}

/// The form of the answer, and what is left of it and of its schema.
pub(crate) fn read_format(
    raw: &RawValue,
) -> Option<(ResponseFormat, Fields<'_>, Option<Fields<'_>>)> {
    let mut outer = Fields::read(raw).ok()?;
    match &*outer.take_text("type").ok()?? {
        "text" => Some((ResponseFormat::Text, outer, None)),
        "json_object" => Some((ResponseFormat::Json, outer, None)),
        "json_schema" => {
            let mut inner = outer.take_object("json_schema").ok()??;
            let schema = read_schema(&mut inner)?;
            Some((ResponseFormat::Schema(schema), outer, Some(inner)))
        }
        _ => None,
    }
}

/// A schema with its name, in the words of both of OpenAI's APIs.
pub(crate) fn read_schema(fields: &mut Fields<'_>) -> Option<AnswerSchema> {
    let schema = fields.take("schema").filter(|schema| is_object(schema))?;
    let mut asked = AnswerSchema::new(Json::from(schema));
    asked.name = fields.take_text("name").ok()?.map(SmolStr::new);
    asked.description = fields.take_text("description").ok()?.map(Cow::into_owned);
    asked.strict = fields.take_flag("strict").ok()?;
    Some(asked)
}

fn take_stop<'a>(fields: &mut Fields<'a>) -> Result<Vec<String>, Fault<'a>> {
    let Some(raw) = fields.take("stop") else {
        return Ok(Vec::new());
    };
    let stops = if is_text(raw) { Ok(vec![raw]) } else { list(raw) };
    let read = |raw| text(raw).map(Cow::into_owned);
    let stops = stops.and_then(|stops| stops.into_iter().map(read).collect());
    stops.map_err(|fault| fault.under("stop"))
}

/// What has no neutral word (a custom tool, a list of allowed ones) stays where it is.
fn take_tool_choice<'a>(
    fields: &mut Fields<'a>,
) -> Result<Option<(ToolChoice, Option<bool>)>, Fault<'a>> {
    for name in ["tool_choice", "function_call"] {
        let Some(raw) = fields.peek(name) else {
            continue;
        };
        let choice = read_tool_choice(raw).map_err(|fault| fault.under(name))?;
        if choice.is_some() {
            fields.take(name);
            return Ok(choice);
        }
    }
    Ok(None)
}

fn read_tool_choice(raw: &RawValue) -> Result<Option<(ToolChoice, Option<bool>)>, Fault<'_>> {
    let known = foreign_choice::read(raw);
    if known.is_some() || is_text(raw) {
        return Ok(known);
    }
    let mut choice = Fields::read(raw)?;
    // The deprecated form has the name itself.
    let name = match choice.take_object("function")? {
        Some(mut function) => function.take_text("name")?,
        None if choice.peek("type").is_none() => choice.take_text("name")?,
        None => None,
    };
    Ok(name.map(|name| (ToolChoice::Tool(SmolStr::new(name)), None)))
}
