//! What a body holds beside its messages.

use interleaf_model::Json;
use serde_json::value::RawValue;
use smol_str::SmolStr;

use super::read_messages;
use super::tools::read_tools;
use crate::error::Fault;
use crate::raw::{Fields, is_text, list, text, wrong_type};
use crate::{
    Family, Number, Options, OwnFields, Request, ResponseFormat, ThinkingMode, ToolChoice,
};

pub(super) fn read(whole: &RawValue) -> Result<Request, Fault<'_>> {
    let mut fields = Fields::of_body(whole, "messages")?;
    let Some(messages) = fields.take("messages") else {
        return Err(fields.incomplete("a request needs `messages`"));
    };
    let messages = read_messages(messages)?;
    // Recorded conversations keep the settings apart.
    fields.inline("params")?;
    let (tools, hosted_tools) = read_tools(&mut fields)?;
    let options = Options { hosted_tools, ..read_options(&mut fields)? };
    Ok(Request { messages, tools, options })
}

fn read_options<'a>(fields: &mut Fields<'a>) -> Result<Options, Fault<'a>> {
    let max_tokens = take_whole(fields, "max_tokens")?;
    let completion_tokens = take_whole(fields, "max_completion_tokens")?;
    let mut options = Options {
        model: fields.take_text("model")?.map(SmolStr::new).unwrap_or_default(),
        max_tokens: completion_tokens.or(max_tokens),
        temperature: fields.take("temperature").map(Json::from).map(Number::from_json),
        top_p: fields.take("top_p").map(Json::from).map(Number::from_json),
        top_k: fields.take("top_k").map(Json::from).map(Number::from_json),
        stop: take_stop(fields)?,
        stream: fields.take_flag("stream")?.unwrap_or_default(),
        tool_choice: take_tool_choice(fields)?,
        parallel_tool_calls: fields.take_flag("parallel_tool_calls")?,
        thinking: fields.take("thinking").map(Json::from).map(ThinkingMode::from_json),
        response_format: fields
            .take("response_format")
            .map(Json::from)
            .map(ResponseFormat::from_json),
        cache_key: fields.take_text("prompt_cache_key")?.map(SmolStr::new),
        rest: OwnFields::of(Family::OpenaiChat),
        ..Options::default()
    };
    for (name, value) in fields.iter() {
        options.rest.set(name, Json::from(value));
    }
    Ok(options)
}

/// A number of tokens. Some clients write `100.0`.
fn take_whole<'a>(fields: &mut Fields<'a>, name: &str) -> Result<Option<u64>, Fault<'a>> {
    let Some(raw) = fields.take(name) else {
        return Ok(None);
    };
    let digits = raw.get().strip_suffix(".0").unwrap_or(raw.get());
    let number = digits.parse::<u64>();
    number.map(Some).map_err(|_| Fault::form(raw, "must be a whole number").under(name))
}

fn take_stop<'a>(fields: &mut Fields<'a>) -> Result<Vec<String>, Fault<'a>> {
    let Some(raw) = fields.take("stop") else {
        return Ok(Vec::new());
    };
    if is_text(raw) {
        return text(raw).map(|stop| vec![stop.into_owned()]).map_err(|fault| fault.under("stop"));
    }
    let stops = list(raw).map_err(|_| wrong_type(raw, "a string or a list").under("stop"))?;
    let read = |(i, raw)| match text(raw) {
        Ok(stop) => Ok(stop.into_owned()),
        Err(fault) => Err(fault.under(&format!("stop[{i}]"))),
    };
    stops.into_iter().enumerate().map(read).collect()
}

/// What has no neutral word (a custom tool, a list of allowed ones) stays where it is.
fn take_tool_choice<'a>(fields: &mut Fields<'a>) -> Result<Option<ToolChoice>, Fault<'a>> {
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

fn read_tool_choice(raw: &RawValue) -> Result<Option<ToolChoice>, Fault<'_>> {
    if is_text(raw) {
        return Ok(match &*text(raw)? {
            "auto" => Some(ToolChoice::Auto),
            "none" => Some(ToolChoice::None),
            "required" | "any" => Some(ToolChoice::Required),
            _ => None,
        });
    }
    let mut choice = Fields::read(raw)?;
    // The deprecated form has the name itself.
    let name = match choice.take_object("function")? {
        Some(mut function) => function.take_text("name")?,
        None if choice.peek("type").is_none() => choice.take_text("name")?,
        None => None,
    };
    Ok(name.map(|name| ToolChoice::Tool(SmolStr::new(name))))
}
