//! The tools that a body offers.

use interleaf_model::{Json, Opaque, Tool, ToolName, VendorName};
use serde_json::value::RawValue;

use super::{extra, parts};
use crate::anthropic::OWNER;
use crate::error::Fault;
use crate::raw::{Fields, is_object, wrong_type};
use crate::{Family, foreign_tool};

pub(super) enum Declared {
    Tool(Tool),
    Hosted(Opaque),
    /// In the form of another API.
    Foreign(Vec<Tool>, Vec<Opaque>),
}

/// A tool with a schema is the caller's, whatever else it says.
pub(super) fn read_tool(raw: &RawValue) -> Result<Declared, Fault<'_>> {
    if let Some((tools, hosted)) = foreign_tool::read(Family::Anthropic, raw)? {
        return Ok(Declared::Foreign(tools, hosted));
    }
    let mut fields = Fields::read(raw)?;
    let is_custom = match fields.peek("type") {
        None => true,
        Some(kind) => kind.get() == r#""custom""#,
    };
    if !is_custom {
        let owner = VendorName::new(OWNER);
        return Ok(Declared::Hosted(Opaque { owner, value: Json::from(raw) }));
    }
    let Some(name) = fields.take_text("name")? else {
        return Err(fields.incomplete("a tool needs `name`"));
    };
    let description = fields.take_text("description")?.map(Into::into);
    let parameters = match fields.take("input_schema") {
        Some(schema) if !is_object(schema) => {
            return Err(wrong_type(schema, "an object").under("input_schema"));
        }
        schema => schema.map(Json::from),
    };
    let strict = match fields.peek("strict") {
        None => None,
        Some(_) => Some(parts::flag(&mut fields, "strict")?),
    };
    let name = ToolName::new(name);
    Ok(Declared::Tool(Tool { name, description, parameters, strict, extra: extra(&fields)? }))
}
