//! An operation, and the messages in it.

use interleaf_conversation::Operation;
use interleaf_model::{Message, read_json};
use serde_json::value::RawValue;

use super::{Fields, chat_message, unmarked};
use crate::neutral::to_json;
use crate::{Error, InputFault};

/// Reads a change of what is visible. Its messages stand in it as in a transcript, or as
/// chat messages.
///
/// ```
/// let long = r#"{"operation": "insert", "insert": {"position": 0,
///     "messages": [{"role": "user", "content": "hi"}]}}"#;
/// assert_eq!(interleaf::read::operation(long)?.name(), "insert");
/// # Ok::<(), interleaf::Error>(())
/// ```
///
/// # Errors
/// If it is none; the error names the field.
pub fn operation(text: &str) -> Result<Operation, Error> {
    let text = unmarked(text);
    let read = Operation::from_json(text);
    let read = match (&read, with_our_messages(text)) {
        (Err(_), Some(rewritten)) => Operation::from_json(&rewritten?).or(read),
        _ => read,
    };
    Ok(read.map_err(|e| InputFault::model(&e))?)
}

/// Reads one message, as it stands in a transcript or as a chat message.
///
/// # Errors
/// If it is neither.
pub fn message(text: &str) -> Result<Message, Error> {
    let text = unmarked(text);
    match is_chat(text) {
        true => chat_message(text),
        false => Ok(read_json(text).map_err(|e| InputFault::model(&e))?),
    }
}

/// Whether this is an object with a role, but not in our form.
fn is_chat(text: &str) -> bool {
    let fields = serde_json::from_str::<Fields<'_>>(text);
    fields.is_ok_and(|fields| fields.has("role") && !fields.has("parts"))
}

/// The operation with its chat messages in our form, if it has any.
fn with_our_messages(text: &str) -> Option<Result<String, Error>> {
    let operation: Fields<'_> = serde_json::from_str(text).ok()?;
    let (name, settings) = operation.0.iter().find(|(name, _)| name != "operation")?;
    let settings: Fields<'_> = serde_json::from_str(settings.get()).ok()?;
    let (messages, is_list): (Vec<&RawValue>, bool) =
        match (settings.get("messages"), settings.get("message")) {
            (Some(list), None) => (serde_json::from_str(list.get()).ok()?, true),
            (None, Some(one)) => (vec![one], false),
            _ => return None,
        };
    if !messages.iter().any(|message| is_chat(message.get())) {
        return None;
    }
    let ours = messages.iter().enumerate().map(|(i, raw)| {
        let field = match is_list {
            true => format!("{name}.messages[{i}]"),
            false => format!("{name}.message"),
        };
        let at = |e: Error| match e.input_fault() {
            Some(fault) => fault.clone().under(&field).into(),
            None => e,
        };
        message(raw.get()).map(|message| to_json(&message)).map_err(at)
    });
    Some(ours.collect::<Result<Vec<String>, Error>>().map(|ours| {
        let field = |(field, value): &(String, &RawValue)| {
            let value = match field.as_str() {
                "messages" => format!("[{}]", ours.join(",")),
                "message" => ours.concat(),
                _ => value.get().to_owned(),
            };
            format!("{}:{value}", to_json(field))
        };
        let settings: Vec<String> = settings.0.iter().map(field).collect();
        format!("{{{}:{{{}}}}}", to_json(name), settings.join(","))
    }))
}
