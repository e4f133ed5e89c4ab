//! Rules of the body and its settings.

use serde_json::Value;

use super::contents::unknown_name;
use super::generation;
use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{fields, list, text};

pub(super) const FIRST: &[Rule] = rules![the_body_is_an_object, fields_are_known];

pub(super) const RULES: &[Rule] = rules![
    settings_are_known,
    numbers_are_in_range,
    a_schema_needs_json,
    thinking_is_the_models,
    cached_content_brings_its_own,
];

#[rustfmt::skip]
const FIELDS: &[&str] = &[
    "contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings",
    "cachedContent", "labels", "model", "serviceTier", "store", "generateContentRequest",
    "modelArmorConfig",
];

#[rustfmt::skip]
const SETTINGS: &[&str] = &[
    "stopSequences", "responseMimeType", "responseSchema", "responseJsonSchema",
    "responseModalities", "candidateCount", "maxOutputTokens", "temperature", "topP", "topK",
    "seed", "presencePenalty", "frequencyPenalty", "responseLogprobs", "logprobs",
    "enableEnhancedCivicAnswers", "speechConfig", "thinkingConfig", "imageConfig",
    "mediaResolution", "audioTimestamp", "routingConfig", "modelSelectionConfig",
    "audioTranscriptionConfig", "continuationToken", "automaticContinuation",
    "generationOutputConfig",
];

fn the_body_is_an_object(incoming: &Incoming<'_>) -> Verdict {
    demand(incoming.body.is_object(), || {
        Refusal::new("Invalid JSON payload received. Expected an object.")
    })
}

fn fields_are_known(incoming: &Incoming<'_>) -> Verdict {
    let unknown = fields(incoming.body).find(|(name, _)| !FIELDS.contains(name));
    unknown.map_or(Ok(()), |(name, _)| Err(unknown_name(name, "")))
}

fn settings_are_known(incoming: &Incoming<'_>) -> Verdict {
    for (name, at) in [
        ("generationConfig", "generation_config"),
        ("toolConfig", "tool_config"),
        ("systemInstruction", "system_instruction"),
    ] {
        let value = &incoming.body[name];
        demand(value.is_null() || value.is_object(), || {
            Refusal::new(format!("Invalid value at '{at}', {value}"))
        })?;
    }
    let model = &incoming.body["model"];
    demand(model.is_null() || model.is_string(), || {
        Refusal::new(format!("Invalid value at 'model' (TYPE_STRING), {model}"))
    })?;
    let unknown =
        fields(&incoming.body["generationConfig"]).find(|(name, _)| !SETTINGS.contains(name));
    unknown.map_or(Ok(()), |(name, _)| Err(unknown_name(name, "generation_config")))
}

fn numbers_are_in_range(incoming: &Incoming<'_>) -> Verdict {
    let settings = &incoming.body["generationConfig"];
    for (name, least, most) in
        [("temperature", 0.0, 2.0), ("topP", 0.0, 1.0), ("topK", 0.0, f64::MAX)]
    {
        let value = &settings[name];
        demand(value.is_null() || value.is_number(), || {
            Refusal::new(format!(
                "Invalid value at 'generation_config.{name}' (TYPE_FLOAT), {value}"
            ))
        })?;
        demand(value.as_f64().is_none_or(|value| (least..=most).contains(&value)), || {
            Refusal::new(format!(
                "* GenerateContentRequest.generation_config.{name}: {name} must be in the range [{least}, {most}].\n"
            ))
        })?;
    }
    for name in ["maxOutputTokens", "candidateCount", "seed"] {
        let value = &settings[name];
        demand(value.is_null() || int32(value).is_some(), || {
            Refusal::new(format!(
                "Invalid value at 'generation_config.{name}' (TYPE_INT32), {value}"
            ))
        })?;
    }
    demand(int32(&settings["maxOutputTokens"]).is_none_or(|most| most > 0), || {
        Refusal::new(
            "* GenerateContentRequest.generation_config.max_output_tokens: max_output_tokens must be positive.\n",
        )
    })?;
    let stops = &settings["stopSequences"];
    let are_texts = stops.is_array() && list(stops).iter().all(|stop| stop.is_string());
    demand(stops.is_null() || are_texts, || {
        Refusal::new(format!(
            "Invalid value at 'generation_config.stop_sequences' (TYPE_STRING), {stops}"
        ))
    })
}

