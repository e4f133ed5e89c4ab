//! Which tool is to be called, in the form of any API.
//!
//! A choice in another API's form is refused, but what it means is plain. Each family reads
//! its own form first, and asks here for what it does not know.
//!
//! | form | whose |
//! |---|---|
//! | `"auto"`, `"none"`, `"required"`, `"any"` | chat, Responses, Mistral |
//! | `{"type": "function", "function": {"name": "f"}}` | chat |
//! | `{"type": "function", "name": "f"}` | Responses |
//! | `{"type": "tool", "name": "f"}`, `{"type": "any", "disable_parallel_tool_use": true}` | Anthropic |
//! | `{"any": {}}`, `{"tool": {"name": "f"}}` | Bedrock |
//! | `{"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}}` | Gemini |

use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::ToolChoice;
use crate::raw::{Fields, is_text, list, text};

/// A choice, and whether several tools may be called at once, if that is said too.
type Choice = (ToolChoice, Option<bool>);

/// The choice that a value means; nothing if it says more than we have words for.
pub(crate) fn read(raw: &RawValue) -> Option<Choice> {
    if is_text(raw) {
        return Some((named(&text(raw).ok()?.to_ascii_lowercase())?, None));
    }
    let mut fields = Fields::read(raw).ok()?;
    let parallel = match fields.take("disable_parallel_tool_use").map(RawValue::get) {
        None => None,
        Some("true") => Some(false),
        Some("false") => Some(true),
        Some(_) => return None,
    };
    let kind = fields.take_text("type").ok()?;
    let choice = match kind.as_deref() {
        Some("function" | "tool") => {
            let name = fields.take_text("name").ok()?;
            let inner = fields.take_object("function").ok()?;
            let inner = inner.and_then(|mut inner| inner.take_text("name").ok()?);
            tool(name.or(inner)?)
        }
        Some(word) => named(word)?,
        None => keyed(&mut fields)?,
    };
    fields.iter().next().is_none().then_some((choice, parallel))
}

/// The form of Bedrock, whose key says what it is, or of Gemini.
fn keyed(fields: &mut Fields<'_>) -> Option<ToolChoice> {
    for name in ["functionCallingConfig", "function_calling_config"] {
        if let Some(mut inner) = fields.take_object(name).ok()? {
            let choice = mode(&mut inner)?;
            return inner.iter().next().is_none().then_some(choice);
        }
    }
    if fields.peek("mode").is_some() {
        return mode(fields);
    }
    for word in ["auto", "any", "none"] {
        if let Some(inner) = fields.take_object(word).ok()? {
            return inner.iter().next().is_none().then(|| named(word))?;
        }
    }
    let mut inner = fields.take_object("tool").ok()??;
    let name = inner.take_text("name").ok()??;
    inner.iter().next().is_none().then(|| tool(name))
}

/// What Gemini's mode means, with the functions that it allows.
fn mode(fields: &mut Fields<'_>) -> Option<ToolChoice> {
    let mode = fields.take_text("mode").ok()??.to_ascii_lowercase();
    let allowed = ["allowedFunctionNames", "allowed_function_names"]
        .into_iter()
        .find_map(|name| fields.take(name));
    let allowed = allowed.map_or(Some(Vec::new()), |raw| list(raw).ok())?;
    match (mode.as_str(), allowed.as_slice()) {
        ("any", [only]) => Some(tool(text(only).ok()?)),
        (mode, []) => named(mode),
        _ => None,
    }
}

fn named(word: &str) -> Option<ToolChoice> {
    match word {
        "auto" => Some(ToolChoice::Auto),
        "none" => Some(ToolChoice::None),
        "required" | "any" => Some(ToolChoice::Required),
        _ => None,
    }
}

fn tool(name: impl AsRef<str>) -> ToolChoice {
    ToolChoice::Tool(SmolStr::new(name))
}
