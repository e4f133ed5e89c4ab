//! From function declarations to tools.

use std::sync::Arc;

use interleaf_model::{Json, Opaque, Tool, ToolName, VendorName};
use serde_json::value::RawValue;

use super::extra;
use crate::error::Fault;
use crate::gemini::wire::take;
use crate::gemini::{GOOGLE, schema};
use crate::raw::{Fields, ObjectText, list};
use crate::{Family, foreign_tool};

/// The functions, and the tools that Google runs.
pub(super) fn read<'a>(fields: &mut Fields<'a>) -> Result<(Vec<Tool>, Vec<Opaque>), Fault<'a>> {
    let (mut tools, mut hosted) = (Vec::new(), Vec::new());
    for (i, raw) in fields.take_list("tools")?.into_iter().enumerate() {
        let inside = |fault: Fault<'a>| fault.under(&format!("tools[{i}]"));
        if let Some((theirs, run)) = foreign_tool::read(Family::Gemini, raw).map_err(inside)? {
            tools.extend(theirs);
            hosted.extend(run);
            continue;
        }
        let read = group(raw, &mut tools).map_err(inside)?;
        hosted.extend(read.map(|value| Opaque { owner: VendorName::new(GOOGLE), value }));
    }
    Ok((tools, hosted))
}

/// Adds the functions of a group, and gives what else is in it.
fn group<'a>(raw: &'a RawValue, tools: &mut Vec<Tool>) -> Result<Option<Json>, Fault<'a>> {
    let mut fields = Fields::read(raw)?;
    if let Some(raw) = take(&mut fields, "functionDeclarations") {
        let declarations = list(raw).map_err(|fault| fault.under("functionDeclarations"))?;
        for (i, raw) in declarations.into_iter().enumerate() {
            let place = format!("functionDeclarations[{i}]");
            tools.push(tool(raw).map_err(|fault| fault.under(&place))?);
        }
    }
    let mut rest = ObjectText::default();
    rest.push_all(&fields);
    Ok(rest.into_json()?)
}

fn tool(raw: &RawValue) -> Result<Tool, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    let Some(name) = fields.take_text("name")? else {
        return Err(fields.incomplete("a function needs `name`"));
    };
    let description = fields.take_text("description")?.map(Arc::from);
    let parameters = match take(&mut fields, "parametersJsonSchema") {
        Some(raw) => Some(Json::from(raw)),
        // It stays where it is, so that it can go back in Google's words.
        None => fields.peek("parameters").map(|raw| schema::to_json_schema(&Json::from(raw))),
    };
    let mut own = ObjectText::default();
    own.push_all(&fields);
    let name = ToolName::new(name);
    Ok(Tool { name, description, parameters, strict: None, extra: extra(own)? })
}
