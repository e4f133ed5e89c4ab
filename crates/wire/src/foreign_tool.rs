//! Tools in the form of another API.
//!
//! Such a tool is refused, but what it means is plain: it is read as its own API reads it.

use interleaf_model::{Opaque, Tool};
use serde_json::value::RawValue;

use crate::error::Fault;
use crate::raw::{Fields, is_object, is_text};
use crate::tree;
use crate::{Family, decode_tools};

/// The tools that another family's form describes, and those that its vendor runs; nothing
/// if the form is this family's own, or nobody's.
pub(crate) fn read(own: Family, raw: &RawValue) -> Result<Option<Tools>, Fault<'_>> {
    let Some(family) = form_of(raw).filter(|family| *family != own) else { return Ok(None) };
    let tools = decode_tools(family, &format!("[{}]", raw.get()));
    tools.map(Some).map_err(|error| Fault::form(raw, error.message()))
}

/// Functions, and tools that a vendor runs.
type Tools = (Vec<Tool>, Vec<Opaque>);

/// The family in whose form a tool is described, if that can be seen.
pub(crate) fn form_of(raw: &RawValue) -> Option<Family> {
    let fields = Fields::read(raw).ok()?;
    let has = |name: &str| fields.peek(name).is_some();
    let is = |name: &str, form: fn(&RawValue) -> bool| fields.peek(name).is_some_and(form);
    let is_function = match fields.peek("type") {
        Some(kind) => kind.get() == r#""function""#,
        // A function alone, as it stands in a list of declarations.
        None => is("parameters", is_object),
    };
    if is("toolSpec", is_object) {
        Some(Family::Bedrock)
    } else if has("functionDeclarations") || has("function_declarations") {
        Some(Family::Gemini)
    } else if is("function", is_object) && !has("name") {
        Some(Family::OpenaiChat)
    } else if is("name", is_text) && has("input_schema") {
        Some(Family::Anthropic)
    } else if is("name", is_text) && is_function {
        Some(Family::OpenaiResponses)
    } else {
        None
    }
}

/// Whether a tool is described in this family's form.
pub(crate) fn is_in_form(own: Family, raw: &RawValue) -> bool {
    form_of(raw) == Some(own)
}

/// The family in whose form a tool is described, if it is another than this one.
pub(crate) fn other_form(own: Family, tool: &tree::Value) -> Option<Family> {
    let raw = serde_json::value::to_raw_value(tool).ok()?;
    form_of(&raw).filter(|family| *family != own)
}
