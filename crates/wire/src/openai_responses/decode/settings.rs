//! The fields of a body beside its items.

use interleaf_model::Json;
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_object, is_text, text};
use crate::{Family, Number, Options, OwnFields, ResponseFormat, ToolChoice};

/// All else; what has no neutral word stays as it is.
pub(super) fn read(mut body: Fields<'_>) -> Result<Options, Fault<'_>> {
    let model = body.take_text("model")?.map(SmolStr::new).unwrap_or_default();
    let mut max_tokens = None;
    // The first is the API's own; it refuses the others, which mean the same.
    for name in ["max_output_tokens", "max_completion_tokens", "max_tokens"] {
        if max_tokens.is_none()
            && let Some(raw) = body.take(name)
        {
            let n = raw.get().parse::<u64>();
            max_tokens =
                Some(n.map_err(|_| {
                    Fault::form(raw, "must be a whole number of tokens").under(name)
                })?);
        }
    }
    let stream = body.peek("stream").is_some_and(|raw| raw.get() == "true");
    body.take("stream");
    let parallel_tool_calls = match body.take("parallel_tool_calls").map(RawValue::get) {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    let tool_choice = body.peek("tool_choice").and_then(tool_choice);
    if tool_choice.is_some() {
        body.take("tool_choice");
    }
    let temperature = body.take("temperature").map(Json::from).map(Number::from_json);
    let top_p = body.take("top_p").map(Json::from).map(Number::from_json);
    let cache_key = body.take_text("prompt_cache_key")?.map(SmolStr::new);
    let mut response_format = body.take("response_format").map(Json::from);
    let mut rest = OwnFields::of(Family::OpenaiResponses);
    for (name, value) in body.iter() {
        if name == "text" && is_object(value) {
            let (format, others) = text_settings(value).map_err(|fault| fault.under("text"))?;
            response_format = format.or(response_format);
            if let Some(others) = others {
                rest.set(name, others);
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
        response_format: response_format.map(ResponseFormat::from_json),
        rest,
        cache_key,
        ..Options::default()
    })
}

/// A choice that every API knows.
fn tool_choice(raw: &RawValue) -> Option<ToolChoice> {
    if is_text(raw) {
        return match &*text(raw).ok()? {
            "auto" => Some(ToolChoice::Auto),
            "none" => Some(ToolChoice::None),
            "required" => Some(ToolChoice::Required),
            _ => None,
        };
    }
    let mut fields = Fields::read(raw).ok()?;
    let kind = fields.take_text("type").ok()??;
    let name = fields.take_text("name").ok()??;
    let is_plain = kind == "function" && fields.iter().next().is_none();
    is_plain.then(|| ToolChoice::Tool(SmolStr::new(name)))
}

/// The format in chat's form, and what else there is.
fn text_settings(raw: &RawValue) -> Result<(Option<Json>, Option<Json>), Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    let format = match fields.peek("format").filter(|format| is_object(format)) {
        Some(format) => response_format(format).map_err(|fault| fault.under("format"))?,
        None => None,
    };
    if format.is_some() {
        fields.take("format");
    }
    let mut others = ObjectText::default();
    others.push_all(&fields);
    Ok((format, others.into_json()?))
}

fn response_format(raw: &RawValue) -> Result<Option<Json>, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    let kind = fields.take_text("type")?;
    match kind.as_deref() {
        Some("text" | "json_object") => Ok(Some(Json::from(raw))),
        Some("json_schema") if fields.peek("json_schema").is_some() => Ok(Some(Json::from(raw))),
        Some("json_schema") => {
            let mut format = ObjectText::default();
            format.push("type", r#""json_schema""#);
            format.push_object("json_schema", &fields);
            Ok(format.into_json()?)
        }
        _ => Ok(None),
    }
}
