//! The fields of a body beside its items.

use interleaf_model::Json;
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::error::Fault;
use crate::openai_chat::{read_format, read_schema};
use crate::openai_responses::SETTINGS;
use crate::raw::{Fields, ObjectText, is_object, text};
use crate::{
    Effort, Family, Number, Options, OwnFields, ResponseFormat, ThinkingAmount, ThinkingMode,
    Thoughts, foreign_choice, setting_type,
};

/// All else; what has no neutral word stays as it is.
pub(super) fn read(mut body: Fields<'_>) -> Result<Options, Fault<'_>> {
    setting_type::refuse(&SETTINGS, |name| body.peek(name))?;
    let model = body.take_text("model")?.map(SmolStr::new).unwrap_or_default();
    let mut max_tokens = None;
    // The first is the API's own; it refuses the others, which mean the same.
    for name in ["max_output_tokens", "max_completion_tokens", "max_tokens"] {
        if max_tokens.is_none() {
            max_tokens = body.take(name).and_then(setting_type::count);
        }
    }
    let stream = body.take_flag("stream")?.unwrap_or_default();
    let parallel_tool_calls = body.take_flag("parallel_tool_calls")?;
    let choice = body.peek("tool_choice").and_then(foreign_choice::read);
    if choice.is_some() {
        body.take("tool_choice");
    }
    let (tool_choice, parallel) = choice.map_or((None, None), |(choice, own)| (Some(choice), own));
    let parallel_tool_calls = parallel_tool_calls.or(parallel);
    let temperature = body.take("temperature").map(Json::from).map(Number::from_json);
    let top_p = body.take("top_p").map(Json::from).map(Number::from_json);
    let cache_key = body.take_text("prompt_cache_key")?.map(SmolStr::new);
    let mut response_format = take_chat_format(&mut body);
    let mut thinking = None;
    let mut rest = OwnFields::of(Family::OpenaiResponses);
    for (name, value) in body.iter() {
        if name == "text" && is_object(value) {
            let (format, others) = text_settings(value).map_err(|fault| fault.under("text"))?;
            response_format = format.or(response_format);
            if let Some(others) = others {
                rest.set(name, others);
            }
        } else if name == "reasoning"
            && let Ok(mut own) = Fields::read(value)
        {
            thinking = read_reasoning(&mut own);
            let mut left = ObjectText::default();
            left.push_all(&own);
            if let Some(left) = left.into_json()? {
                rest.set(name, left);
            }
        } else {
            rest.set(name, Json::from(value));
        }
    }
    Ok(Options {
        model,
        max_tokens,
        temperature,
        top_p,
        stream,
        tool_choice,
        parallel_tool_calls,
        thinking,
        response_format,
        rest,
        cache_key,
        ..Options::default()
    })
}

/// The form of the answer as the other API says it, if it says no more than we know.
fn take_chat_format(body: &mut Fields<'_>) -> Option<ResponseFormat> {
    let (format, outer, inner) = read_format(body.peek("response_format")?)?;
    let is_all = inner.is_none_or(|inner| inner.iter().next().is_none());
    if !is_all || outer.iter().next().is_some() {
        return None;
    }
    body.take("response_format");
    Some(format)
}

/// How hard the model is to think, and whether it tells what it thought.
fn read_reasoning(own: &mut Fields<'_>) -> Option<ThinkingMode> {
    let mut mode = ThinkingMode::default();
    let word = |name| own.peek(name).and_then(|raw| text(raw).ok());
    let (effort, summary) = (word("effort"), word("summary"));
    match effort.as_deref() {
        Some("none") => mode.amount = Some(ThinkingAmount::Off),
        Some(effort) => mode.effort = Effort::named(effort),
        None => {}
    }
    if mode.is_off() || mode.effort.is_some() {
        own.take("effort");
    }
    match summary.as_deref() {
        Some("auto") => {
            mode.thoughts = Some(Thoughts::Shown);
            own.take("summary");
        }
        // How long the summary is has no neutral word.
        Some("concise" | "detailed") => mode.thoughts = Some(Thoughts::Shown),
        Some(_) | None => {}
    }
    mode.said()
}

/// The form of the answer, and what else is said of its text.
fn text_settings(raw: &RawValue) -> Result<(Option<ResponseFormat>, Option<Json>), Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    let mut others = ObjectText::default();
    let read = fields.peek("format").and_then(response_format);
    let format = read.map(|(format, left)| {
        fields.take("format");
        (format, left)
    });
    others.push_all(&fields);
    let format = format.map(|(format, left)| {
        others.push_object("format", &left);
        format
    });
    Ok((format, others.into_json()?))
}

fn response_format(raw: &RawValue) -> Option<(ResponseFormat, Fields<'_>)> {
    let mut fields = Fields::read(raw).ok()?;
    if fields.peek("json_schema").is_some() {
        // Some write it as the other API has it.
        let (format, _, inner) = read_format(raw)?;
        return Some((format, inner?));
    }
    match &*fields.take_text("type").ok()?? {
        "text" => Some((ResponseFormat::Text, fields)),
        "json_object" => Some((ResponseFormat::Json, fields)),
        "json_schema" => {
            let schema = read_schema(&mut fields)?;
            Some((ResponseFormat::Schema(schema), fields))
        }
        _ => None,
    }
}
