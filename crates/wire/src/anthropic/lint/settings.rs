//! The fields of the body beside messages and tools.

use super::Parsed;
use super::rules::{
    BODY, BUDGET, EFFORT, FORMAT_ALONE, MAX_TOKENS, MODE, MODEL, MOST_TOKENS, ONE_SAMPLING,
    SAMPLING, SETTING_TYPE, STOP,
};
use crate::anthropic::{
    LEAST_BUDGET, SETTINGS, is_blank, sampling_fault, surplus_sampling, thinking_fault,
};
use crate::lint::{self, Faults};
use crate::setting_type::{self, SettingType::Count};
use crate::tree::Value;
use crate::{Effort, Vendor};

pub(super) fn check(parsed: &Parsed<'_>, vendor: &Vendor, faults: &mut Faults) {
    let body = parsed.body;
    // Clouds that serve Claude name the model in the address, and the version here.
    let is_in_cloud = body.get("anthropic_version").is_some();
    if let Some((place, detail)) = lint::model_fault(body, vendor).filter(|_| !is_in_cloud) {
        faults.add(&MODEL, place, detail);
    }
    if body.get("messages").is_none_or(|messages| !messages.is_array()) {
        faults.add(&BODY, "", "it needs a list `messages`");
    }
    match body.get("max_tokens") {
        None => faults.add(&MAX_TOKENS, "", ""),
        Some(max) if Count.fault(max).is_some() => {}
        Some(max) if max.as_u64().is_none() => {
            faults.add(&MAX_TOKENS, "/max_tokens", max.to_string());
        }
        Some(max) => {
            let most = parsed.model.most_tokens();
            if let Some(most) = most.filter(|most| max.as_u64() > Some(*most)) {
                faults.add(&MOST_TOKENS, "/max_tokens", format!("{max} > {most}"));
            }
        }
    }
    setting_type::find(
        &SETTINGS,
        |name| body.get(name),
        |at, detail| {
            faults.add(&SETTING_TYPE, at, detail);
        },
    );
    sampling(parsed, faults);
    let stops = body.get("stop_sequences").and_then(Value::as_array);
    for (i, stop) in stops.into_iter().flatten().enumerate() {
        if stop.as_str().is_some_and(is_blank) {
            faults.add(&STOP, format!("/stop_sequences/{i}"), "");
        }
    }
    thinking(parsed, faults);
    effort(parsed, faults);
    format_alone(parsed, faults);
}

fn sampling(parsed: &Parsed<'_>, faults: &mut Faults) {
    let is_thinking = matches!(parsed.thinking(), Some("enabled" | "adaptive"));
    for name in ["temperature", "top_p", "top_k"] {
        let Some(number) = parsed.body.get(name).and_then(Value::as_f64) else { continue };
        if let Some(fault) = sampling_fault(name, number, parsed.model, is_thinking) {
            faults.add(&SAMPLING, format!("/{name}"), fault);
        }
    }
    let number = |name: &str| parsed.body.get(name).and_then(Value::as_f64);
    let surplus = surplus_sampling(parsed.model, number("temperature"), number("top_p"));
    if let Some(name) = surplus {
        faults.add(&ONE_SAMPLING, format!("/{name}"), "");
    }
}

fn thinking(parsed: &Parsed<'_>, faults: &mut Faults) {
    let Some(setting) = parsed.body.get("thinking").filter(|setting| !setting.is_null()) else {
        return;
    };
    let effort = parsed.body.pointer("/output_config/effort").and_then(Value::as_str);
    let is_hard = matches!(effort, Some("xhigh" | "max"));
    let refused = match parsed.thinking() {
        None => Some("it needs a type"),
        Some("disabled") if is_hard && parsed.model.needs_thinking_for_effort() => {
            Some("the model thinks at this effort")
        }
        Some(kind) => thinking_fault(parsed.model, kind),
    };
    if let Some(refused) = refused {
        faults.add(&MODE, "/thinking", refused);
    }
    if parsed.thinking() == Some("enabled") {
        let budget = setting.get("budget_tokens").and_then(Value::as_u64);
        let max_tokens = parsed.body.get("max_tokens").and_then(Value::as_u64);
        let is_in_range = budget.is_some_and(|budget| {
            budget >= LEAST_BUDGET && max_tokens.is_none_or(|max_tokens| budget < max_tokens)
        });
        if !is_in_range {
            faults.add(&BUDGET, "/thinking/budget_tokens", "");
        }
    }
}

fn effort(parsed: &Parsed<'_>, faults: &mut Faults) {
    let word = parsed.body.pointer("/output_config/effort").and_then(Value::as_str);
    // Words that are not known here may be known to the model.
    if let Some(effort) = word.and_then(Effort::named)
        && parsed.model.nearest_effort(effort) != Some(effort)
    {
        faults.add(&EFFORT, "/output_config/effort", effort.as_str());
    }
}

fn format_alone(parsed: &Parsed<'_>, faults: &mut Faults) {
    let format = parsed.body.pointer("/output_config/format").filter(|format| !format.is_null());
    if format.is_none() {
        return;
    }
    if parsed.is_prefilled() {
        faults.add(
            &FORMAT_ALONE,
            "/output_config/format",
            "the last message is an assistant message",
        );
    }
    for block in parsed.messages.iter().flat_map(|message| &message.blocks) {
        if block.value.pointer("/citations/enabled") == Some(&Value::Bool(true)) {
            faults.add(&FORMAT_ALONE, format!("{}/citations", block.at), "");
        }
    }
}
