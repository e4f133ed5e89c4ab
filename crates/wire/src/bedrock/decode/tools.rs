//! The tools that a body offers.

use std::sync::Arc;

use interleaf_model::{Json, Opaque, Tool, ToolName};
use serde_json::value::RawValue;

use super::{each, opaque, own};
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, list};
use crate::{Family, Options, foreign_choice, foreign_tool};

enum Entry {
    Tool(Tool),
    Hosted(Opaque),
    /// In the form of another API.
    Foreign(Vec<Tool>, Vec<Opaque>),
}

pub(super) fn read_tools<'a>(
    config: &mut Fields<'a>,
    options: &mut Options,
) -> Result<Vec<Tool>, Fault<'a>> {
    let mut tools = Vec::new();
    if let Some(list) = config.take("tools") {
        tools = read_list(list, options).map_err(|fault| fault.under("toolConfig"))?;
    }
    take_choice(config, &["toolChoice"], options);
    Ok(tools)
}

/// Takes the choice under one of these names, if we have words for it.
fn take_choice(fields: &mut Fields<'_>, names: &[&str], options: &mut Options) {
    for name in names {
        let choice = fields.peek(name).and_then(foreign_choice::read);
        if let Some((choice, parallel)) = choice.filter(|_| options.tool_choice.is_none()) {
            fields.take(name);
            (options.tool_choice, options.parallel_tool_calls) = (Some(choice), parallel);
        }
    }
}

/// Reads tools, and a choice, that stand where other APIs have them, if all of the tools are
/// known.
pub(super) fn read_misplaced<'a>(
    body: &mut Fields<'a>,
    options: &mut Options,
) -> Result<Vec<Tool>, Fault<'a>> {
    let all = body.peek("tools").and_then(|tools| list(tools).ok()).unwrap_or_default();
    if !all.into_iter().all(|tool| foreign_tool::form_of(tool).is_some()) {
        return Ok(Vec::new());
    }
    take_choice(body, &["tool_choice", "toolChoice"], options);
    body.take("tools").map_or(Ok(Vec::new()), |tools| read_list(tools, options))
}

fn read_list<'a>(raw: &'a RawValue, options: &mut Options) -> Result<Vec<Tool>, Fault<'a>> {
    let mut tools = Vec::new();
    for entry in each(raw, "tools", read_tool)? {
        match entry {
            Entry::Tool(tool) => tools.push(tool),
            Entry::Hosted(hosted) => options.hosted_tools.push(hosted),
            Entry::Foreign(theirs, hosted) => {
                tools.extend(theirs);
                options.hosted_tools.extend(hosted);
            }
        }
    }
    Ok(tools)
}

fn read_tool(raw: &RawValue) -> Result<Entry, Fault<'_>> {
    if let Some((tools, hosted)) = foreign_tool::read(Family::Bedrock, raw)? {
        return Ok(Entry::Foreign(tools, hosted));
    }
    let mut fields = Fields::read(raw)?;
    let Some(mut spec) = fields.take_object("toolSpec")? else {
        return Ok(Entry::Hosted(opaque(raw)));
    };
    let Some(name) = spec.take_text("name")? else {
        return Err(spec.incomplete("a tool needs `name`"));
    };
    let description = spec.take_text("description")?.map(|text| Arc::from(&*text));
    let mut extra = ObjectText::default();
    let parameters = match spec.take_object("inputSchema")? {
        None => None,
        Some(mut schema) => {
            let json = schema.take("json").map(Json::from);
            extra.push_object("inputSchema", &schema);
            json
        }
    };
    let strict = match spec.peek("strict").map(RawValue::get) {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    if strict.is_some() {
        spec.take("strict");
    }
    extra.push_all(&spec);
    let mut around = ObjectText::default();
    if let Some(extra) = extra.into_json()? {
        around.push("toolSpec", extra.as_str());
    }
    around.push_all(&fields);
    let (name, extra) = (ToolName::new(name), own(around)?);
    Ok(Entry::Tool(Tool { name, description, parameters, strict, extra }))
}
