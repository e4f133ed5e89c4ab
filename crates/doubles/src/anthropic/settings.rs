//! Rules of the body and its settings.

use serde_json::Value;

use crate::claude::claude;
use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{fields, is_blank, list, text};

pub(super) const FIRST: &[Rule] =
    rules![the_body_is_an_object, the_model_is_named, fields_are_known, max_tokens_is_given];

pub(super) const RULES: &[Rule] = rules![
    system_has_a_form,
    sampling_is_in_range,
    sampling_is_the_models,
    the_new_version_takes_no_sampling,
    stops_are_not_blank,
    efforts_are_known,
    formats_are_known,
    max_tokens_is_the_models,
];

#[rustfmt::skip]
const FIELDS: &[&str] = &[
    "model", "messages", "max_tokens", "system", "tools", "tool_choice", "thinking", "metadata",
    "stop_sequences", "stream", "temperature", "top_k", "top_p", "cache_control", "container",
    "context_management", "diagnostics", "fallbacks", "inference_geo", "mcp_servers",
    "output_config", "output_format", "service_tier", "speed", "betas", "user_profile_id",
];

fn the_body_is_an_object(incoming: &Incoming<'_>) -> Verdict {
    demand(incoming.body.is_object(), || Refusal::new("Input should be a valid dictionary"))
}

fn the_model_is_named(incoming: &Incoming<'_>) -> Verdict {
    demand(!incoming.model.trim().is_empty(), || Refusal::new("model: Field required"))
}

fn fields_are_known(incoming: &Incoming<'_>) -> Verdict {
    let unknown = fields(incoming.body).find(|(name, _)| !FIELDS.contains(name));
    unknown.map_or(Ok(()), |(name, _)| {
        Err(Refusal::new(format!("{name}: Extra inputs are not permitted")))
    })
}

fn max_tokens_is_given(incoming: &Incoming<'_>) -> Verdict {
    match &incoming.body["max_tokens"] {
        Value::Null if incoming.counts => Ok(()),
        Value::Null => Err(Refusal::new("max_tokens: Field required")),
        value => demand(value.is_u64(), || {
            let words = match value.is_i64() {
                true => "Input should be greater than or equal to 0",
                false => "Input should be a valid integer",
            };
            Refusal::new(format!("max_tokens: {words}"))
        }),
    }
}

fn system_has_a_form(incoming: &Incoming<'_>) -> Verdict {
    let system = &incoming.body["system"];
    let is_form = system.is_null() || system.is_string() || system.is_array();
    demand(is_form, || Refusal::new("system: Input should be a valid list"))?;
    for (i, block) in list(system).iter().enumerate() {
        demand(block["type"] == "text", || {
            Refusal::new(format!("system.{i}.type: Input should be 'text'"))
        })?;
    }
    Ok(())
}

fn sampling_is_in_range(incoming: &Incoming<'_>) -> Verdict {
    for name in ["temperature", "top_p"] {
        let value = &incoming.body[name];
        if value.is_null() {
            continue;
        }
        let number = value.as_f64();
        let number = number
            .ok_or_else(|| Refusal::new(format!("{name}: Input should be a valid number")))?;
        demand((0.0..=1.0).contains(&number), || Refusal::new(format!("{name}: range: 0..1")))?;
    }
    let k = &incoming.body["top_k"];
    demand(k.is_null() || k.is_u64(), || Refusal::new("top_k: Input should be a valid integer"))
}

