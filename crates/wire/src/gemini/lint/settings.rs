//! The settings.

use serde_json::value::RawValue;

use super::Field;
use super::rules::*;
use super::tools::check_schema;
use crate::gemini::schema;
use crate::gemini::wire::peek;
use crate::gemini::{CONFIG_SETTINGS, LEVELS, SETTINGS, models};
use crate::lint::Faults;
use crate::raw::Fields;
use crate::setting_type::{Settings, count_or_digits};
use crate::tree::Value;

/// No level at all.
const UNSPECIFIED: &str = "THINKING_LEVEL_UNSPECIFIED";

/// Types of answers that a schema can stand with.
const SCHEMED: &[&str] = &["application/json", "text/x.enum"];

/// Whether a budget or a level, under its name in a `thinkingConfig`, can be sent.
pub(in crate::gemini) fn is_sound_thinking(name: &str, value: &RawValue) -> bool {
    let config = Value::under(name, Value::of(value.get()));
    thinking_fault(&Field { value: &config, at: String::new() }).is_none()
}

/// Whether what a `generationConfig` says of the form of the answer can be sent.
pub(in crate::gemini) fn is_sound_format(config: &Fields<'_>) -> bool {
    let value =
        |name| peek(config, name).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let googles = value("responseSchema");
    let mut is_sound = true;
    if let Some(googles) = &googles {
        schema::check(googles, "", false, &mut |_, _, _| is_sound = false);
    }
    let mime = value("responseMimeType");
    let n_schemas =
        usize::from(googles.is_some()) + usize::from(value("responseJsonSchema").is_some());
    let is_schemed = mime.as_ref().and_then(Value::as_str).is_some_and(|m| SCHEMED.contains(&m));
    is_sound && (n_schemas == 0 || (n_schemas == 1 && is_schemed))
}

pub(super) fn check(body: &Field<'_>, faults: &mut Faults) {
    check_types(body, &SETTINGS, faults);
    let Some(config) = body.get("generationConfig") else {
        return;
    };
    check_types(&config, &CONFIG_SETTINGS, faults);
    let googles = config.get("responseSchema");
    let json_schema = config.get("responseJsonSchema");
    let is_schemed = config.text("responseMimeType").is_some_and(|mime| SCHEMED.contains(&mime));
    if let (Some(_), Some(second)) = (&googles, &json_schema) {
        faults.add(&RESPONSE_FORMAT, second.at.clone(), "there are two schemas");
    }
    if let Some(schema) = googles.as_ref().or(json_schema.as_ref())
        && !is_schemed
    {
        faults.add(&RESPONSE_FORMAT, schema.at.clone(), "responseMimeType is another");
    }
    let has_functions =
        body.list("tools").iter().any(|group| !group.list("functionDeclarations").is_empty());
    if config.text("responseMimeType") == Some("application/json")
        && has_functions
        && named_model(body).is_some_and(models::refuses_format_with_functions)
    {
        faults.add(&FORMAT_TOOLS, format!("{}/responseMimeType", config.at), "");
    }
    for (name, most) in [("temperature", 2.0), ("topP", 1.0), ("topK", f64::INFINITY)] {
        if let Some(number) = config.get(name)
            && !number.value.as_f64().is_some_and(|number| (0.0..=most).contains(&number))
        {
            faults.add(&RANGE, number.at, number.value.to_string());
        }
    }
    if let Some(most) = config.get("maxOutputTokens")
        && let Some(count) = count_or_digits(most.value)
        && !(1..=i32::MAX as u64).contains(&count)
    {
        faults.add(&OUTPUT_TOKENS, most.at, format!("it is {count}"));
    }
    if let Some(schema) = googles {
        check_schema(&schema, false, faults);
    }
    if let Some(thinking) = config.get("thinkingConfig")
        && let Some((at, detail)) = thinking_fault(&thinking)
            .or_else(|| refused_thinking(&thinking, named_model(body).unwrap_or_default()))
    {
        faults.add(&THINKING_CONFIG, at, detail);
    }
}

fn check_types(object: &Field<'_>, settings: &Settings, faults: &mut Faults) {
    for (name, wanted) in settings {
        let Some(field) = object.get(name) else { continue };
        if let Some(wrong) = wanted.fault(field.value) {
            faults.add(&SETTING_TYPE, format!("{}{}", field.at, wrong.path()), wrong.detail);
        }
    }
}

/// What the model does not take, of a config that others would.
fn refused_thinking(config: &Field<'_>, model: &str) -> Option<(String, String)> {
    let budget = config.get("thinkingBudget");
    let level =
        config.get("thinkingLevel").filter(|level| level.value.as_str() != Some(UNSPECIFIED));
    let shown = config.get("includeThoughts").filter(|shown| shown.value == &Value::Bool(true));
    let (setting, why) = match (budget.or(shown.filter(|_| models::never_thinks(model))), level) {
        (Some(setting), _) | (_, Some(setting)) if models::never_thinks(model) => {
            (setting, "the model does not think")
        }
        (_, Some(level)) if models::has_only_budgets(model) => (level, "the model has no levels"),
        (Some(budget), _) if models::is_gemini_3(model) && budget.value.as_u64() == Some(0) => {
            (budget, "the model always thinks")
        }
        _ => return None,
    };
    Some((setting.at, why.to_owned()))
}

fn thinking_fault(config: &Field<'_>) -> Option<(String, String)> {
    if !config.value.is_object() {
        return Some((config.at.clone(), "it is not an object".to_owned()));
    }
    let budget = config.get("thinkingBudget");
    let level = config.get("thinkingLevel");
    if let (Some(_), Some(level)) = (&budget, &level) {
        return Some((level.at.clone(), "there is a budget as well".to_owned()));
    }
    if let Some(budget) = budget.filter(|b| b.value.as_i64().is_none_or(|budget| budget < -1)) {
        return Some((budget.at, budget.value.to_string()));
    }
    let known = |level: &Field<'_>| {
        let word = level.value.as_str().map(str::to_ascii_uppercase);
        let mut known = LEVELS.iter().map(|(_, word)| *word).chain([UNSPECIFIED]);
        known.any(|known| word.as_deref() == Some(known))
    };
    level.filter(|level| !known(level)).map(|level| (level.at, level.value.to_string()))
}

/// The model that a body names. Most do not: the address does.
pub(super) fn named_model<'v>(body: &Field<'v>) -> Option<&'v str> {
    body.text("model").filter(|name| !name.is_empty())
}

/// Whether a body tells that it is for Gemini 3 or later: by its name, or by a setting
/// that no earlier model has.
pub(super) fn names_gemini_3(body: &Field<'_>) -> bool {
    let thinking = body.get("generationConfig").and_then(|config| config.get("thinkingConfig"));
    match named_model(body) {
        Some(name) => models::is_gemini_3(name),
        None => thinking.is_some_and(|thinking| thinking.get("thinkingLevel").is_some()),
    }
}
