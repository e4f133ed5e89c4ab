//! Rules of the body and its settings.

use super::items;
use crate::family::{Incoming, Rule, rules};
use crate::openai::settings::{self, boolean, integer, number};
use crate::openai::{missing, name, wrong_type, wrong_value};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{fields, text};

pub(super) const FIRST: &[Rule] = rules![
    the_body_is_an_object,
    the_model_is_named,
    fields_have_not_moved,
    fields_are_known,
    there_is_one_past,
];

pub(super) const RULES: &[Rule] = rules![
    settings_have_types,
    numbers_are_in_range,
    efforts_are_known,
    reasoning_models_take_no_sampling,
    formats_are_known,
    json_is_mentioned,
];

#[rustfmt::skip]
const FIELDS: &[&str] = &[
    "access_programs", "background", "context_management", "conversation", "image", "include",
    "input", "instructions", "max_output_tokens", "max_tool_calls", "metadata", "model",
    "moderation", "parallel_tool_calls", "personality", "previous_response_id", "prompt",
    "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "reasoning",
    "safety_identifier", "service_tier", "store", "stream", "stream_options", "temperature",
    "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user",
];

/// Fields of Chat that have another name here.
const MOVED: [(&str, &str); 5] = [
    ("messages", "input"),
    ("response_format", "text.format"),
    ("max_tokens", "max_output_tokens"),
    ("max_completion_tokens", "max_output_tokens"),
    ("reasoning_effort", "reasoning.effort"),
];

fn the_body_is_an_object(incoming: &Incoming<'_>) -> Verdict {
    demand(incoming.body.is_object(), || Refusal::new("Invalid body: expected a JSON object."))
}

fn the_model_is_named(incoming: &Incoming<'_>) -> Verdict {
    let has_prompt = !incoming.body["prompt"].is_null();
    demand(!incoming.model.trim().is_empty() || has_prompt, || missing("model"))
}

fn fields_have_not_moved(incoming: &Incoming<'_>) -> Verdict {
    for (old, new) in MOVED {
        demand(incoming.body.get(old).is_none(), || {
            let words = format!(
                "Unsupported parameter: '{old}'. In the Responses API, this parameter has moved to '{new}'."
            );
            Refusal::new(words).at(old).code("unsupported_parameter")
        })?;
    }
    Ok(())
}

fn fields_are_known(incoming: &Incoming<'_>) -> Verdict {
    let unknown = fields(incoming.body).find(|(name, _)| !FIELDS.contains(name));
    unknown.map_or(Ok(()), |(name, _)| {
        Err(Refusal::new(format!("Unknown parameter: '{name}'."))
            .at(name)
            .code("unknown_parameter"))
    })
}

fn there_is_one_past(incoming: &Incoming<'_>) -> Verdict {
    let (previous, conversation) =
        (&incoming.body["previous_response_id"], &incoming.body["conversation"]);
    demand(previous.is_null() || conversation.is_null(), || {
        let words = "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are only providing one of them.";
        Refusal::new(words).code("mutually_exclusive_parameters")
    })
}

fn settings_have_types(incoming: &Incoming<'_>) -> Verdict {
    let switches = ["stream", "store", "background", "parallel_tool_calls"];
    switches.iter().try_for_each(|param| boolean(incoming.body, param))?;
    settings::texts(incoming.body, &["instructions", "prompt_cache_key"])?;
    let truncation = &incoming.body["truncation"];
    let known = ["auto", "disabled"];
    demand(truncation.is_null() || known.contains(&text(truncation)), || {
        wrong_value("truncation", text(truncation), &known)
    })
}

fn numbers_are_in_range(incoming: &Incoming<'_>) -> Verdict {
    let body = incoming.body;
    number(body, "temperature", 0.0, 2.0)?;
    number(body, "top_p", 0.0, 1.0)?;
    integer(body, "max_output_tokens", 16, i64::MAX)?;
    integer(body, "max_tool_calls", 1, i64::MAX)?;
    integer(body, "top_logprobs", 0, 20)
}

fn efforts_are_known(incoming: &Incoming<'_>) -> Verdict {
    let reasoning = &incoming.body["reasoning"];
    demand(reasoning.is_null() || reasoning.is_object(), || {
        wrong_type("reasoning", "an object", reasoning)
    })?;
    settings::effort(incoming, "reasoning.effort", &reasoning["effort"])?;
    let (summary, known) = (&reasoning["summary"], ["auto", "concise", "detailed"]);
    demand(summary.is_null() || known.contains(&text(summary)), || {
        wrong_value("reasoning.summary", text(summary), &known)
    })
}

fn reasoning_models_take_no_sampling(incoming: &Incoming<'_>) -> Verdict {
    settings::sampling(incoming, &incoming.body["reasoning"]["effort"])
}

fn formats_are_known(incoming: &Incoming<'_>) -> Verdict {
    let all = &incoming.body["text"];
    demand(all.is_null() || all.is_object(), || wrong_type("text", "an object", all))?;
    let format = &incoming.body["text"]["format"];
    if format.is_null() {
        return Ok(());
    }
    let (kind, known) = (text(&format["type"]), ["text", "json_schema", "json_object"]);
    demand(known.contains(&kind), || wrong_value("text.format.type", kind, &known))?;
    if kind == "json_schema" {
        name("text.format.name", &format["name"], 64)?;
        demand(format["schema"].is_object(), || missing("text.format.schema"))?;
    }
    Ok(())
}

fn json_is_mentioned(incoming: &Incoming<'_>) -> Verdict {
    let asks = incoming.body["text"]["format"]["type"] == "json_object";
    let items = items(&incoming.body["input"]);
    let says = items.iter().any(|item| item["content"].to_string().to_lowercase().contains("json"));
    demand(!asks || says || incoming.is_partial(), || {
        let words = "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.";
        Refusal::new(words).at("input")
    })
}
