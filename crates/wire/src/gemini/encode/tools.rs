//! The tools.

use std::borrow::Cow;

use interleaf_model::{Json, Tool};
use serde_json::value::RawValue;

use super::fields;
use crate::Error;
use crate::adjustment::AdjustmentKind;
use crate::encode::Context;
use crate::gemini::wire::{FunctionDeclaration, FunctionGroup, ToolGroup, rest_without};
use crate::gemini::{GOOGLE, lint, schema};
use crate::raw::Fields;
use crate::tree::Value;

/// The functions, then the tools that Google runs.
pub(super) fn groups<'p>(cx: &mut Context<'p>) -> Result<Vec<ToolGroup<'p>>, Error> {
    let (prompt, options) = (cx.prompt, cx.options);
    lint::check_count(prompt.tools().len())?;
    let mut groups = Vec::new();
    let function_declarations: Vec<_> =
        prompt.tools().iter().map(|tool| declaration(cx, tool)).collect();
    if !function_declarations.is_empty() {
        groups.push(ToolGroup::Functions(FunctionGroup { function_declarations }));
    }
    for hosted in &options.hosted_tools {
        if hosted.owner.as_str() == GOOGLE && hosted.value.is_object() {
            groups.push(ToolGroup::Hosted(&hosted.value));
        } else {
            let detail = format!("a tool of {}", hosted.owner);
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
        }
    }
    Ok(groups)
}

fn declaration<'p>(cx: &mut Context<'p>, tool: &'p Tool) -> FunctionDeclaration<'p> {
    let name = cx.tool_name(&tool.name);
    if let Cow::Owned(_) = name {
        cx.adjustments.add_general(AdjustmentKind::ToolNameRewritten, tool.name.as_str());
    }
    if tool.strict == Some(true) {
        let detail = format!("strict of {}", tool.name);
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
    }
    let own = fields(&tool.extra);
    let (parameters, parameters_json_schema) = schemas(cx, tool, own.as_ref());
    let known = ["name", "description", "parameters", "parametersJsonSchema"];
    FunctionDeclaration {
        name,
        description: tool.description.as_deref(),
        parameters,
        parameters_json_schema,
        rest: own.map(|own| rest_without(&own, &known)).unwrap_or_default(),
    }
}

/// The schema as `parameters`, or as `parametersJsonSchema`.
fn schemas(
    cx: &mut Context<'_>,
    tool: &Tool,
    own: Option<&Fields<'_>>,
) -> (Option<Json>, Option<Json>) {
    let Some(schema) = &tool.parameters else {
        return (None, None);
    };
    // It came in Google's words and nobody has changed it.
    let original: Option<&RawValue> = own.and_then(|own| own.peek("parameters"));
    if let Some(original) = original.map(Json::from)
        && schema::to_json_schema(&original) == *schema
        && schema::is_sound(&Value::of(original.as_str()))
    {
        return (Some(original), None);
    }
    if !schema.is_object() {
        let detail = format!("the schema of {} is not an object", tool.name);
        cx.adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
        return (None, None);
    }
    let value = Value::of(schema.as_str());
    if !schema::is_googles(&value) {
        return (None, Some(schema.clone()));
    }
    if schema::is_sound(&value) {
        return (Some(schema.clone()), None);
    }
    let detail = format!("the schema of {} is in JSON Schema's words", tool.name);
    cx.adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
    (None, Some(schema::to_json_schema(schema)))
}
