//! `toolConfig`: the tools, or stand-ins for those that the history names.

use std::borrow::Cow;
use std::collections::HashSet;

use interleaf_model::{PartRef, Tool, ToolName};

use super::parts::Place;
use super::settings::own_object;
use crate::adjustment::AdjustmentKind;
use crate::bedrock::lint;
use crate::bedrock::schema::{NO_ARGUMENTS, constant, object_schema};
use crate::bedrock::wire::{
    self, CachePoint, Choice, InputSchema, OWNER, Rest, ToolConfig, ToolEntry, ToolSpec, object,
};
use crate::encode::{Context, GIVES_WAY, gives_way};
use crate::raw::Fields;
use crate::{CacheMarks, Error, ToolChoice};

pub(super) fn tool_config<'a>(cx: &mut Context<'a>) -> Result<Option<ToolConfig<'a>>, Error> {
    let (prompt, options) = (cx.prompt, cx.options);
    let mut names: HashSet<Cow<'a, str>> = HashSet::new();
    let mut tools = Vec::new();
    for tool in prompt.tools() {
        let name = tool_name(cx, &tool.name);
        if !names.insert(name.clone()) {
            let detail = format!("a second tool with the name {name}");
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
            continue;
        }
        tools.push(tool_entry(cx, tool, name)?);
    }
    for hosted in &options.hosted_tools {
        let is_ours = hosted.owner.as_str() == OWNER && lint::takes_tool(&hosted.value);
        let is_mark =
            object(&hosted.value).is_some_and(|fields| fields.peek("cachePoint").is_some());
        if is_ours && gives_way(cx, &hosted.value) {
            let detail = format!("cachePoint among the tools {GIVES_WAY}");
            cx.adjustments.add_general(AdjustmentKind::FieldsDropped, detail);
        } else if is_ours && !(is_mark && tools.is_empty()) {
            tools.push(ToolEntry::Own(&hosted.value));
        } else if !is_mark {
            let detail = format!("hosted tool of {}", hosted.owner);
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
        }
    }
    if tools.is_empty() {
        declare_from_history(cx, &mut names, &mut tools)?;
    }
    let tool_choice = tool_choice(cx, &names, tools.is_empty());
    let own = own_object(options, "toolConfig");
    if tools.is_empty() {
        if own.is_some() {
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, "toolConfig");
        }
        return Ok(None);
    }
    // Nova refuses a breakpoint among the tools.
    if options.cache == CacheMarks::On && !options.model.contains("nova") {
        tools.push(ToolEntry::Mark { cache_point: CachePoint::DEFAULT });
    }
    let written: &[&str] =
        if tool_choice.is_some() { &["tools", "toolChoice"] } else { &["tools"] };
    let rest = own.map_or(Rest::NONE, |own| Rest::of_value(own, written));
    Ok(Some(ToolConfig { tools, tool_choice, rest }))
}

fn tool_name<'a>(cx: &mut Context<'_>, name: &'a ToolName) -> Cow<'a, str> {
    let written = cx.tool_name(name);
    if let Cow::Owned(written) = &written {
        let detail = format!("{name} became {written}");
        cx.adjustments.add_general(AdjustmentKind::ToolNameRewritten, detail);
    }
    written
}

fn tool_entry<'a>(
    cx: &mut Context<'_>,
    tool: &'a Tool,
    name: Cow<'a, str>,
) -> Result<ToolEntry<'a>, Error> {
    let json = match &tool.parameters {
        None => constant(NO_ARGUMENTS)?,
        Some(schema) => match object_schema(schema)? {
            None => schema.clone(),
            Some(changed) => {
                let detail = format!("the schema of {name} must be of type object");
                cx.adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
                changed
            }
        },
    };
    let inner = |written: &[&str]| Rest::inside(&tool.extra, OWNER, "toolSpec", written);
    let schema_rest = wire::own_field(&tool.extra, "toolSpec")
        .and_then(|inner| Fields::read(inner).ok()?.peek("inputSchema"))
        .map_or(Rest::NONE, |inner| Rest::of_value(inner, &["json"]));
    let tool_spec = ToolSpec {
        name,
        description: tool.description.as_deref().filter(|text| !text.trim().is_empty()),
        input_schema: InputSchema { json, rest: schema_rest },
        strict: tool.strict,
        rest: inner(&["name", "description", "inputSchema", "strict"]),
    };
    let rest = Rest::of(&tool.extra, OWNER, &["toolSpec", "systemTool", "cachePoint"]);
    Ok(ToolEntry::Spec { tool_spec, rest })
}

