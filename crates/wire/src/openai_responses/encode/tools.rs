//! The tools that the model may call.

use std::borrow::Cow;

use interleaf_model::{Json, Opaque};

use super::own::Own;
use crate::adjustment::{AdjustmentKind, Adjustments};
use crate::encode::Context;
use crate::openai_responses::wire::{Function, Tool};
use crate::openai_responses::{OWNER, schema};
use crate::raw::{Fields, ObjectText};
use crate::tree::Value;
use crate::{Error, array_items};

/// The functions, then the tools that the API runs itself.
pub(super) fn tools<'a>(cx: &mut Context<'a>) -> Result<Vec<Tool<'a>>, Error> {
    let mut tools = Vec::new();
    for tool in cx.prompt.tools() {
        let name = cx.tool_name(&tool.name);
        if matches!(name, Cow::Owned(_)) {
            cx.adjustments.add_general(AdjustmentKind::ToolNameRewritten, tool.name.as_str());
        }
        let mut parameters = parameters(tool, &mut cx.adjustments);
        if let Some(added) = array_items::added(&parameters) {
            let detail = format!(
                "of {}: arrays that do not say what they hold may hold anything",
                tool.name
            );
            cx.adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
            parameters = added;
        }
        let mut strict = tool.strict;
        if strict == Some(true) && !schema::takes(&Value::of(parameters.as_str())) {
            let detail = format!("{}: the schema is outside the strict subset", tool.name);
            cx.adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
            strict = Some(false);
        }
        tools.push(Tool::Function(Function {
            r#type: "function",
            name,
            description: tool.description.as_deref(),
            parameters,
            strict,
            extra: Own::of(&tool.extra, OWNER).rest(&[
                "type",
                "name",
                "description",
                "parameters",
                "strict",
            ]),
        }));
    }
    for hosted in &cx.options.hosted_tools {
        if is_sent(hosted) {
            tools.push(Tool::Hosted(&hosted.value));
        } else {
            let detail = format!("hosted tool of {}", hosted.owner);
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
        }
    }
    Ok(tools)
}

/// Whether a hosted tool is this API's.
pub(super) fn is_sent(tool: &Opaque) -> bool {
    let kind = Own::of_json(&tool.value).peek_text("type");
    tool.owner.as_str() == OWNER && kind.is_some_and(|kind| kind != "function")
}

/// The schema of a tool's arguments, of type object with properties: the API
/// insists on both.
fn parameters(tool: &interleaf_model::Tool, adjustments: &mut Adjustments) -> Json {
    let empty = || Json::from(&serde_json::json!({"type": "object", "properties": {}}));
    let Some(schema) = &tool.parameters else { return empty() };
    let value = Value::of(schema.as_str());
    let has_type = value.get("type").is_some_and(|kind| kind == "object");
    if has_type && value.get("properties").is_some() {
        return schema.clone();
    }
    adjustments.add_general(AdjustmentKind::SchemaChanged, tool.name.as_str());
    let Ok(fields) = Fields::read(schema.as_raw()) else { return empty() };
    let mut mended = ObjectText::default();
    mended.push("type", r#""object""#);
    if value.get("properties").is_none() {
        mended.push("properties", "{}");
    }
    for (name, value) in fields.iter().filter(|(name, _)| *name != "type") {
        mended.push(name, value.get());
    }
    mended.into_json().ok().flatten().unwrap_or_else(empty)
}
