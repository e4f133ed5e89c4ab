//! The fields of the body beside the items and the tools.

use super::parts::check_cache_options;
use super::{Report, rules, text};
use crate::Vendor;
use crate::lint::model_fault;
use crate::names::Alphabet;
use crate::openai_chat::{Model, ONLY_DEFAULT};
use crate::openai_responses::{CONTINUED, FEWEST_OUTPUT_TOKENS, MOVED_FIELDS, SETTINGS, schema};
use crate::setting_type::{self, SettingType::Count};
use crate::tree::Value;

pub(super) fn check(body: &Value, vendor: &Vendor, report: &mut Report<'_>) {
    let is_stored = is_given(body, "prompt");
    if let Some((place, detail)) = model_fault(body, vendor).filter(|_| !is_stored) {
        report(&rules::MODEL, place.into(), detail.into());
    }
    for name in MOVED_FIELDS {
        if body.get(name).is_some() {
            report(&rules::MOVED_FIELDS, format!("/{name}"), String::new());
        }
    }
    check_input(body, report);
    check_cache_options(body, report);
    if CONTINUED.iter().all(|name| is_given(body, name)) {
        report(&rules::CONTINUATION, "/conversation".into(), String::new());
    }
    let n_tokens = body.get("max_output_tokens");
    setting_type::find(
        &SETTINGS,
        |name| body.get(name),
        |at, detail| {
            report(&rules::SETTING_TYPE, at, detail);
        },
    );
    let n_tokens = n_tokens.filter(|n| Count.fault(n).is_none());
    if n_tokens.is_some_and(|n| n.as_f64().is_some_and(|n| n < FEWEST_OUTPUT_TOKENS as f64)) {
        report(&rules::OUTPUT_TOKENS, "/max_output_tokens".into(), String::new());
    }
    let effort = body.pointer("/reasoning/effort").filter(|effort| !effort.is_null());
    let model = Model::named(text(body, "model").unwrap_or_default());
    let samples = model.samples(effort.map(|effort| effort.as_str().unwrap_or_default()));
    for (name, most) in [("temperature", 2.0), ("top_p", 1.0)] {
        let number = body.get(name).filter(|number| !number.is_null());
        if let Some(number) = number
            && !number.as_f64().is_some_and(|number| (0.0..=most).contains(&number))
        {
            report(&rules::RANGE, format!("/{name}"), number.to_string());
        } else if number.is_some_and(|number| !samples && number.as_f64() != Some(1.0)) {
            report(&rules::SAMPLING, format!("/{name}"), ONLY_DEFAULT.into());
        }
    }
    let refused = match effort {
        Some(effort) if !effort.is_string() => "it is no text",
        Some(_) if model.never_reasons() => "the model does not think",
        Some(effort) if model.always_reasons() && effort == "none" => "the model always thinks",
        _ => return check_format(body, report),
    };
    report(&rules::EFFORT, "/reasoning/effort".into(), refused.into());
    check_format(body, report);
}

pub(super) fn is_given(body: &Value, name: &str) -> bool {
    body.get(name).is_some_and(|value| !value.is_null())
}

fn check_input(body: &Value, report: &mut Report<'_>) {
    let continues = CONTINUED.iter().chain(&["prompt"]).any(|name| is_given(body, name));
    let is_empty = match body.get("input") {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => {
            let detail = "it is neither a text nor a list";
            return report(&rules::INPUT, "/input".into(), detail.into());
        }
    };
    if is_empty && !continues {
        report(&rules::INPUT, "/input".into(), "it is empty".into());
    }
}

fn check_format(body: &Value, report: &mut Report<'_>) {
    let Some(format) = body.get("text").and_then(|text| text.get("format")) else { return };
    if format.is_null() {
        return;
    }
    const PLACE: &str = "/text/format";
    match text(format, "type") {
        Some("json_schema") => {
            if !text(format, "name").is_some_and(|name| Alphabet::NAME.takes(name)) {
                report(
                    &rules::TEXT_FORMAT,
                    PLACE.into(),
                    "its `name` is missing or illegal".into(),
                );
            }
            match format.get("schema") {
                Some(schema @ Value::Object(_)) => {
                    if format.get("strict") == Some(&Value::Bool(true)) {
                        schema::check(schema, &format!("{PLACE}/schema"), report);
                    }
                }
                _ => report(&rules::TEXT_FORMAT, PLACE.into(), "its `schema` is missing".into()),
            }
        }
        Some("json_object") => {
            let says_json = body
                .get("input")
                .is_some_and(|input| input.to_string().to_ascii_lowercase().contains("json"));
            if !says_json {
                report(&rules::JSON_WORD, PLACE.into(), String::new());
            }
        }
        Some(_) => {}
        None => report(&rules::TEXT_FORMAT, PLACE.into(), "it has no `type`".into()),
    }
}
