//! Rules of the body and its settings.

use serde_json::Value;

use crate::claude::claude;
use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{fields, list, text};

pub(super) const FIRST: &[Rule] = rules![the_body_is_an_object, fields_are_known];

pub(super) const RULES: &[Rule] = rules![
    settings_have_types,
    numbers_are_in_range,
    stops_are_few,
    sampling_is_the_models,
    thinking_fits,
    counting_needs_a_plain_model,
    formats_are_known,
];

#[rustfmt::skip]
const FIELDS: &[&str] = &[
    "messages", "system", "inferenceConfig", "toolConfig", "guardrailConfig",
    "additionalModelRequestFields", "promptVariables", "additionalModelResponseFieldPaths",
    "requestMetadata", "performanceConfig", "serviceTier", "outputConfig", "modelId",
];

fn the_body_is_an_object(incoming: &Incoming<'_>) -> Verdict {
    demand(incoming.body.is_object(), || Refusal::new("Unable to parse the request body"))
}

fn fields_are_known(incoming: &Incoming<'_>) -> Verdict {
    let unknown = fields(incoming.body).find(|(name, _)| !FIELDS.contains(name));
    unknown.map_or(Ok(()), |(name, _)| {
        Err(Refusal::new(format!("Unexpected field type: {name} is not a field of the request.")))
    })
}

fn settings_have_types(incoming: &Incoming<'_>) -> Verdict {
    let objects = ["inferenceConfig", "toolConfig", "outputConfig", "additionalModelRequestFields"];
    for name in objects {
        let value = &incoming.body[name];
        demand(value.is_null() || value.is_object(), || {
            Refusal::new(format!("Unable to parse the request body: {name} is not an object"))
        })?;
    }
    let model = &incoming.body["modelId"];
    demand(model.is_null() || model.is_string(), || {
        Refusal::new("Unable to parse the request body: modelId is not a string")
    })
}

fn numbers_are_in_range(incoming: &Incoming<'_>) -> Verdict {
    let config = &incoming.body["inferenceConfig"];
    let (most, at) = (&config["maxTokens"], "inferenceConfig.maxTokens");
    demand(most.is_null() || most.is_i64() || most.is_u64(), || {
        Refusal::new(format!("Unable to parse the request body: {at} is not an integer"))
    })?;
    demand(most.is_null() || most.as_u64().is_some_and(|most| most >= 1), || {
        Refusal::new(format!(
            "1 validation error detected: Value '{most}' at '{at}' failed to satisfy constraint: Member must have value greater than or equal to 1"
        ))
    })?;
    for name in ["temperature", "topP"] {
        let value = &config[name];
        demand(value.is_null() || value.is_number(), || {
            Refusal::new(format!(
                "Unable to parse the request body: inferenceConfig.{name} is not a number"
            ))
        })?;
        demand(value.as_f64().is_none_or(|value| (0.0..=1.0).contains(&value)), || {
            Refusal::new(format!(
                "1 validation error detected: Value '{value}' at 'inferenceConfig.{name}' failed to satisfy constraint: Member must have value less than or equal to 1"
            ))
        })?;
    }
    Ok(())
}

fn stops_are_few(incoming: &Incoming<'_>) -> Verdict {
    let stops = &incoming.body["inferenceConfig"]["stopSequences"];
    let is_text = |stop: &Value| stop.as_str().is_some_and(|stop| !stop.is_empty());
    let is_list = stops.is_null() || stops.is_array();
    demand(is_list && list(stops).len() <= 2_500 && list(stops).iter().all(is_text), || {
        Refusal::new(
            "1 validation error detected: Value at 'inferenceConfig.stopSequences' failed to satisfy constraint: Member must have length less than or equal to 2500 and hold strings that are not empty",
        )
    })
}

fn thinking<'a>(incoming: &Incoming<'a>) -> &'a Value {
    let more = &incoming.body["additionalModelRequestFields"];
    more.get("thinking").or(more.get("reasoning_config")).unwrap_or(&Value::Null)
}

const BEGINS: &str = "The model returned the following errors:";

