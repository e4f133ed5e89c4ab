//! Rules of the body and its settings.

use serde_json::Value;

use crate::family::{Incoming, Rule, rules};
use crate::openai::settings::{self, boolean, integer, number};
use crate::openai::{is_reasoning, missing, name, unsupported, wrong_type, wrong_value};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{fields, list, text};

pub(super) const FIRST: &[Rule] =
    rules![the_body_is_an_object, the_model_is_named, fields_are_known];

pub(super) const RULES: &[Rule] = rules![
    settings_have_types,
    numbers_are_in_range,
    reasoning_models_count_all_tokens,
    efforts_are_known,
    reasoning_models_take_no_sampling,
    stops_are_few,
    stream_options_need_a_stream,
    formats_are_known,
    json_is_mentioned,
];

#[rustfmt::skip]
const FIELDS: &[&str] = &[
    "messages", "model", "audio", "frequency_penalty", "function_call", "functions", "logit_bias",
    "logprobs", "max_completion_tokens", "max_tokens", "metadata", "modalities", "moderation", "n",
    "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key",
    "prompt_cache_options", "prompt_cache_retention", "reasoning_effort", "response_format",
    "safety_identifier", "seed", "service_tier", "stop", "store", "stream", "stream_options",
    "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity",
    "web_search_options",
];

fn the_body_is_an_object(incoming: &Incoming<'_>) -> Verdict {
    demand(incoming.body.is_object(), || Refusal::new("Invalid body: expected a JSON object."))
}

fn the_model_is_named(incoming: &Incoming<'_>) -> Verdict {
    demand(!incoming.model.trim().is_empty(), || Refusal::new("you must provide a model parameter"))
}

fn fields_are_known(incoming: &Incoming<'_>) -> Verdict {
    let unknown = fields(incoming.body).find(|(name, _)| !FIELDS.contains(name));
    match unknown {
        None => Ok(()),
        Some((name, _)) => {
            Err(Refusal::new(format!("Unrecognized request argument supplied: {name}")))
        }
    }
}

fn settings_have_types(incoming: &Incoming<'_>) -> Verdict {
    let switches = ["stream", "store", "logprobs", "parallel_tool_calls"];
    switches.iter().try_for_each(|param| boolean(incoming.body, param))?;
    settings::texts(incoming.body, &["prompt_cache_key"])
}

fn numbers_are_in_range(incoming: &Incoming<'_>) -> Verdict {
    let body = incoming.body;
    number(body, "temperature", 0.0, 2.0)?;
    number(body, "top_p", 0.0, 1.0)?;
    number(body, "frequency_penalty", -2.0, 2.0)?;
    number(body, "presence_penalty", -2.0, 2.0)?;
    integer(body, "n", 1, 128)?;
    integer(body, "top_logprobs", 0, 20)?;
    integer(body, "max_tokens", 1, i64::MAX)?;
    integer(body, "max_completion_tokens", 1, i64::MAX)
}

fn reasoning_models_count_all_tokens(incoming: &Incoming<'_>) -> Verdict {
    let has = !incoming.body["max_tokens"].is_null();
    demand(!has || incoming.body["max_completion_tokens"].is_null(), || {
        let words =
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
        Refusal::new(words).at("max_tokens").code("invalid_parameter_combination")
    })?;
    demand(!(has && is_reasoning(incoming.model)), || {
        let words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        Refusal::new(words).at("max_tokens").code("unsupported_parameter")
    })
}

fn efforts_are_known(incoming: &Incoming<'_>) -> Verdict {
    settings::effort(incoming, "reasoning_effort", &incoming.body["reasoning_effort"])
}

fn reasoning_models_take_no_sampling(incoming: &Incoming<'_>) -> Verdict {
    settings::sampling(incoming, &incoming.body["reasoning_effort"])
}

fn stops_are_few(incoming: &Incoming<'_>) -> Verdict {
    let stop = &incoming.body["stop"];
    match stop {
        Value::Null | Value::String(_) => {}
        Value::Array(stops) => {
            let n = stops.len();
            demand(n <= 4, || {
                let words = format!(
                    "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length {n} instead."
                );
                Refusal::new(words).at("stop").code("array_above_max_length")
            })?;
            let odd = stops.iter().find(|stop| !stop.is_string());
            odd.map_or(Ok(()), |odd| Err(wrong_type("stop", "an array of strings", odd)))?;
        }
        other => return Err(wrong_type("stop", "one of a string or array of strings", other)),
    }
    let takes = !["o3", "o4-mini"].iter().any(|name| incoming.model.starts_with(name));
    let is_empty = stop.is_null() || stop.as_array().is_some_and(Vec::is_empty);
    demand(is_empty || takes, || {
        let words = "Unsupported parameter: 'stop' is not supported with this model.".to_owned();
        unsupported("stop", words)
    })
}

fn stream_options_need_a_stream(incoming: &Incoming<'_>) -> Verdict {
    demand(incoming.body["stream_options"].is_null() || incoming.stream, || {
        let words = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        Refusal::new(words).at("stream_options")
    })
}

fn formats_are_known(incoming: &Incoming<'_>) -> Verdict {
    let format = &incoming.body["response_format"];
    if format.is_null() {
        return Ok(());
    }
    demand(format.is_object(), || wrong_type("response_format", "an object", format))?;
    let known = ["json_object", "json_schema", "text"];
    match text(&format["type"]) {
        "json_schema" => {
            let inner = &format["json_schema"];
            demand(inner.is_object(), || missing("response_format.json_schema"))?;
            name("response_format.json_schema.name", &inner["name"], 64)?;
            demand(inner["schema"].is_object(), || missing("response_format.json_schema.schema"))
        }
        "" => Err(missing("response_format.type")),
        kind => demand(known.contains(&kind), || wrong_value("response_format.type", kind, &known)),
    }
}

fn json_is_mentioned(incoming: &Incoming<'_>) -> Verdict {
    let asks = incoming.body["response_format"]["type"] == "json_object";
    let says = |message: &Value| message["content"].to_string().to_lowercase().contains("json");
    demand(!asks || list(&incoming.body["messages"]).iter().any(says), || {
        let words = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
        Refusal::new(words).at("messages")
    })
}
