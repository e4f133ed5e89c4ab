//! The tools that a body offers.

use std::sync::Arc;

use interleaf_model::{Json, Opaque, Tool, ToolName};
use serde_json::value::RawValue;

use super::settings::tool_choice;
use super::{each, opaque, own};
use crate::Options;
use crate::error::Fault;
use crate::raw::{Fields, ObjectText};

enum Entry {
    Tool(Tool),
    Hosted(Opaque),
}

pub(super) fn read_tools<'a>(
    config: &mut Fields<'a>,
    options: &mut Options,
) -> Result<Vec<Tool>, Fault<'a>> {
    let mut tools = Vec::new();
    if let Some(list) = config.take("tools") {
        let entries = each(list, "tools", read_tool).map_err(|fault| fault.under("toolConfig"))?;
        for entry in entries {
            match entry {
                Entry::Tool(tool) => tools.push(tool),
                Entry::Hosted(hosted) => options.hosted_tools.push(hosted),
            }
        }
    }
    if let Some(choice) = config.peek("toolChoice").and_then(tool_choice) {
        options.tool_choice = Some(choice);
        config.take("toolChoice");
    }
    Ok(tools)
}

fn read_tool(raw: &RawValue) -> Result<Entry, Fault<'_>> {
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
