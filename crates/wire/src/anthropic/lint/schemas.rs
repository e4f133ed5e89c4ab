//! Schemas that the model is held to.

use super::Parsed;
use super::rules::{FORMAT, STRICT, STRICT_LIMITS};
use super::tools::is_custom;
use crate::anthropic::MOST_STRICT_TOOLS;
use crate::anthropic::schema::{Tally, faults_of_subset};
use crate::lint::Faults;
use crate::tree::Value;

pub(super) fn check(parsed: &Parsed<'_>, faults: &mut Faults) {
    let mut tally = Tally::default();
    let mut n_strict = 0;
    let tools = parsed.body.get("tools").and_then(Value::as_array);
    for (i, tool) in tools.into_iter().flatten().enumerate() {
        if tool.get("strict") != Some(&Value::Bool(true)) || !is_custom(tool) {
            continue;
        }
        n_strict += 1;
        let Some(schema) = tool.get("input_schema") else { continue };
        let at = format!("/tools/{i}/input_schema");
        for (pointer, fault) in faults_of_subset(schema, &at, &mut tally) {
            faults.add(&STRICT, pointer, fault);
        }
    }
    if n_strict > MOST_STRICT_TOOLS || !tally.is_allowed() {
        faults.add(&STRICT_LIMITS, "/tools", "");
    }
    let format = parsed.body.pointer("/output_config/format").filter(|format| !format.is_null());
    let Some(format) = format else { return };
    let at = "/output_config/format";
    match format.get("schema") {
        Some(schema) if format.get("type").is_some_and(|kind| kind == "json_schema") => {
            let at = format!("{at}/schema");
            for (pointer, fault) in faults_of_subset(schema, &at, &mut Tally::default()) {
                faults.add(&FORMAT, pointer, fault);
            }
        }
        _ => faults.add(&FORMAT, at, "it must be a json_schema with a schema"),
    }
}
