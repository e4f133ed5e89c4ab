//! Which API a text belongs to, as far as its form tells.
//!
//! Each family knows its own signs (`detect.rs` in its folder). They are asked in turn,
//! OpenAI's chat last: a list of messages without the signs of another family is chat.

use crate::Family;
use crate::openai_chat::Model;
use crate::stream::Framing;
use crate::tree::Value;

/// The signs of a family. A sign may rely on no family before it having been seen.
pub(crate) struct Signs {
    /// In the body of a request.
    pub(crate) request: fn(&Value) -> bool,
    /// Whether such a body can be no other family's.
    pub(crate) is_sure: fn(&Value) -> bool,
    /// In a bare list of messages.
    pub(crate) messages: fn(&[Value]) -> bool,
    /// In an answer, or in an event of one.
    pub(crate) answer: fn(&Value) -> bool,
    /// In the description of a tool.
    pub(crate) tool: fn(&Value) -> bool,
    /// Where a body has its tools, as a JSON pointer.
    pub(crate) tools: &'static str,
    /// The fields of a body that hold what was said, the messages first.
    pub(crate) conversation: &'static [&'static str],
    /// The field of a message that holds its parts, where lint looks for those of others.
    pub(crate) parts: &'static str,
}

/// The API whose request this is: a body, or the bare list of its messages.
///
/// A text that is no JSON value is given to chat, whose reader takes the most and says
/// what is wrong.
///
/// ```
/// use interleaf_wire::{Family, detect};
///
/// let list = r#"[{"role": "user", "content": [
///     {"type": "tool_result", "tool_use_id": "t1", "content": "src"}]}]"#;
/// assert_eq!(detect::request(list), Some(Family::Anthropic));
/// assert_eq!(detect::request(r#"{"contents": []}"#), Some(Family::Gemini));
/// assert_eq!(detect::request("{}"), None);
/// ```
pub fn request(text: &str) -> Option<Family> {
    match serde_json::from_str(text) {
        Ok(Value::Array(list)) => first(|signs| (signs.messages)(&list)),
        Ok(body) => first(|signs| (signs.request)(&body)),
        Err(_) => Some(Family::OpenaiChat),
    }
}

/// The same for a body, unless nothing in it tells chat from another family.
///
/// ```
/// use interleaf_wire::detect;
///
/// let plain = r#"{"messages": [{"role": "user", "content": "Hello"}]}"#;
/// assert!(detect::request(plain).is_some() && detect::sure_request(plain).is_none());
/// ```
pub fn sure_request(text: &str) -> Option<Family> {
    let body: Value = serde_json::from_str(text).ok()?;
    let family = first(|signs| (signs.request)(&body))?;
    (family.codec().signs.is_sure)(&body).then_some(family)
}

/// The API whose answer, or event of an answer, this is.
pub fn answer(text: &str) -> Option<Family> {
    let value: Value = serde_json::from_str(text).ok()?;
    first(|signs| (signs.answer)(&value))
}

/// The API whose stream begins with these bytes.
pub fn stream(bytes: &[u8]) -> Option<Family> {
    match std::str::from_utf8(bytes) {
        // A binary frame begins with its length, whose first byte is never used.
        Ok(text) if !text.starts_with('\0') => {
            let lines = text.split(['\n', '\r']);
            lines.filter_map(|line| line.strip_prefix("data:")).find_map(answer)
        }
        Ok(_) | Err(_) => {
            let is_framed = |family: &Family| family.codec().framing == Framing::EventStream;
            Family::ALL.into_iter().find(is_framed)
        }
    }
}

/// The API in whose form a tool is described.
pub fn tool(text: &str) -> Option<Family> {
    let value: Value = serde_json::from_str(text).ok()?;
    first(|signs| (signs.tool)(&value))
}

/// The API that the maker of a model made for it, as far as the model's name tells.
///
/// ```
/// use interleaf_wire::{Family, detect};
///
/// assert_eq!(detect::model("claude-sonnet-4-5"), Some(Family::Anthropic));
/// assert_eq!(detect::model("o4-mini"), Some(Family::OpenaiChat));
/// // The names that others give to models they serve tell nothing.
/// assert_eq!(detect::model("anthropic/claude-sonnet-4.5"), None);
/// ```
pub fn model(name: &str) -> Option<Family> {
    if name.contains(['/', ':']) {
        None
    } else if name.starts_with("claude-") {
        Some(Family::Anthropic)
    } else if name.starts_with("gemini-") {
        Some(Family::Gemini)
    } else {
        Model::named(name).is_known().then_some(Family::OpenaiChat)
    }
}

/// The fields of a family's bodies that hold what was said; all others are settings.
pub fn conversation_fields(family: Family) -> &'static [&'static str] {
    family.codec().signs.conversation
}

fn first(has: impl Fn(&Signs) -> bool) -> Option<Family> {
    Family::ALL.into_iter().rev().find(|family| has(&family.codec().signs))
}

/// The elements of a list; none of anything else.
pub(crate) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The parts of messages, where their content is a list.
pub(crate) fn parts(messages: &[Value]) -> impl Iterator<Item = &Value> {
    messages.iter().flat_map(|message| items(&message["content"]))
}

/// The messages of a body that may be one of several families, unless it is a recorded
/// conversation: these keep the settings apart, and are always chat.
pub(crate) fn messages(body: &Value) -> Option<&[Value]> {
    match (&body["messages"], body.get("params")) {
        (Value::Array(list), None) => Some(list),
        _ => None,
    }
}
