//! Faults in settings.

use serde_json::Value;
use serde_json::value::RawValue;

use super::Report;
use super::rules::{INFERENCE_CONFIG, ONE_SAMPLING, OUTPUT_FORMAT};
use crate::anthropic::{Model, surplus_sampling};
use crate::bedrock::encode::MOST_STOPS;
use crate::raw::is_object;

pub(super) fn check(body: &Value, report: &mut Report<'_>) {
    let at = "/inferenceConfig";
    let setting = |name: &str| body.pointer(&format!("{at}/{name}"));
    if setting("maxTokens").is_some_and(|most| most.as_u64().is_none_or(|most| most < 1)) {
        report(&INFERENCE_CONFIG, format!("{at}/maxTokens"), String::new());
    }
    for name in ["temperature", "topP"] {
        let in_unit = |value: &Value| value.as_f64().is_some_and(|n| (0.0..=1.0).contains(&n));
        if setting(name).is_some_and(|value| !in_unit(value)) {
            report(&INFERENCE_CONFIG, format!("{at}/{name}"), String::new());
        }
    }
    let number = |name: &str| setting(name).and_then(Value::as_f64);
    let model = Model::named(body["modelId"].as_str().unwrap_or_default());
    if let Some(name) = surplus_sampling(model, number("temperature"), number("topP")) {
        let name = if name == "top_p" { "topP" } else { name };
        report(&ONE_SAMPLING, format!("{at}/{name}"), String::new());
    }
    let is_stop = |stop: &Value| stop.as_str().is_some_and(|stop| !stop.is_empty());
    let are_stops = |stops: &Value| {
        stops.as_array().is_some_and(|stops| stops.len() <= MOST_STOPS && stops.iter().all(is_stop))
    };
    if setting("stopSequences").is_some_and(|stops| !are_stops(stops)) {
        report(&INFERENCE_CONFIG, format!("{at}/stopSequences"), String::new());
    }
    let at = "/outputConfig/textFormat";
    if let Some(format) = body.pointer(at) {
        check_text_format(format, at, report);
    }
}

pub(super) fn check_text_format(format: &Value, at: &str, report: &mut Report<'_>) {
    let inner = "/structure/jsonSchema";
    if let Some(schema) = format.pointer(inner) {
        let text = schema.get("schema").and_then(Value::as_str).unwrap_or_default();
        // Numbers may be larger than ours are.
        let parsed: Option<&RawValue> = serde_json::from_str(text).ok();
        if !parsed.is_some_and(is_object) {
            report(&OUTPUT_FORMAT, format!("{at}{inner}/schema"), String::new());
        }
    }
}
