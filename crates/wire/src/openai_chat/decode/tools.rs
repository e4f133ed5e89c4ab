//! The tools that a body offers.

use std::sync::Arc;

use interleaf_model::{Json, Opaque, Tool, ToolName, VendorName};
use serde_json::value::RawValue;

use super::{OPENAI, extra};
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_object};
use crate::{Family, foreign_tool};

/// The tools that the caller runs, and those that only the vendor knows.
pub(super) fn read_tools<'a>(
    fields: &mut Fields<'a>,
) -> Result<(Vec<Tool>, Vec<Opaque>), Fault<'a>> {
    let (mut tools, mut hosted) = (Vec::new(), Vec::new());
    for (i, raw) in fields.take_list("tools")?.into_iter().enumerate() {
        let inside = |fault: Fault<'a>| fault.under(&format!("tools[{i}]"));
        if let Some((theirs, run)) = foreign_tool::read(Family::OpenaiChat, raw).map_err(inside)? {
            tools.extend(theirs);
            hosted.extend(run);
            continue;
        }
        match read_tool(raw).map_err(inside)? {
            Some(tool) => tools.push(tool),
            None => {
                let value = Json::from(raw);
                hosted.push(Opaque { owner: VendorName::new(OPENAI), value });
            }
        }
    }
    // The deprecated form has the functions themselves.
    for (i, raw) in fields.take_list("functions")?.into_iter().enumerate() {
        let tool = Fields::read(raw)
            .and_then(|mut function| read_function(&mut function, ObjectText::default()));
        tools.push(tool.map_err(|fault| fault.under(&format!("functions[{i}]")))?);
    }
    Ok((tools, hosted))
}

fn read_tool(raw: &RawValue) -> Result<Option<Tool>, Fault<'_>> {
    let mut rest = Fields::read(raw)?;
    let is_function = match rest.peek("type") {
        Some(kind) => kind.get() == r#""function""#,
        None => rest.peek("function").is_some_and(is_object),
    };
    if !is_function {
        return Ok(None);
    }
    rest.take("type");
    let Some(mut function) = rest.take_object("function")? else {
        return Err(rest.incomplete("a function tool needs `function`, its description"));
    };
    let mut own = ObjectText::default();
    own.push_all(&rest);
    read_function(&mut function, own).map(Some)
}

/// `own` holds the fields around the function; those in it are kept below its name.
fn read_function<'a>(function: &mut Fields<'a>, mut own: ObjectText) -> Result<Tool, Fault<'a>> {
    let Some(name) = function.take_text("name")? else {
        return Err(function.incomplete("a tool needs `name`"));
    };
    let description = function.take_text("description")?.map(Arc::from);
    let parameters = function.take("parameters").map(Json::from);
    let strict = function.take_flag("strict")?;
    own.push_object("function", function);
    let extra = extra([(OPENAI, own)])?;
    Ok(Tool { name: ToolName::new(name), description, parameters, strict, extra })
}
