//! A model's reply as JSON: the message as it stands in a transcript, and what the API
//! said of it.
//!
//! ```text
//! {"message": {"role": "assistant", "parts": […]}, "finish": "tool_calls",
//!  "usage": {…}, "model": "claude-sonnet-4-5", "id": "msg_01"}
//! ```
//!
//! A call that was cut off, and is not to be run, is named by `cut_call`. All but the message may be missing. A chat message may stand in place of ours.

use interleaf_model::{Finish, Message, Reply, Role, Usage, read_json};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::read::chat_message;
use crate::{Error, InputFault};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyForm<Message> {
    message: Message,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finish: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The call that was cut off, which the finish tells too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut_call: Option<String>,
}

/// Writes a reply on one line.
///
/// ```
/// use interleaf::model::{Finish, Message, Reply};
/// use interleaf::reply_form;
///
/// let mut reply = reply_form::read(r#"{"message": {"role": "assistant", "content": "hi"}}"#)?;
/// assert_eq!((&reply.message, &reply.finish), (&Message::assistant("hi"), &Finish::Stop));
/// reply.finish = Finish::Length;
/// assert_eq!(reply_form::read(&reply_form::write(&reply))?, reply);
/// # Ok::<(), interleaf::Error>(())
/// ```
pub fn write(reply: &Reply) -> String {
    write_with(reply, &reply.message)
}

/// Writes a reply on one line, its message as an OpenAI-style chat message, which keeps
/// text, thinking and calls, but not their order.
pub fn write_chat(reply: &Reply) -> String {
    write_with(reply, &crate::chat_form::of_reply(&reply.message))
}

fn write_with(reply: &Reply, message: &impl Serialize) -> String {
    let form = ReplyForm {
        message,
        finish: Some(reply.finish.to_string()),
        usage: reply.usage,
        model: reply.model.as_ref().map(|model| model.to_string()),
        id: reply.id.as_ref().map(|id| id.to_string()),
        cut_call: reply.cut_call().map(|call| call.id.to_string()),
    };
    // Our own types have string keys and no failing Serialize.
    serde_json::to_string(&form).unwrap_or_default()
}

/// Reads a reply. One that does not say why it stopped has stopped for its calls, or
/// because all was said.
///
/// # Errors
/// If it has another shape, or its message is not an assistant's.
pub fn read(text: &str) -> Result<Reply, Error> {
    let form: ReplyForm<&RawValue> = read_json(text).map_err(|e| InputFault::model(&e))?;
    let raw = form.message.get();
    let message = match read_json::<Message>(raw) {
        Ok(message) => message,
        // A message of ours has `parts`, and then its own fault is the one to tell.
        Err(e) if read_json::<Parted>(raw).is_ok() => {
            return Err(InputFault::model(&e.under("message")).into());
        }
        Err(_) => chat_message(raw)?,
    };
    if message.role() != Role::Assistant {
        let rule = format!("a reply is said by the assistant, not by the {}", message.role());
        return Err(InputFault::new(rule).at("message.role").into());
    }
    let finish = match form.finish {
        Some(finish) => Finish::from(finish.as_str()),
        None if message.has_calls() => Finish::ToolCalls,
        None => Finish::Stop,
    };
    let (model, id) = (form.model.map(Into::into), form.id.map(Into::into));
    Ok(Reply { usage: form.usage, model, id, ..Reply::new(message, finish) })
}

#[derive(Deserialize)]
struct Parted {
    #[serde(rename = "parts")]
    _parts: serde::de::IgnoredAny,
}
