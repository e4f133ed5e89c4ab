//! What a body says beside its messages.

use std::borrow::Cow;

use interleaf_model::{Json, Tool};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use super::parts::must_be_text;
use super::tools::{read_misplaced, read_tools};
use crate::anthropic::thinking;
use crate::bedrock::{INFERENCE_SETTINGS, SETTINGS, lint};
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_object, text};
use crate::{
    AnswerSchema, CacheMarks, Effort, Family, Number, Options, OwnFields, ResponseFormat,
    ThinkingMode, setting_type,
};

/// Reads all that is left of a body.
pub(super) fn read<'a>(body: &mut Fields<'a>) -> Result<(Vec<Tool>, Options), Fault<'a>> {
    setting_type::refuse(&SETTINGS, |name| body.peek(name))?;
    let mut options = Options { rest: OwnFields::of(Family::Bedrock), ..Options::default() };
    let mut left: Vec<(&'static str, ObjectText)> = Vec::new();
    let mut tools = Vec::new();
    let mut mode = ThinkingMode::default();
    if let Some(model) = body.take_text("modelId")? {
        options.model = SmolStr::new(model);
        options.model_field = Some(options.model.clone());
    }
    if let Some(mut config) = body.take_object("toolConfig")? {
        tools = read_tools(&mut config, &mut options)?;
        left.push(("toolConfig", remains(&config)));
    }
    tools.extend(read_misplaced(body, &mut options)?);
    if let Some(mut config) = body.take_object("inferenceConfig")? {
        read_inference(&mut config, &mut options)?;
        left.push(("inferenceConfig", remains(&config)));
    }
    if let Some(mut fields) = body.take_object("additionalModelRequestFields")? {
        let own = fields.peek("thinking").and_then(|raw| Fields::read(raw).ok());
        let own = own.map(|mut own| {
            mode = thinking::read(&mut own);
            fields.take("thinking");
            own
        });
        options.top_k = fields.take("top_k").map(Json::from).map(Number::from_json);
        let mut remains = remains(&fields);
        if let Some(own) = own {
            remains.push_object("thinking", &own);
        }
        left.push(("additionalModelRequestFields", remains));
    }
    if let Some(mut config) = body.take_object("outputConfig")? {
        if let Some(format) = config.peek("textFormat").and_then(response_format) {
            options.response_format = Some(format);
            config.take("textFormat");
        }
        let effort = config.peek("effort").and_then(|effort| text(effort).ok());
        mode.effort = effort.and_then(|effort| Effort::named(&effort));
        if mode.effort.is_some() {
            config.take("effort");
        }
        left.push(("outputConfig", remains(&config)));
    }
    options.thinking = mode.said();
    for (name, remains) in left {
        if let Some(value) = remains.into_json()? {
            options.rest.set(name, value);
        }
    }
    for (name, value) in body.iter() {
        options.rest.set(name, Json::from(value));
    }
    Ok((tools, options))
}

fn remains(fields: &Fields<'_>) -> ObjectText {
    let mut left = ObjectText::default();
    left.push_all(fields);
    left
}

fn read_inference<'a>(config: &mut Fields<'a>, options: &mut Options) -> Result<(), Fault<'a>> {
    let refused = setting_type::refuse(&INFERENCE_SETTINGS, |name| config.peek(name));
    refused.map_err(|fault| fault.under("inferenceConfig"))?;
    options.max_tokens = config.take("maxTokens").and_then(setting_type::count);
    options.temperature = config.take("temperature").map(Json::from).map(Number::from_json);
    options.top_p = config.take("topP").map(Json::from).map(Number::from_json);
    for (i, stop) in config.take_list("stopSequences")?.into_iter().enumerate() {
        let place = format!("inferenceConfig.stopSequences[{i}]");
        options.stop.push(must_be_text(stop, &place)?.into_owned());
    }
    Ok(())
}

/// The form of the answer, if it is a schema and nothing else.
fn response_format(raw: &RawValue) -> Option<ResponseFormat> {
    let mut format = Fields::read(raw).ok()?;
    let kind = format.take_text("type").ok()??;
    let mut structure = format.take_object("structure").ok()??;
    let mut given = structure.take_object("jsonSchema").ok()??;
    let schema = given.take("schema")?;
    // The API wants the schema as a text; what the schema itself means is plain.
    let read = if is_object(schema) { Cow::Borrowed(schema.get()) } else { text(schema).ok()? };
    let schema: &RawValue = serde_json::from_str(&read).ok()?;
    let mut asked = AnswerSchema::new(Json::from(schema));
    asked.name = given.take_text("name").ok()?.map(SmolStr::new);
    asked.description = given.take_text("description").ok()?.map(Cow::into_owned);
    let is_all = [&format, &structure, &given].iter().all(|left| left.iter().next().is_none());
    if kind != "json_schema" || !is_object(schema) || !is_all {
        return None;
    }
    Some(ResponseFormat::Schema(asked))
}

/// Whether the cache breakpoints of a body can stay. If the API would refuse them, ours
/// are set in their place.
pub(super) fn cache_marks(body: &str) -> CacheMarks {
    let is_marked = body.contains("cachePoint");
    if is_marked && !lint::has_legal_cache_points(body) { CacheMarks::On } else { CacheMarks::Off }
}
