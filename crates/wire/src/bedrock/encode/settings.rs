//! What stands after the turns: the settings.

use interleaf_model::Json;
use serde_json::value::RawValue;

use super::json;
use crate::adjustment::AdjustmentKind;
use crate::anthropic::max_tokens::limited;
use crate::anthropic::thinking::{Thinking, WRITTEN, fitted};
use crate::anthropic::{Model, ONE_WAY, sampling_fault, surplus_sampling};
use crate::bedrock::lint;
use crate::bedrock::models::never_thinks;
use crate::bedrock::wire::{
    InferenceConfig, JsonSchema, ModelFields, OutputConfig, Rest, Structure, Tail, TextFormat, raw,
};
use crate::encode::Context;
use crate::raw::{Fields, is_object};
use crate::turns::Turns;
use crate::{AnswerSchema, Effort, Error, Family, Number, Options, ResponseFormat, ThinkingMode};

/// The most stop sequences.
pub(in crate::bedrock) const MOST_STOPS: usize = 2500;

/// Objects of the body that a setting may have to share with fields it came with.
const SHARED: &[&str] =
    &["inferenceConfig", "additionalModelRequestFields", "outputConfig", "toolConfig"];
/// What is written elsewhere, or is no part of a body.
const ELSEWHERE: &[&str] = &["messages", "system", "modelId"];

pub(super) fn tail(cx: &mut Context<'_>, _: &Turns<'_>) -> Result<String, Error> {
    let options = cx.options;
    let model = Model::named(&options.model);
    let mode = match options.thinking {
        Some(_) if never_thinks(&options.model) => {
            let detail = "thinking: the model does not think";
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
            ThinkingMode::default()
        }
        Some(asked) => fitted(asked, model, options, None, &mut cx.adjustments),
        None => ThinkingMode::default(),
    };
    let tail = Tail {
        inference_config: inference_config(cx, model, mode),
        additional_model_request_fields: model_fields(cx, mode),
        output_config: output_config(cx, mode),
        model_id: options.model_field.as_ref().map(|_| options.model.as_str()),
        rest: rest(cx),
    };
    if options.parallel_tool_calls == Some(false) {
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, "parallel_tool_calls");
    }
    if options.cache_key.is_some() {
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, "cache_key");
    }
    let fields = json(&tail)?;
    let comma = if fields.len() > 2 { "," } else { "" };
    Ok(format!("]{comma}{}", &fields[1..]))
}

/// What goes to the model past the API, in the words of the models that think.
fn model_fields<'a>(cx: &mut Context<'a>, mode: ThinkingMode) -> ModelFields<'a> {
    let options = cx.options;
    let mut rest = own_rest(options, "additionalModelRequestFields", &[]);
    if options.top_k.is_some() {
        rest.take("top_k");
    }
    let own = rest.get("thinking").and_then(|own| Fields::read(own).ok());
    let is_partial = own.is_some_and(|own| own.peek("type").is_none());
    let mut own = Rest::NONE;
    if mode.amount.is_some() {
        own = rest.take_inner("thinking", &WRITTEN);
    } else if is_partial {
        rest.take("thinking");
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, "thinking: it has no type");
    }
    let top_k = options.top_k.as_ref().map(Number::as_json);
    ModelFields { thinking: Thinking::of(mode, own), top_k, rest }
}