/// The API wants `toolConfig` whenever the history has calls: without tools they are
/// declared by the names in it.
fn declare_from_history<'a>(
    cx: &mut Context<'a>,
    names: &mut HashSet<Cow<'a, str>>,
    tools: &mut Vec<ToolEntry<'a>>,
) -> Result<(), Error> {
    let prompt = cx.prompt;
    let mut declared = String::new();
    for name in prompt.messages().flat_map(|message| message.parts()).filter_map(called) {
        let name = match name {
            Cow::Borrowed(name) => cx.tool_name(name),
            Cow::Owned(name) => Cow::Owned(name.as_str().to_owned()),
        };
        if !names.insert(name.clone()) {
            continue;
        }
        declared += if declared.is_empty() { "" } else { ", " };
        declared += &name;
        let input_schema = InputSchema { json: constant(NO_ARGUMENTS)?, rest: Rest::NONE };
        let (description, strict, rest) = (None, None, Rest::NONE);
        let tool_spec = ToolSpec { name, description, input_schema, strict, rest };
        tools.push(ToolEntry::Spec { tool_spec, rest: Rest::NONE });
    }
    if !tools.is_empty() {
        cx.adjustments.add_general(AdjustmentKind::ToolsDeclared, declared);
    }
    Ok(())
}

/// The tool that a part calls, be it one that the API runs itself, in a part that is
/// given back as it came.
fn called(part: PartRef<'_>) -> Option<Cow<'_, ToolName>> {
    match part {
        PartRef::Call(call) => Some(Cow::Borrowed(&call.name)),
        PartRef::Opaque(opaque) if opaque.owner.as_str() == OWNER => {
            wire::raw(&opaque.value).filter(|raw| lint::takes_block(raw, Place::Assistant))?;
            let mut call = object(&opaque.value)?.take_object("toolUse").ok()??;
            Some(Cow::Owned(ToolName::new(call.take_text("name").ok()??)))
        }
        _ => None,
    }
}

fn tool_choice<'a>(
    cx: &mut Context<'a>,
    names: &HashSet<Cow<'a, str>>,
    is_without_tools: bool,
) -> Option<Choice<'a>> {
    let options = cx.options;
    let choice = options.tool_choice.as_ref()?;
    let is_forced = matches!(choice, ToolChoice::Required | ToolChoice::Tool(_));
    let written = match choice {
        _ if is_without_tools => None,
        _ if is_forced && !cx.vendor.quirks.forced_tools => None,
        ToolChoice::Auto => Some(Choice::Auto {}),
        ToolChoice::Required => Some(Choice::Any {}),
        ToolChoice::Tool(name) => {
            let name = Cow::Owned(cx.wire_names().write(&ToolName::new(name)).into_owned());
            names.contains(&name).then_some(Choice::Tool { name })
        }
        // There is no such choice; the tools must stay for the history's sake.
        ToolChoice::None => None,
    };
    let is_void = matches!(choice, ToolChoice::Auto | ToolChoice::None) && is_without_tools;
    if written.is_none() && !is_void {
        let detail = match choice {
            ToolChoice::Tool(name) => format!("tool_choice {name}"),
            ToolChoice::Auto => "tool_choice auto".to_owned(),
            ToolChoice::Required => "tool_choice required".to_owned(),
            ToolChoice::None => "tool_choice none".to_owned(),
        };
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
    }
    written
}
