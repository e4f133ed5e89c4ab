//! What a body says beside its messages and tools.

use smol_str::SmolStr;

use interleaf_model::Json;

use super::parts::flag;
use crate::anthropic::{MARK, SETTINGS, lint, thinking};
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, text};
use crate::{
    AnswerSchema, CacheMarks, Effort, Family, Number, Options, OwnFields, ResponseFormat,
    ThinkingMode, foreign_choice, setting_type,
};

/// Takes the settings; what is left has no neutral word.
pub(super) fn read_options<'a>(fields: &mut Fields<'a>) -> Result<Options, Fault<'a>> {
    setting_type::refuse(&SETTINGS, |name| fields.peek(name))?;
    let mut options = Options {
        model: fields.take_text("model")?.map(SmolStr::new).unwrap_or_default(),
        max_tokens: fields.take("max_tokens").and_then(setting_type::count),
        temperature: fields.take("temperature").map(Json::from).map(Number::from_json),
        top_p: fields.take("top_p").map(Json::from).map(Number::from_json),
        top_k: fields.take("top_k").map(Json::from).map(Number::from_json),
        stream: flag(fields, "stream")?,
        rest: OwnFields::of(Family::Anthropic),
        ..Options::default()
    };
    for raw in fields.take_list("stop_sequences")? {
        options.stop.push(text(raw).map_err(|fault| fault.under("stop_sequences"))?.into_owned());
    }
    let mut mode = ThinkingMode::default();
    let own = fields.peek("thinking").and_then(|raw| Fields::read(raw).ok());
    let own = own.map(|mut own| {
        mode = thinking::read(&mut own);
        fields.take("thinking");
        ("thinking", own)
    });
    if let Some((choice, parallel)) = fields.peek("tool_choice").and_then(foreign_choice::read) {
        fields.take("tool_choice");
        options.tool_choice = Some(choice);
        options.parallel_tool_calls = parallel;
    }
    // Chat says it beside the choice.
    let parallel = fields.peek("parallel_tool_calls").and_then(|raw| raw.get().parse().ok());
    if let Some(parallel) = parallel.filter(|_| options.parallel_tool_calls.is_none()) {
        fields.take("parallel_tool_calls");
        options.parallel_tool_calls = Some(parallel);
    }
    let output = fields.peek("output_config").and_then(|raw| Fields::read(raw).ok());
    let output = output.map(|mut output| {
        options.response_format = take_format(&mut output);
        mode.effort = take_effort(&mut output);
        fields.take("output_config");
        ("output_config", output)
    });
    options.thinking = mode.said();
    for (name, value) in fields.iter() {
        options.rest.set(name, Json::from(value));
    }
    for (name, left) in own.into_iter().chain(output) {
        let mut rest = ObjectText::default();
        rest.push_all(&left);
        if let Some(rest) = rest.into_json()? {
            options.rest.set(name, rest);
        }
    }
    Ok(options)
}

/// The form of the answer, if it is a schema and nothing else.
fn take_format(output: &mut Fields<'_>) -> Option<ResponseFormat> {
    let mut format = Fields::read(output.peek("format")?).ok()?;
    let kind = format.take_text("type").ok()??;
    let schema = format.take("schema")?;
    if kind != "json_schema" || format.iter().next().is_some() {
        return None;
    }
    output.take("format");
    Some(ResponseFormat::Schema(AnswerSchema::new(Json::from(schema))))
}

fn take_effort(output: &mut Fields<'_>) -> Option<Effort> {
    let effort = Effort::named(&text(output.peek("effort")?).ok()?)?;
    output.take("effort");
    Some(effort)
}

/// Whether the marks that a body carries can stay. If the API would refuse them, ours
/// are set in their place.
pub(super) fn cache_marks(body: &str) -> CacheMarks {
    let is_marked = body.contains(MARK);
    if is_marked && !lint::has_legal_marks(body) { CacheMarks::On } else { CacheMarks::Off }
}
