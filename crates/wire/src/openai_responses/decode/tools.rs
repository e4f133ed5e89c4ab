//! The tools that a body offers.

use interleaf_model::{Json, Opaque, Tool, ToolName, VendorName};
use serde_json::value::RawValue;

use super::rest;
use crate::error::Fault;
use crate::openai_responses::OWNER;
use crate::raw::Fields;
use crate::{Family, foreign_tool};

type Tools = (Vec<Tool>, Vec<Opaque>);

/// The functions, and the tools that the vendor runs itself.
pub(super) fn tools<'a>(body: &mut Fields<'a>) -> Result<Tools, Fault<'a>> {
    let (mut functions, mut hosted) = (Vec::new(), Vec::new());
    for (i, raw) in body.take_list("tools")?.into_iter().enumerate() {
        let inside = |fault: Fault<'a>| fault.under(&format!("tools[{i}]"));
        let foreign = foreign_tool::read(Family::OpenaiResponses, raw).map_err(inside)?;
        if let Some((theirs, run)) = foreign {
            functions.extend(theirs);
            hosted.extend(run);
            continue;
        }
        match function(raw).map_err(inside)? {
            Some(function) => functions.push(function),
            None => {
                hosted.push(Opaque { owner: VendorName::new(OWNER), value: Json::from(raw) });
            }
        }
    }
    Ok((functions, hosted))
}

pub(super) fn function(raw: &RawValue) -> Result<Option<Tool>, Fault<'_>> {
    let mut fields = Fields::read(raw)?;
    let is_function = match fields.take("type") {
        Some(kind) => kind.get() == r#""function""#,
        None => foreign_tool::is_in_form(Family::OpenaiResponses, raw),
    };
    is_function.then(|| read_function(&mut fields)).transpose()
}

fn read_function<'a>(fields: &mut Fields<'a>) -> Result<Tool, Fault<'a>> {
    let name = fields.take_text("name")?;
    let name = name.ok_or_else(|| fields.incomplete("a function needs `name`"))?;
    let description = fields.take_text("description")?.map(|text| text.as_ref().into());
    let parameters = fields.take("parameters").map(Json::from);
    let strict = match fields.peek("strict").map(RawValue::get) {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    if strict.is_some() {
        fields.take("strict");
    }
    Ok(Tool { name: ToolName::new(name), description, parameters, strict, extra: rest(fields)? })
}
