//! From `toolConfig` and `generationConfig` to neutral settings.
//!
//! A setting that has a neutral word but says more than that is read, and stays among
//! the rest as well: on the way back it is written as it came, if its neutral word has
//! not changed.

use interleaf_model::Json;
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::error::Fault;
use crate::gemini::schema::{self, get};
use crate::gemini::wire::{is_name, peek, take};
use crate::gemini::{CONFIG_SETTINGS, LEVELS, SETTINGS};
use crate::raw::{Fields, ObjectText, list, text};
use crate::tree::Value;
use crate::{
    AnswerSchema, Number, Options, ResponseFormat, ThinkingAmount, ThinkingMode, Thoughts,
    ToolChoice, foreign_choice, setting_type,
};

pub(super) fn read<'a>(fields: &mut Fields<'a>, options: &mut Options) -> Result<(), Fault<'a>> {
    if let Some(raw) = peek(fields, "toolConfig") {
        let config = Value::of(raw.get());
        options.tool_choice = tool_choice(&config);
        if is_plain_choice(&config) {
            take(fields, "toolConfig");
        }
    }
    // Other APIs have the choice beside the tools.
    let choice = peek(fields, "toolChoice").and_then(foreign_choice::read);
    if let Some((choice, _)) = choice.filter(|_| options.tool_choice.is_none()) {
        take(fields, "toolChoice");
        options.tool_choice = Some(choice);
    }
    setting_type::refuse(&SETTINGS, |name| peek(fields, name))?;
    if let Some(raw) = take(fields, "generationConfig") {
        let rest = generation_config(raw, options);
        if let Some(rest) = rest.map_err(|fault| fault.under("generationConfig"))? {
            options.rest.set("generationConfig", rest);
        }
    }
    Ok(())
}

/// Reads what has a neutral word, and gives the rest.
fn generation_config<'a>(
    raw: &'a RawValue,
    options: &mut Options,
) -> Result<Option<Json>, Fault<'a>> {
    let mut fields = Fields::read(raw)?;
    setting_type::refuse(&CONFIG_SETTINGS, |name| peek(&fields, name))?;
    options.max_tokens = take(&mut fields, "maxOutputTokens").and_then(setting_type::count);
    options.temperature = fields.take("temperature").map(Json::from).map(Number::from_json);
    options.top_p = take(&mut fields, "topP").map(Json::from).map(Number::from_json);
    options.top_k = take(&mut fields, "topK").map(Json::from).map(Number::from_json);
    if let Some(raw) = take(&mut fields, "stopSequences") {
        let stop =
            list(raw).and_then(|all| all.into_iter().map(text).collect::<Result<Vec<_>, _>>());
        let stop = stop.map_err(|fault| fault.under("stopSequences"))?;
        options.stop = stop.into_iter().map(Into::into).collect();
    }
    let own = peek(&fields, "thinkingConfig").and_then(|raw| Fields::read(raw).ok());
    let own = own.map(|mut own| {
        options.thinking = take_thinking(&mut own);
        take(&mut fields, "thinkingConfig");
        own
    });
    options.response_format = response_format(&fields)?;
    if options.response_format.is_some() && peek(&fields, "responseSchema").is_none() {
        take(&mut fields, "responseMimeType");
        take(&mut fields, "responseJsonSchema");
    }
    let mut rest = ObjectText::default();
    rest.push_all(&fields);
    if let Some(own) = own {
        rest.push_object("thinkingConfig", &own);
    }
    Ok(rest.into_json()?)
}

/// What a `toolConfig` says of the choice of tools.
pub(in crate::gemini) fn tool_choice(config: &Value) -> Option<ToolChoice> {
    let calling = get(config, "functionCallingConfig")?;
    let mode = get(calling, "mode").and_then(Value::as_str)?;
    let allowed = get(calling, "allowedFunctionNames").and_then(Value::as_array);
    match (mode, allowed) {
        ("AUTO" | "VALIDATED", _) => Some(ToolChoice::Auto),
        ("NONE", _) => Some(ToolChoice::None),
        ("ANY", Some([Value::String(only)])) => Some(ToolChoice::Tool(SmolStr::new(only))),
        ("ANY", _) => Some(ToolChoice::Required),
        _ => None,
    }
}

/// Whether the neutral word says all.
fn is_plain_choice(config: &Value) -> bool {
    let calling = get(config, "functionCallingConfig");
    let mode = calling.and_then(|calling| get(calling, "mode")).and_then(Value::as_str);
    let n_allowed = calling
        .and_then(|calling| get(calling, "allowedFunctionNames"))
        .and_then(Value::as_array)
        .map_or(0, <[_]>::len);
    let is_only = |value: Option<&Value>, names: &[&str]| {
        let fields = value.and_then(Value::as_object);
        fields.is_some_and(|fields| {
            fields.keys().all(|key| names.iter().any(|name| is_name(key, name)))
        })
    };
    is_only(Some(config), &["functionCallingConfig"])
        && is_only(calling, &["mode", "allowedFunctionNames"])
        && match mode {
            Some("AUTO" | "NONE") => n_allowed == 0,
            Some("ANY") => n_allowed <= 1,
            _ => false,
        }
}

/// What a `thinkingConfig` says. Of a budget and a level only the first is read.
fn take_thinking(config: &mut Fields<'_>) -> Option<ThinkingMode> {
    let mut mode = ThinkingMode::default();
    let budget = peek(config, "thinkingBudget").and_then(|raw| raw.get().parse::<i64>().ok());
    mode.amount = match budget {
        None | Some(..=-2) => None,
        Some(-1) => Some(ThinkingAmount::Free),
        Some(0) => Some(ThinkingAmount::Off),
        Some(tokens @ 1..) => Some(ThinkingAmount::Budget(tokens.unsigned_abs())),
    };
    let level = peek(config, "thinkingLevel").and_then(|raw| text(raw).ok());
    let level = level.filter(|_| peek(config, "thinkingBudget").is_none());
    mode.effort = level.and_then(|word| {
        let word = word.to_ascii_uppercase();
        LEVELS.into_iter().find(|(_, known)| *known == word).map(|(effort, _)| effort)
    });
    mode.thoughts = match peek(config, "includeThoughts").map(RawValue::get) {
        Some("true") => Some(Thoughts::Shown),
        Some("false") => Some(Thoughts::Hidden),
        _ => None,
    };
    let read = [
        ("thinkingBudget", mode.amount.is_some()),
        ("thinkingLevel", mode.effort.is_some()),
        ("includeThoughts", mode.thoughts.is_some()),
    ];
    for (name, _) in read.into_iter().filter(|(_, is_read)| *is_read) {
        take(config, name);
    }
    mode.said()
}

/// The form that the answer must have.
pub(in crate::gemini) fn response_format<'a>(
    config: &Fields<'a>,
) -> Result<Option<ResponseFormat>, Fault<'a>> {
    let is_json =
        peek(config, "responseMimeType").is_some_and(|raw| raw.get() == r#""application/json""#);
    if !is_json {
        return Ok(None);
    }
    let schema = match peek(config, "responseJsonSchema") {
        Some(raw) => Some(Json::from(raw)),
        None => peek(config, "responseSchema").map(|raw| schema::to_json_schema(&Json::from(raw))),
    };
    Ok(Some(match schema {
        None => ResponseFormat::Json,
        Some(schema) => ResponseFormat::Schema(AnswerSchema::new(schema)),
    }))
}
