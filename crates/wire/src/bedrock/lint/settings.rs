//! Faults in settings.

use serde_json::value::RawValue;

use super::Report;
use super::rules::{
    INFERENCE_CONFIG, ONE_SAMPLING, OUTPUT_FORMAT, SAMPLING, SETTING_TYPE, THINKING,
};
use crate::anthropic::{LEAST_BUDGET, Model, sampling_fault, surplus_sampling, thinking_fault};
use crate::bedrock::encode::MOST_STOPS;
use crate::bedrock::models::never_thinks;
use crate::bedrock::{INFERENCE_SETTINGS, SETTINGS};
use crate::raw::is_object;
use crate::setting_type::{self, SettingType::Count};
use crate::tree::Value;

pub(super) fn check(body: &Value, model: &str, report: &mut Report<'_>) {
    check_thinking(body, model, report);
    let at = "/inferenceConfig";
    let setting = |name: &str| body.pointer(&format!("{at}/{name}"));
    setting_type::find(
        &SETTINGS,
        |name| body.get(name),
        |place, detail| {
            report(&SETTING_TYPE, place, detail);
        },
    );
    setting_type::find(&INFERENCE_SETTINGS, setting, |place, detail| {
        report(&SETTING_TYPE, format!("{at}{place}"), detail);
    });
    if setting("maxTokens").is_some_and(|most| {
        Count.fault(most).is_none() && most.as_u64().is_none_or(|most| most < 1)
    }) {
        report(&INFERENCE_CONFIG, format!("{at}/maxTokens"), String::new());
    }
    for name in ["temperature", "topP"] {
        let in_unit = |value: &Value| value.as_f64().is_some_and(|n| (0.0..=1.0).contains(&n));
        if setting(name).is_some_and(|value| !value.is_null() && !in_unit(value)) {
            report(&INFERENCE_CONFIG, format!("{at}/{name}"), String::new());
        }
    }
    let number = |name: &str| setting(name).and_then(Value::as_f64);
    if let Some(name) = surplus_sampling(Model::named(model), number("temperature"), number("topP"))
    {
        let name = if name == "top_p" { "topP" } else { name };
        report(&ONE_SAMPLING, format!("{at}/{name}"), String::new());
    }
    let stops = setting("stopSequences").and_then(Value::as_array).unwrap_or_default();
    if stops.len() > MOST_STOPS || stops.iter().any(|stop| stop == "") {
        report(&INFERENCE_CONFIG, format!("{at}/stopSequences"), String::new());
    }
    let at = "/outputConfig/textFormat";
    if let Some(format) = body.pointer(at) {
        check_text_format(format, at, report);
    }
}

/// What a model that the body names makes of thinking. Mostly the address names it.
fn check_thinking(body: &Value, model: &str, report: &mut Report<'_>) {
    let at = "/additionalModelRequestFields/thinking";
    let asked = body.pointer(at).filter(|asked| !asked.is_null());
    if asked.is_some() && never_thinks(model) {
        report(&THINKING, at.to_owned(), String::new());
    }
    if !model.contains("claude") {
        return;
    }
    let kind = asked.and_then(|asked| asked["type"].as_str());
    if let Some(fault) = kind.and_then(|kind| thinking_fault(Model::named(model), kind)) {
        report(&THINKING, at.to_owned(), fault.to_owned());
    }
    let budget = asked.and_then(|asked| asked["budget_tokens"].as_u64()).unwrap_or_default();
    let most = body.pointer("/inferenceConfig/maxTokens").and_then(Value::as_u64);
    let is_short = budget < LEAST_BUDGET || most.is_some_and(|most| budget >= most);
    if kind == Some("enabled") && is_short {
        report(&THINKING, format!("{at}/budget_tokens"), budget.to_string());
    }
    let is_thinking = matches!(kind, Some("enabled" | "adaptive"));
    for (name, neutral) in [("temperature", "temperature"), ("topP", "top_p")] {
        let at = format!("/inferenceConfig/{name}");
        let number = body.pointer(&at).and_then(Value::as_f64);
        // What lies outside of every range breaks another rule.
        let number = number.filter(|number| (0.0..=1.0).contains(number));
        let fault = number
            .and_then(|number| sampling_fault(neutral, number, Model::named(model), is_thinking));
        if let Some(fault) = fault {
            report(&SAMPLING, at, fault.to_owned());
        }
    }
}

pub(super) fn check_text_format(format: &Value, at: &str, report: &mut Report<'_>) {
    let inner = "/structure/jsonSchema";
    if format.is_null() {
        return;
    }
    if format.get("type").and_then(Value::as_str) != Some("json_schema") {
        report(&OUTPUT_FORMAT, format!("{at}/type"), "it is json_schema".to_owned());
    }
    let text = format.pointer(&format!("{inner}/schema")).and_then(Value::as_str);
    // Numbers may be larger than ours are.
    let parsed: Option<&RawValue> = serde_json::from_str(text.unwrap_or_default()).ok();
    if !parsed.is_some_and(is_object) {
        report(&OUTPUT_FORMAT, format!("{at}{inner}/schema"), String::new());
    }
}