fn inference_config<'a>(
    cx: &mut Context<'a>,
    model: Model,
    mode: ThinkingMode,
) -> InferenceConfig<'a> {
    let options = cx.options;
    let max_tokens = cx.max_tokens(1);
    let max_tokens = max_tokens.map(|most| limited(most, model, &mut cx.adjustments));
    let mut sampled = |name: &str, number: Option<&Number>| {
        let json = in_unit(cx, name, number.map(Number::as_json))?;
        let number = json.as_str().parse().unwrap_or(f64::NAN);
        // Of a model that is not named nothing is assumed.
        let is_claude = options.model.contains("claude");
        let fault = sampling_fault(name, number, model, mode.is_on()).filter(|_| is_claude);
        if let Some(fault) = fault {
            let detail = format!("{name}: {fault}");
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
        }
        Some(json).filter(|_| fault.is_none())
    };
    let mut temperature = sampled("temperature", options.temperature.as_ref());
    let mut top_p = sampled("top_p", options.top_p.as_ref());
    let number = |json: Option<&Json>| json.and_then(|json| json.as_str().parse().ok());
    let surplus = surplus_sampling(model, number(temperature.as_ref()), number(top_p.as_ref()));
    if let Some(name) = surplus {
        if name == "top_p" {
            top_p = None
        } else {
            temperature = None
        }
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, format!("{name}: {ONE_WAY}"));
    }
    let stops = options.stop.iter().map(String::as_str);
    let stop_sequences: Vec<&str> =
        stops.filter(|stop| !stop.trim().is_empty()).take(MOST_STOPS).collect();
    if stop_sequences.len() != options.stop.len() {
        let detail = "stop: blank ones, or more than 2500";
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
    }
    let written = [
        ("maxTokens", max_tokens.is_some()),
        ("temperature", temperature.is_some()),
        ("topP", top_p.is_some()),
        ("stopSequences", !stop_sequences.is_empty()),
    ];
    let written: Vec<&str> =
        written.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect();
    let rest = own_rest(options, "inferenceConfig", &written);
    InferenceConfig { max_tokens, temperature, top_p, stop_sequences, rest }
}

/// A number from zero to one; what lies beyond becomes the nearer end.
fn in_unit(cx: &mut Context<'_>, name: &str, number: Option<&Json>) -> Option<Json> {
    let number = number?;
    let value = serde_json::from_str::<f64>(number.as_str()).ok();
    let nearest = match value {
        Some(value) if (0.0..=1.0).contains(&value) => return Some(number.clone()),
        Some(value) => Json::parse(if value > 1.0 { "1" } else { "0" }).ok(),
        None => None,
    };
    let (kind, instead) = match &nearest {
        Some(nearest) => (AdjustmentKind::OptionChanged, nearest.as_str()),
        None => (AdjustmentKind::OptionDropped, "nothing"),
    };
    let detail = format!("{name} {}: the API takes 0 to 1, {instead} is sent", number.as_str());
    cx.adjustments.add_general(kind, detail);
    nearest
}

fn output_config<'a>(cx: &mut Context<'a>, mode: ThinkingMode) -> OutputConfig<'a> {
    let options = cx.options;
    let text_format = match cx.response_format() {
        None | Some(ResponseFormat::Text) => None,
        Some(ResponseFormat::Json) => {
            let detail = "response_format: JSON without a schema";
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
            None
        }
        Some(ResponseFormat::Schema(asked)) => Some(text_format(asked)),
    };
    let own = own_object(options, "outputConfig")
        .and_then(|config| Fields::read(config).ok()?.peek("textFormat"));
    let is_refused = own.is_some_and(|format| !lint::takes_text_format(format));
    if is_refused {
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, "outputConfig.textFormat");
    }
    let mut rest = own_rest(options, "outputConfig", &[]);
    if text_format.is_some() || is_refused {
        rest.take("textFormat");
    }
    let effort = mode.effort.map(Effort::as_str);
    if effort.is_some() {
        rest.take("effort");
    }
    OutputConfig { text_format, effort, rest }
}

fn text_format(asked: &AnswerSchema) -> TextFormat<'_> {
    let json_schema = JsonSchema {
        schema: asked.schema.as_str(),
        name: asked.name.as_deref(),
        description: asked.description.as_deref(),
    };
    TextFormat { kind: "json_schema", structure: Structure { json_schema } }
}

/// The fields that came with a body of this family.
fn rest<'a>(cx: &mut Context<'a>) -> Rest<'a> {
    let options = cx.options;
    let mut rest = Rest::NONE;
    for (name, value) in options.rest.iter() {
        if !options.rest.is_of(Family::Bedrock) {
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, name);
        } else if !SHARED.contains(&name)
            && !ELSEWHERE.contains(&name)
            && let Some(value) = raw(value)
        {
            rest.add(name.into(), value);
        }
    }
    rest
}

fn own_rest<'a>(options: &'a Options, name: &str, written: &[&str]) -> Rest<'a> {
    own_object(options, name).map_or(Rest::NONE, |value| Rest::of_value(value, written))
}

/// An object of the body that came with a body of this family.
pub(super) fn own_object<'a>(options: &'a Options, name: &str) -> Option<&'a RawValue> {
    let value = options.rest.get(Family::Bedrock, name)?;
    raw(value).filter(|value| is_object(value))
}