/// What the JSON form of Protocol Buffers takes for an int32: a whole number, however it is
/// written, or a string of one.
pub(super) fn int32(value: &Value) -> Option<i32> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(digits) => digits.parse().ok()?,
        _ => return None,
    };
    let range = f64::from(i32::MIN)..=f64::from(i32::MAX);
    (number.fract() == 0.0 && range.contains(&number)).then_some(number as i32)
}

fn a_schema_needs_json(incoming: &Incoming<'_>) -> Verdict {
    let settings = &incoming.body["generationConfig"];
    let (of_google, of_json) = (settings.get("responseSchema"), settings.get("responseJsonSchema"));
    demand(of_google.is_none() || of_json.is_none(), || {
        Refusal::new(
            "* GenerateContentRequest.generation_config: response_schema and response_json_schema cannot both be set.\n",
        )
    })?;
    let kind = text(&settings["responseMimeType"]);
    let is_json = ["application/json", "text/x.enum"].contains(&kind);
    demand((of_google.is_none() && of_json.is_none()) || is_json, || {
        Refusal::new(
            "* GenerateContentRequest.generation_config.response_schema: only allowed when response mime type is application/json or text/x.enum\n",
        )
    })?;
    let mut tools = list(&incoming.body["tools"]).iter();
    let has_functions = tools.any(|tool| !list(&tool["functionDeclarations"]).is_empty());
    // Nothing is assumed of a model that is not known.
    let is_old = (0.1..3.0).contains(&generation(incoming.model));
    demand(!(kind == "application/json" && has_functions && is_old), || {
        Refusal::new(
            "Function calling with a response mime type: 'application/json' is unsupported",
        )
    })
}

fn thinking_is_the_models(incoming: &Incoming<'_>) -> Verdict {
    let config = &incoming.body["generationConfig"]["thinkingConfig"];
    demand(config.is_null() || config.is_object(), || {
        Refusal::new(format!("Invalid value at 'generation_config.thinking_config', {config}"))
    })?;
    let (budget, level) = (&config["thinkingBudget"], &config["thinkingLevel"]);
    demand(budget.is_null() || level.is_null(), || {
        Refusal::new("You can only set only one of thinking budget and thinking level.")
    })?;
    demand(budget.is_null() || budget.as_i64().is_some_and(|budget| budget >= -1), || {
        Refusal::new(format!(
            "The thinking budget {budget} is invalid. Please choose a value of -1 or more."
        ))
    })?;
    let known = ["MINIMAL", "LOW", "MEDIUM", "HIGH", "THINKING_LEVEL_UNSPECIFIED"];
    let named = text(level).to_uppercase();
    demand(level.is_null() || known.contains(&named.as_str()), || {
        Refusal::new(format!(
            "Invalid value at 'generation_config.thinking_config.thinking_level' (type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel), {level}"
        ))
    })?;
    let generation = generation(incoming.model);
    demand(level.is_null() || generation == 0.0 || generation >= 3.0, || {
        Refusal::new("Thinking level is not supported for this model.")
    })?;
    demand(!(generation >= 3.0 && *budget == 0), || {
        Refusal::new("Budget 0 is invalid. This model only works in thinking mode.")
    })?;
    let asks = !budget.is_null() || !level.is_null() || config["includeThoughts"] == true;
    demand(!asks || generation == 0.0 || generation >= 2.5, || {
        Refusal::new("Thinking is not enabled for this model.")
    })
}

fn cached_content_brings_its_own(incoming: &Incoming<'_>) -> Verdict {
    let body = incoming.body;
    let has =
        ["systemInstruction", "tools", "toolConfig"].iter().any(|name| body.get(*name).is_some());
    demand(body["cachedContent"].is_null() || !has, || {
        Refusal::new(
            "Tool config, tools and system instruction should not be set in the request when using cached content.",
        )
    })
}
