//! From `toolConfig` and `generationConfig` to neutral settings.
//!
//! A setting that has a neutral word but says more than that is read, and stays among
//! the rest as well: on the way back it is written as it came, if its neutral word has
//! not changed.

use interleaf_model::Json;
use serde_json::Value;
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::error::Fault;
use crate::gemini::schema::{self, get};
use crate::gemini::wire::{is_name, peek, take};
use crate::raw::{Fields, ObjectText, list, text};
use crate::{Number, Options, ResponseFormat, ThinkingMode, ToolChoice};

pub(super) fn read<'a>(fields: &mut Fields<'a>, options: &mut Options) -> Result<(), Fault<'a>> {
    if let Some(raw) = peek(fields, "toolConfig") {
        let config = Json::from(raw).to_value();
        options.tool_choice = tool_choice(&config);
        if is_plain_choice(&config) {
            take(fields, "toolConfig");
        }
    }
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
    let max_tokens = peek(&fields, "maxOutputTokens").and_then(whole_number);
    if max_tokens.is_some() {
        take(&mut fields, "maxOutputTokens");
    }
    options.max_tokens = max_tokens;
    options.temperature = fields.take("temperature").map(Json::from).map(Number::from_json);
    options.top_p = take(&mut fields, "topP").map(Json::from).map(Number::from_json);
    options.top_k = take(&mut fields, "topK").map(Json::from).map(Number::from_json);
    if let Some(raw) = take(&mut fields, "stopSequences") {
        let stop =
            list(raw).and_then(|all| all.into_iter().map(text).collect::<Result<Vec<_>, _>>());
        let stop = stop.map_err(|fault| fault.under("stopSequences"))?;
        options.stop = stop.into_iter().map(Into::into).collect();
    }
    if let Some(raw) = peek(&fields, "thinkingConfig") {
        let config = Json::from(raw).to_value();
        options.thinking = thinking(&config);
        if is_plain_thinking(&config) {
            take(&mut fields, "thinkingConfig");
        }
    }
    options.response_format = response_format(&fields)?;
    if options.response_format.is_some() && peek(&fields, "responseSchema").is_none() {
        take(&mut fields, "responseMimeType");
        take(&mut fields, "responseJsonSchema");
    }
    let mut rest = ObjectText::default();
    rest.push_all(&fields);
    Ok(rest.into_json()?)
}

/// A number of tokens; Google also takes it as a string.
fn whole_number(raw: &RawValue) -> Option<u64> {
    raw.get().trim_matches('"').parse().ok()
}

/// What a `toolConfig` says of the choice of tools.
pub(in crate::gemini) fn tool_choice(config: &Value) -> Option<ToolChoice> {
    let calling = get(config, "functionCallingConfig")?;
    let mode = get(calling, "mode").and_then(Value::as_str)?;
    let allowed = get(calling, "allowedFunctionNames").and_then(Value::as_array);
    match (mode, allowed.map(Vec::as_slice)) {
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
        .map_or(0, Vec::len);
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

/// What a `thinkingConfig` says.
pub(in crate::gemini) fn thinking(config: &Value) -> Option<ThinkingMode> {
    let budget = get(config, "thinkingBudget").and_then(Value::as_i64);
    let shown = get(config, "includeThoughts").and_then(Value::as_bool);
    let leveled = get(config, "thinkingLevel").is_some();
    Some(match budget.map(u64::try_from) {
        Some(Ok(0)) => ThinkingMode::off(),
        Some(Ok(budget)) => ThinkingMode::budget(budget),
        None if !leveled && shown != Some(true) => return None,
        Some(Err(_)) | None => ThinkingMode::on(),
    })
}

/// Whether the neutral word says all.
fn is_plain_thinking(config: &Value) -> bool {
    let Some(fields) = config.as_object() else {
        return false;
    };
    let budget = get(config, "thinkingBudget").and_then(Value::as_i64);
    let shown = get(config, "includeThoughts").and_then(Value::as_bool);
    match (budget, shown) {
        (Some(0), None) => fields.len() == 1,
        (Some(budget), Some(true)) => budget >= -1 && budget != 0 && fields.len() == 2,
        _ => false,
    }
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
    let mut format = ObjectText::default();
    match schema {
        None => format.push("type", r#""json_object""#),
        Some(schema) => {
            format.push("type", r#""json_schema""#);
            let mut inner = ObjectText::default();
            inner.push("name", r#""response""#);
            inner.push("schema", schema.as_str());
            if let Some(inner) = inner.into_json()? {
                format.push("json_schema", inner.as_str());
            }
        }
    }
    Ok(format.into_json()?.map(ResponseFormat::from_json))
}
