//! From the text of a parameter to its value, as the schema says.

use interleaf_model::Json;
use serde_json::Value;

use super::elements;
use super::text::{plain, unfenced};
use crate::exact;
use crate::schema::{Kinds, resolve};

/// Elements inside elements inside elements.
pub(crate) const DEEPEST: usize = 48;

/// Reads the text of a parameter.
///
/// A string stays a string where the schema wants nothing else, whatever it looks like;
/// elsewhere JSON is read as JSON. `kind` is what an attribute `type` says.
pub(crate) fn read(raw: &str, schema: &Value, root: &Value, kind: Option<&str>) -> Json {
    read_at(raw, schema, root, kind, 0)
}

pub(crate) fn read_at(
    raw: &str,
    schema: &Value,
    root: &Value,
    kind: Option<&str>,
    depth: usize,
) -> Json {
    let kinds = Kinds::allowed(schema, root);
    let text = plain(raw);
    if kind.is_some_and(|kind| matches!(kind, "string" | "str" | "text")) {
        return exact::string(&text);
    }
    if kinds == Kinds::STRING && kind != Some("json") {
        return exact::string(&text);
    }
    let parsed = json(&text).or_else(|| json(raw));
    let says_json = kind.is_some();
    match parsed {
        Some(value) if says_json || kinds.contains(exact::kind(&value)) => {
            // A text that is one of the allowed values as it stands is that value.
            let allowed = resolve(schema, root).get("enum").and_then(Value::as_array);
            let as_text =
                allowed.and_then(|list| list.iter().find(|own| own.as_str() == Some(&text)));
            match as_text {
                Some(own) if !says_json => Json::from(own),
                _ => value,
            }
        }
        // A number where an array is wanted is mended later, and reported.
        Some(value) if !kinds.contains(Kinds::STRING) => value,
        _ => {
            let nested = elements::read(raw, schema, root, kinds, depth);
            nested.unwrap_or_else(|| exact::string(&text))
        }
    }
}

/// A JSON text, also in a fence.
fn json(text: &str) -> Option<Json> {
    let text = unfenced(text);
    // Most texts are none, which their first character tells.
    let first = text.bytes().next()?;
    let may_be = matches!(first, b'{' | b'[' | b'"' | b'-' | b't' | b'f' | b'n' | b'0'..=b'9');
    if may_be { exact::read(text) } else { None }
}
