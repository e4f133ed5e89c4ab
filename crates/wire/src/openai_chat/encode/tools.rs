//! The model, and the tools that it may call.

use std::borrow::Cow;

use interleaf_model::Tool;

use crate::adjustment::AdjustmentKind;
use crate::encode::Context;
use crate::openai_chat::lint::{Facts, check_count, hosted_tool};
use crate::openai_chat::wire::{self, Function, Head, Rest};
use crate::openai_chat::{OPENAI, schema};
use crate::tree::Value;
use crate::{Error, ErrorKind, array_items, strict_schema};

pub(super) fn head<'a>(cx: &mut Context<'a>) -> Result<Head<'a>, Error> {
    let (prompt, options) = (cx.prompt, cx.options);
    if Facts::of(cx).refuses_tools() {
        let rule = format!(
            "{} takes no function tools on Chat Completions: use the Responses API",
            options.model
        );
        return Err(Error::new(ErrorKind::Rule, rule));
    }
    let mut tools: Vec<_> = prompt.tools().iter().map(|tool| function(cx, tool)).collect();
    for tool in &options.hosted_tools {
        match hosted_tool(tool, &cx.vendor.quirks) {
            Ok(_) => tools.push(wire::Tool::Hosted(&tool.value)),
            Err(reason) => {
                let detail = format!("a hosted tool: {reason}");
                cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
            }
        }
    }
    check_count(tools.len(), cx.vendor)?;
    Ok(Head { model: &options.model, tools })
}

pub(super) fn function<'a>(cx: &mut Context<'_>, tool: &'a Tool) -> wire::Tool<'a> {
    let quirks = cx.vendor.quirks;
    let name = cx.tool_name(&tool.name);
    if let Cow::Owned(name) = &name {
        let detail = format!("{} is {name}", tool.name);
        cx.adjustments.add_general(AdjustmentKind::ToolNameRewritten, detail);
    }
    let mut changed = |detail: &str| {
        let detail = format!("of {}: {detail}", tool.name);
        cx.adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
    };
    let mut parameters = tool.parameters.as_ref().map(Cow::Borrowed);
    if parameters.as_ref().is_some_and(|schema| !schema::describes_object(schema)) {
        changed("it does not describe an object");
        parameters = schema::empty().map(Cow::Owned);
    }
    if quirks.native
        && let Some(typed) = parameters.as_ref().and_then(|schema| schema::typed(schema))
    {
        changed("it now names its type, object");
        parameters = Some(Cow::Owned(typed));
    }
    if quirks.native
        && let Some(added) = parameters.as_ref().and_then(|schema| array_items::added(schema))
    {
        changed("arrays that do not say what they hold may hold anything");
        parameters = Some(Cow::Owned(added));
    }
    if quirks.inline_definitions
        && let Some(inlined) = parameters.as_ref().and_then(|schema| schema::inlined(schema))
    {
        changed("the definitions are written out where they are used");
        parameters = Some(Cow::Owned(inlined));
    }
    let mut strict = tool.strict;
    if strict == Some(true) {
        let schema = parameters.as_ref().map_or(Value::Null, |schema| Value::of(schema.as_str()));
        if let Some(fault) = strict_schema::fault(&schema) {
            let (at, reason) = (fault.place, fault.detail);
            changed(&format!("the model is not held to it, because at {at:?} {reason}"));
            strict = None;
        }
    }
    let mut rest = Rest::of(&tool.extra, OPENAI, &["type"]);
    let inner = rest.take_inner("function", &["name", "description", "parameters", "strict"]);
    let description = tool.description.as_deref();
    let function = Function { name, description, parameters, strict, rest: inner };
    wire::Tool::Function { kind: "function", function, rest }
}