fn sampling_is_the_models(incoming: &Incoming<'_>) -> Verdict {
    let body = incoming.body;
    let (temperature, p, k) = (&body["temperature"], &body["top_p"], &body["top_k"]);
    let thinks = ["enabled", "adaptive"].contains(&text(&body["thinking"]["type"]));
    demand(!thinks || temperature.is_null() || temperature.as_f64() == Some(1.0), || {
        Refusal::new(
            "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#important-considerations-when-using-extended-thinking'",
        )
    })?;
    demand(!thinks || p.as_f64().is_none_or(|p| p >= 0.95), || {
        Refusal::new(
            "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.",
        )
    })?;
    demand(!thinks || k.is_null(), || {
        Refusal::new("`top_k` must be unset when thinking is enabled.")
    })?;
    let Some(claude) = claude(incoming.model) else { return Ok(()) };
    for (name, value) in [("temperature", temperature), ("top_p", p)] {
        let is_usual = value.is_null() || value.as_f64() == Some(1.0);
        demand(!claude.takes_no_sampling() || is_usual, || {
            Refusal::new(format!("`{name}` is deprecated for this model."))
        })?;
    }
    demand(!claude.takes_no_sampling() || k.is_null(), || {
        Refusal::new("`top_k` is deprecated for this model.")
    })?;
    demand(!claude.takes_one_sampling() || temperature.is_null() || p.is_null(), || {
        Refusal::new(
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        )
    })
}

fn the_new_version_takes_no_sampling(incoming: &Incoming<'_>) -> Verdict {
    for name in ["temperature", "top_p", "top_k"] {
        let is_given = incoming.version == "2026-10-21" && !incoming.body[name].is_null();
        demand(!is_given, || Refusal::new(format!("{name}: Extra inputs are not permitted")))?;
    }
    Ok(())
}

fn stops_are_not_blank(incoming: &Incoming<'_>) -> Verdict {
    let stops = &incoming.body["stop_sequences"];
    demand(stops.is_null() || stops.is_array(), || {
        Refusal::new("stop_sequences: Input should be a valid list")
    })?;
    for (i, stop) in list(stops).iter().enumerate() {
        demand(stop.is_string(), || {
            Refusal::new(format!("stop_sequences.{i}: Input should be a valid string"))
        })?;
        demand(!is_blank(text(stop)), || {
            Refusal::new("stop_sequences: each stop sequence must contain non-whitespace")
        })?;
    }
    let stream = &incoming.body["stream"];
    demand(stream.is_null() || stream.is_boolean(), || {
        Refusal::new("stream: Input should be a valid boolean")
    })
}

fn efforts_are_known(incoming: &Incoming<'_>) -> Verdict {
    let effort = &incoming.body["output_config"]["effort"];
    let known = ["low", "medium", "high", "xhigh", "max"];
    demand(effort.is_null() || known.contains(&text(effort)), || {
        let words = "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'";
        Refusal::new(format!("output_config.effort: {words}"))
    })?;
    let Some(claude) = claude(incoming.model).filter(|_| !effort.is_null()) else { return Ok(()) };
    demand(claude.takes_effort(), || {
        Refusal::new("This model does not support the effort parameter.")
    })?;
    demand(claude.has_effort(text(effort)), || {
        let effort = text(effort);
        Refusal::new(format!("output_config.effort: '{effort}' is not supported on this model."))
    })
}

/// A model writes only so much.
fn max_tokens_is_the_models(incoming: &Incoming<'_>) -> Verdict {
    let most = claude(incoming.model).and_then(|claude| claude.most_tokens());
    let asked = incoming.body["max_tokens"].as_u64();
    let (Some(most), Some(asked)) = (most, asked) else { return Ok(()) };
    demand(asked <= most, || {
        let model = incoming.model;
        Refusal::new(format!(
            "max_tokens: {asked} > {most}, which is the maximum allowed number of output tokens for {model}"
        ))
    })
}

fn formats_are_known(incoming: &Incoming<'_>) -> Verdict {
    let format = &incoming.body["output_config"]["format"];
    if format.is_null() {
        return Ok(());
    }
    demand(format["type"] == "json_schema", || {
        Refusal::new("output_config.format.type: Input should be 'json_schema'")
    })?;
    demand(format["schema"].is_object(), || {
        Refusal::new("output_config.format.schema: Field required")
    })?;
    super::tools::closed("output_config.format.schema", &format["schema"])?;
    let last = list(&incoming.body["messages"]).last();
    demand(last.is_none_or(|last| last["role"] != "assistant"), || {
        Refusal::new(
            "output_config.format: prefilling the assistant's message is not supported with structured outputs",
        )
    })
}
