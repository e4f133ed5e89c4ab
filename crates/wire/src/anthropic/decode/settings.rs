//! What a body says beside its messages and tools.

use serde_json::value::RawValue;
use smol_str::SmolStr;

use interleaf_model::Json;

use super::parts::flag;
use crate::anthropic::{MARK, lint};
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_object, list, text, wrong_type};
use crate::{
    CacheMarks, Family, Number, Options, OwnFields, ResponseFormat, ThinkingMode, ToolChoice,
};

/// Takes the settings; what is left has no neutral word.
pub(super) fn read_options<'a>(fields: &mut Fields<'a>) -> Result<Options, Fault<'a>> {
    let mut options = Options {
        model: fields.take_text("model")?.map(SmolStr::new).unwrap_or_default(),
        max_tokens: fields.take("max_tokens").map(count).transpose()?,
        temperature: number(fields, "temperature")?,
        top_p: number(fields, "top_p")?,
        top_k: number(fields, "top_k")?,
        stream: flag(fields, "stream")?,
        rest: OwnFields::of(Family::Anthropic),
        ..Options::default()
    };
    if let Some(raw) = fields.take("stop_sequences") {
        let inside = |fault: Fault<'a>| fault.under("stop_sequences");
        for raw in list(raw).map_err(inside)? {
            options.stop.push(text(raw).map_err(inside)?.into_owned());
        }
    }
    if fields.peek("thinking").is_some_and(is_object) {
        options.thinking = fields.take("thinking").map(Json::from).map(ThinkingMode::from_json);
    }
    if let Some((choice, parallel)) = fields.peek("tool_choice").and_then(tool_choice) {
        fields.take("tool_choice");
        options.tool_choice = Some(choice);
        options.parallel_tool_calls = parallel;
    }
    let output = fields.take("output_config");
    let (format, output_rest) = output.map_or((None, None), output_config);
    options.response_format = format.map(ResponseFormat::from_json);
    for (name, value) in fields.iter() {
        options.rest.set(name, Json::from(value));
    }
    if let Some(rest) = output_rest {
        options.rest.set("output_config", rest);
    }
    Ok(options)
}

fn count(raw: &RawValue) -> Result<u64, Fault<'_>> {
    raw.get().parse().map_err(|_| Fault::form(raw, "must be a whole number").under("max_tokens"))
}

fn number<'a>(fields: &mut Fields<'a>, name: &str) -> Result<Option<Number>, Fault<'a>> {
    match fields.take(name) {
        None => Ok(None),
        Some(raw) if raw.get().starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            Ok(Some(Number::from_json(Json::from(raw))))
        }
        Some(raw) => Err(wrong_type(raw, "a number").under(name)),
    }
}

/// A choice that we have words for, whole.
fn tool_choice(raw: &RawValue) -> Option<(ToolChoice, Option<bool>)> {
    let mut fields = Fields::read(raw).ok()?;
    let kind = fields.take_text("type").ok()??;
    let name = fields.take_text("name").ok()?;
    let parallel = match fields.take("disable_parallel_tool_use").map(RawValue::get) {
        None => None,
        Some("true") => Some(false),
        Some("false") => Some(true),
        Some(_) => return None,
    };
    let choice = match (&*kind, name) {
        ("auto", None) => ToolChoice::Auto,
        ("any", None) => ToolChoice::Required,
        ("none", None) => ToolChoice::None,
        ("tool", Some(name)) => ToolChoice::Tool(SmolStr::new(name)),
        _ => return None,
    };
    fields.iter().next().is_none().then_some((choice, parallel))
}

/// The form of the answer in chat's words, and what is left beside it.
fn output_config(raw: &RawValue) -> (Option<Json>, Option<Json>) {
    let Ok(mut fields) = Fields::read(raw) else {
        return (None, Some(Json::from(raw)));
    };
    let format = fields.peek("format").and_then(response_format);
    if format.is_none() {
        return (None, Some(Json::from(raw)));
    }
    fields.take("format");
    let mut rest = ObjectText::default();
    rest.push_all(&fields);
    (format, rest.into_json().ok().flatten())
}

fn response_format(raw: &RawValue) -> Option<Json> {
    let mut fields = Fields::read(raw).ok()?;
    let kind = fields.take_text("type").ok()??;
    let schema = fields.take("schema")?;
    if kind != "json_schema" || fields.iter().next().is_some() {
        return None;
    }
    // Chat demands a name.
    let mut inner = ObjectText::default();
    inner.push("name", r#""answer""#);
    inner.push("schema", schema.get());
    let inner = inner.into_json().ok()??;
    let mut outer = ObjectText::default();
    outer.push("type", r#""json_schema""#);
    outer.push("json_schema", inner.as_str());
    outer.into_json().ok()?
}

/// Whether the marks that a body carries can stay. If the API would refuse them, ours
/// are set in their place.
pub(super) fn cache_marks(body: &str) -> CacheMarks {
    let is_marked = body.contains(MARK);
    if is_marked && !lint::has_legal_marks(body) { CacheMarks::On } else { CacheMarks::Off }
}
