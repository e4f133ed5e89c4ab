//! Looking into JSON.

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::asked::Part;
use crate::tokens::{FILE_BYTES_PER_TOKEN, PER_IMAGE};

/// The elements of a list; none if it is something else.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The text of a string; an empty one if it is something else.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The fields of an object by name; none if it is something else.
pub(crate) fn fields(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Whether a name has only letters, digits and some signs, and the right length.
pub(crate) fn is_name(name: &str, signs: &str, most: usize) -> bool {
    let is_known = |c: char| c.is_ascii_alphanumeric() || signs.contains(c);
    (1..=most).contains(&name.len()) && name.chars().all(is_known)
}

/// What JSON calls the type of a value, in OpenAI's words.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a decimal",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A picture.
pub(crate) fn image(value: &Value) -> Part {
    Part::Image(xxh3_64(value.to_string().as_bytes()))
}

/// A file, whose data in base64 is given if it is in the request.
pub(crate) fn file(value: &Value, data: Option<&str>) -> Part {
    let tokens = data.map_or(PER_IMAGE, |data| data.len() as u64 / FILE_BYTES_PER_TOKEN);
    Part::File(xxh3_64(value.to_string().as_bytes()), tokens)
}

/// What stands after the comma of a data URL.
pub(crate) fn data_of(url: &str) -> Option<&str> {
    url.strip_prefix("data:").and_then(|rest| rest.split_once(',')).map(|(_, data)| data)
}
