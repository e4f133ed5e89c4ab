//! What an error says, from whatever form its body has.
//!
//! | body | read as |
//! |---|---|
//! | the family's own form | its reader says where the words are |
//! | `{"error": {…}}`, `{"error": "…"}` | the error |
//! | `{"message": …}`, `{"detail": …}`, `{"msg": …}`, `{"errors": […]}` | the same, of imitators |
//! | `<html>…` | the title of a proxy's page |
//! | other text, or one that is too large to be an error | its first words |
//! | nothing | the status |

use std::time::Duration;

use serde_json::Value;
use smol_str::SmolStr;

use super::ErrorForm;
use super::length::Figures;

/// A body that is larger than this, in bytes, is no error of an API's: its head is quoted.
pub(super) const LARGEST_BODY: usize = 256 * 1024;

/// What an error says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Told {
    /// The API's words for it, the most exact first.
    pub(crate) codes: Vec<SmolStr>,
    /// Its sentence.
    pub(crate) message: String,
    /// What of the request it blames.
    pub(crate) param: Option<SmolStr>,
    pub(crate) request_id: Option<SmolStr>,
    /// How long to wait.
    pub(crate) wait: Option<Duration>,
    /// The request is too long, and by how much.
    pub(crate) length: Option<Figures>,
}

impl Told {
    pub(super) fn read(reader: &ErrorForm, body: &str, status: Option<u16>) -> Self {
        let is_small = body.len() <= LARGEST_BODY;
        let value: Option<Value> = if is_small { serde_json::from_str(body).ok() } else { None };
        // Google sends a list where a stream was asked for.
        let value = match value {
            Some(Value::Array(list)) => list.into_iter().next(),
            value => value,
        };
        let value = value.filter(Value::is_object);
        let own = value.as_ref().and_then(|value| (reader.read)(value));
        let any = || value.as_ref().and_then(any_form);
        let mut told = own.or_else(any).unwrap_or_else(|| Self::from_text(body));
        if told.message.trim().is_empty() {
            told.message = match status {
                Some(status) => format!("the API answered with status {status} and no message"),
                None => "the API answered with an error and no message".to_owned(),
            };
        }
        told.codes.retain(|code| !code.is_empty());
        told
    }

    /// A text that is no JSON object: a page, or plain words.
    fn from_text(body: &str) -> Self {
        let body = body.get(..body.floor_char_boundary(LARGEST_BODY)).unwrap_or(body).trim();
        let lower = body.to_ascii_lowercase();
        let title = lower.find("<title>").zip(lower.find("</title>"));
        let message = match title {
            Some((start, end)) => body.get(start + "<title>".len()..end).unwrap_or_default(),
            None => body,
        };
        Self { message: message.trim().to_owned(), ..Self::default() }
    }

    /// The status that a code is.
    pub(super) fn status(&self) -> Option<u16> {
        let statuses = self.codes.iter().filter_map(|code| code.parse().ok());
        statuses.into_iter().find(|status| (400..600).contains(status))
    }
}

/// The text or number in a field.
pub(crate) fn text_at(value: &Value, field: &str) -> Option<SmolStr> {
    match value.get(field)? {
        Value::String(text) if !text.is_empty() => Some(SmolStr::new(text)),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

/// The forms in which those who imitate an API tell their errors.
fn any_form(value: &Value) -> Option<Told> {
    let inner = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    if let Value::String(message) = inner {
        let codes = [text_at(value, "code"), text_at(value, "type")];
        let codes = codes.into_iter().flatten().collect();
        return Some(Told { codes, message: message.clone(), ..Told::default() });
    }
    const WORDS: [&str; 6] = ["message", "Message", "detail", "msg", "error_description", "errors"];
    let words = WORDS.into_iter().find_map(|name| inner.get(name).filter(|word| !word.is_null()));
    let message = match words {
        Some(Value::String(message)) => message.clone(),
        Some(other) => first_sentence(other).unwrap_or_else(|| other.to_string()),
        None => inner.to_string(),
    };
    let codes = ["code", "type", "status", "__type"].map(|name| text_at(inner, name));
    let codes = codes.into_iter().flatten().collect();
    Some(Told { codes, message, param: text_at(inner, "param"), ..Told::default() })
}

/// The first sentence in a list of faults, as servers in Python tell them.
fn first_sentence(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => list.first().and_then(first_sentence),
        Value::Object(fields) => ["msg", "message", "detail"]
            .into_iter()
            .find_map(|name| first_sentence(fields.get(name)?)),
        _ => None,
    }
}