fn sampling_is_the_models(incoming: &Incoming<'_>) -> Verdict {
    let Some(claude) = claude(incoming.model) else { return Ok(()) };
    let config = &incoming.body["inferenceConfig"];
    let (temperature, p) = (&config["temperature"], &config["topP"]);
    for (name, value) in [("temperature", temperature), ("top_p", p)] {
        let is_usual = value.is_null() || value.as_f64() == Some(1.0);
        demand(!claude.takes_no_sampling() || is_usual, || {
            Refusal::new(format!("{BEGINS} `{name}` is deprecated for this model."))
        })?;
    }
    demand(!claude.takes_one_sampling() || temperature.is_null() || p.is_null(), || {
        Refusal::new(format!(
            "{BEGINS} `temperature` and `top_p` cannot both be specified for this model. Please use only one."
        ))
    })?;
    let thinks = ["enabled", "adaptive"].contains(&text(&thinking(incoming)["type"]));
    demand(!thinks || temperature.is_null() || temperature.as_f64() == Some(1.0), || {
        Refusal::new(format!(
            "{BEGINS} `temperature` may only be set to 1 when thinking is enabled."
        ))
    })?;
    demand(!thinks || p.as_f64().is_none_or(|p| p >= 0.95), || {
        Refusal::new(format!(
            "{BEGINS} `top_p` must be greater than or equal to 0.95 or unset when thinking is enabled."
        ))
    })
}

fn thinking_fits(incoming: &Incoming<'_>) -> Verdict {
    let (thinking, model) = (thinking(incoming), incoming.model);
    #[rustfmt::skip]
    let plain = ["nova-micro", "nova-lite-v1", "nova-pro", "nova-premier", "titan", "llama",
        "mistral", "command-r", "jamba"];
    let is_plain = plain.iter().any(|name| model.contains(name));
    demand(!is_plain || thinking.is_null(), || {
        Refusal::new(format!("{BEGINS} #: extraneous key [thinking] is not permitted"))
    })?;
    let Some(claude) = claude(model).filter(|_| !thinking.is_null()) else { return Ok(()) };
    let mode = text(&thinking["type"]);
    demand(claude.version >= 3.7 || mode == "disabled", || {
        Refusal::new(format!("{BEGINS} \"claude\" does not support thinking."))
    })?;
    demand(mode != "adaptive" || claude.takes_adaptive(), || {
        Refusal::new(format!("{BEGINS} adaptive thinking is not supported on this model"))
    })?;
    demand(mode != "enabled" || claude.takes_a_budget(), || {
        Refusal::new(format!(
            "{BEGINS} \"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior."
        ))
    })?;
    let budget = thinking["budget_tokens"].as_u64().unwrap_or_default();
    demand(mode != "enabled" || budget >= 1_024, || {
        Refusal::new(format!(
            "{BEGINS} thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        ))
    })?;
    let most = incoming.body["inferenceConfig"]["maxTokens"].as_u64();
    demand(mode != "enabled" || most.is_none_or(|most| budget < most), || {
        Refusal::new(format!(
            "{BEGINS} `max_tokens` must be greater than `thinking.budget_tokens`."
        ))
    })
}

/// A model of one region only can count.
fn counting_needs_a_plain_model(incoming: &Incoming<'_>) -> Verdict {
    let regions = ["us.", "eu.", "apac.", "global.", "jp.", "au."];
    let is_cross = regions.iter().any(|region| incoming.model.starts_with(region));
    demand(!incoming.counts || !is_cross, || {
        Refusal::new("The provided model doesn't support counting tokens.")
    })
}

fn formats_are_known(incoming: &Incoming<'_>) -> Verdict {
    let format = &incoming.body["outputConfig"]["textFormat"];
    if format.is_null() {
        return Ok(());
    }
    let schema = text(&format["structure"]["jsonSchema"]["schema"]);
    let is_schema = serde_json::from_str::<Value>(schema).is_ok_and(|schema| schema.is_object());
    demand(format["type"] == "json_schema" && is_schema, || {
        Refusal::new(
            "The schema at outputConfig.textFormat.structure.jsonSchema must be a string that holds a JSON object.",
        )
    })
}
