//! The tools and the choice of them.

use super::Field;
use super::rules::*;
use super::settings::named_model;
use crate::Error;
use crate::Vendor;
use crate::gemini::schema::{self, Wrong};
use crate::gemini::{NAMES, models};
use crate::lint::Faults;
use crate::tree::Value;

/// The most functions of a request.
pub(in crate::gemini) const MOST_FUNCTIONS: usize = 512;

/// Refuses to write more functions than the API takes.
pub(in crate::gemini) fn check_count(n_functions: usize) -> Result<(), Error> {
    FUNCTION_COUNT.limit(n_functions, MOST_FUNCTIONS, "functions")
}

/// The modes of choice.
const MODES: &[&str] = &["AUTO", "ANY", "NONE", "VALIDATED", "MODE_UNSPECIFIED"];

/// Whether a `toolConfig` can go beside these functions.
pub(in crate::gemini) fn is_sound_choice(config: &Value, functions: &[&str]) -> bool {
    let config = Field { value: config, at: String::new() };
    let mut is_sound = true;
    check_choice(&config, functions, &mut |_, _, _| is_sound = false);
    is_sound
}

pub(super) fn check(body: &Field<'_>, vendor: &Vendor, faults: &mut Faults) {
    let groups = body.list("tools");
    let functions: Vec<Field<'_>> =
        groups.iter().flat_map(|group| group.list("functionDeclarations")).collect();
    for function in &functions {
        check_function(function, faults);
    }
    if functions.len() > MOST_FUNCTIONS {
        let detail = format!("there are {}", functions.len());
        faults.add(&FUNCTION_COUNT, format!("{}/tools", body.at), detail);
    }
    let names: Vec<&str> = functions.iter().filter_map(|f| f.text("name")).collect();
    if let Some(config) = body.get("toolConfig") {
        check_choice(&config, &names, &mut |rule, at, detail| faults.add(rule, at, detail));
    }
    check_mixed(body, vendor, &groups, faults);
    if let Some(cached) = body.get("cachedContent") {
        for name in ["systemInstruction", "tools", "toolConfig"] {
            if body.get(name).is_some() {
                faults.add(&CACHED_CONTENT, cached.at.clone(), format!("there is {name}"));
            }
        }
    }
}

fn check_function(function: &Field<'_>, faults: &mut Faults) {
    let name = function.text("name").unwrap_or_default();
    if !NAMES.takes(name) {
        faults.add(&FUNCTION_NAME, format!("{}/name", function.at), format!("{name:?}"));
    }
    let parameters = function.get("parameters");
    let json_schema = function.get("parametersJsonSchema");
    for schema in [&parameters, &json_schema].into_iter().flatten() {
        if !schema.value.is_object() {
            faults.add(&SCHEMA_OBJECT, schema.at.clone(), "");
        }
    }
    if let Some(parameters) = parameters {
        check_schema(&parameters, true, faults);
    }
}

pub(super) fn check_schema(schema: &Field<'_>, parameters: bool, faults: &mut Faults) {
    schema::check(schema.value, &schema.at, parameters, &mut |wrong, at, detail| {
        let rule = match wrong {
            Wrong::Keyword => &SCHEMA_KEYWORD,
            Wrong::Type => &SCHEMA_TYPE,
            Wrong::Enum => &SCHEMA_ENUM,
            Wrong::Parameter => &PARAMETER_NAME,
        };
        faults.add(rule, at, detail);
    });
}

fn check_choice(
    config: &Field<'_>,
    functions: &[&str],
    found: &mut dyn FnMut(&'static crate::lint::Rule, String, String),
) {
    let Some(calling) = config.get("functionCallingConfig") else {
        return;
    };
    if functions.is_empty() {
        found(&CHOICE_WITHOUT_FUNCTIONS, calling.at.clone(), String::new());
    }
    let mode = calling.get("mode");
    let name = mode.as_ref().and_then(|mode| mode.value.as_str());
    if let Some(mode) = &mode
        && !name.is_some_and(|name| MODES.contains(&name))
    {
        found(&CHOICE_MODE, mode.at.clone(), mode.value.to_string());
    }
    let allowed = calling.list("allowedFunctionNames");
    if let Some(first) = allowed.first()
        && !matches!(name, Some("ANY" | "VALIDATED"))
    {
        found(&CHOICE_NAMES, first.at.clone(), "the mode is another".to_owned());
    }
    for allowed in allowed {
        if !allowed.value.as_str().is_some_and(|name| functions.contains(&name)) {
            let detail = format!("the request has no function {}", allowed.value);
            found(&CHOICE_NAMES, allowed.at, detail);
        }
    }
}

/// Functions beside tools that Google runs; only where the body names its model.
fn check_mixed(body: &Field<'_>, vendor: &Vendor, groups: &[Field<'_>], faults: &mut Faults) {
    let Some(name) = named_model(body).filter(|_| !vendor.quirks.vertex) else {
        return;
    };
    let has_functions = groups.iter().any(|group| !group.list("functionDeclarations").is_empty());
    let is_hosted = |key: &str| key != "functionDeclarations" && key != "function_declarations";
    let has_hosted = groups
        .iter()
        .any(|group| group.value.as_object().is_some_and(|fields| fields.keys().any(is_hosted)));
    let config = body.get("toolConfig");
    let asked = config.and_then(|config| config.get("includeServerSideToolInvocations"));
    let is_asked = asked.as_ref().is_some_and(|asked| asked.value == &Value::Bool(true));
    let is_3 = models::is_gemini_3(name);
    if has_functions && has_hosted && is_3 && !is_asked {
        faults.add(&MIXED_TOOLS, format!("{}/tools", body.at), "it is not asked for");
    } else if is_asked && !is_3 {
        let at = asked.map(|asked| asked.at).unwrap_or_default();
        faults.add(&MIXED_TOOLS, at, "the model does not know it");
    }
}
