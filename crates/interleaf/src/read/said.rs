//! What is to be appended to a session: messages, or a model's reply.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use interleaf_model::{Message, MessageId, PartRef, Reply, read_json};
use interleaf_wire::{Family, decode_request};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Fields, Reading, Renamed, conversation, unmarked};
use crate::{Error, InputFault, reply_form};

/// What somebody said.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Said {
    /// Messages, in order.
    Messages(Vec<Arc<Message>>),
    /// A model's reply, with what is known of it beside the message.
    Reply(Box<Reply>),
}

/// Reads what is to be appended.
///
/// | what is there | what it is |
/// |---|---|
/// | an object with `role` and `parts` | one message of a transcript |
/// | an object with `role` | one message of any API |
/// | an object with `message` | a reply as [`reply_form`] writes it, or with a chat message |
/// | anything else | a conversation, all of it visible |
///
/// # Errors
/// If it is none of these, or a conversation with hidden messages, which would be lost.
pub fn said(text: &str) -> Result<Said, Error> {
    let text = unmarked(text);
    let is_object = text.trim_start().starts_with('{');
    let fields = is_object.then(|| serde_json::from_str::<Fields<'_>>(text).ok()).flatten();
    if let Some(fields) = fields {
        if fields.has("role") {
            let message = match fields.has("parts") {
                true => read_json(text).map_err(|e| InputFault::model(&e).into()),
                false => chat_message(text),
            };
            return match message {
                Ok(message) => Ok(Said::Messages(vec![Arc::new(message)])),
                // It is in the form of another API, or in none: then nobody knows its parts.
                Err(error) => match several(&format!("[{text}]")) {
                    Ok(Said::Messages(messages)) if messages.iter().all(is_known) => {
                        Ok(Said::Messages(messages))
                    }
                    _ => Err(error),
                },
            };
        }
        if fields.has("message") {
            return Ok(Said::Reply(Box::new(reply_form::read(text)?)));
        }
    }
    several(text)
}

fn is_known(message: &Arc<Message>) -> bool {
    message.parts().all(|part| !matches!(part, PartRef::Opaque(_)))
}

/// Reads a conversation, all of it visible.
fn several(text: &str) -> Result<Said, Error> {
    let Reading { conversation, renamed, unnamed, .. } = conversation(text)?;
    let unnamed: HashSet<u32> = unnamed.into_iter().chain(unnamed_of_transcript(text)).collect();
    let hidden = conversation.log_len() - conversation.view_len();
    if hidden > 0 {
        let messages = if hidden == 1 { "message is" } else { "messages are" };
        let rule = format!("{hidden} {messages} hidden, and would be lost");
        let hint = "`interleaf sessions import` keeps them, in a session of their own";
        return Err(InputFault::new(rule).with_hint(hint).into());
    }
    let mut messages: Vec<Arc<Message>> = conversation.visible().cloned().collect();
    // Whoever appends them renames those that are doubles there, and says so.
    let was: HashMap<MessageId, MessageId> =
        renamed.into_iter().map(|Renamed { was, now, .. }| (now, was)).collect();
    for (index, message) in conversation.view().zip(&mut messages) {
        // Those without an id are named by their place there, which is not the one here.
        let own = unnamed.contains(&index).then(MessageId::default);
        if let Some(id) = own.or_else(|| was.get(&message.id).cloned()) {
            Arc::make_mut(message).id = id;
        }
    }
    Ok(Said::Messages(messages))
}

/// The indices of a transcript's messages that have no id; nothing, if it is no transcript.
fn unnamed_of_transcript(text: &str) -> Vec<u32> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(rename = "interleaf")]
        _version: IgnoredAny,
        messages: Vec<Id>,
    }
    #[derive(Deserialize)]
    struct Id {
        id: Option<IgnoredAny>,
    }
    let messages = serde_json::from_str(text).map_or(vec![], |named: Named| named.messages);
    let unnamed = (0..).zip(messages).filter(|(_, message)| message.id.is_none());
    unnamed.map(|(index, _)| index).collect()
}

/// One OpenAI-style chat message.
pub(crate) fn chat_message(text: &str) -> Result<Message, Error> {
    let list = decode_request(Family::OpenaiChat, &format!("[{text}]"));
    let message = list.map_err(|e| InputFault::only_message(&e))?.messages.into_iter().next();
    message.ok_or_else(|| InputFault::new("there is no message in it").into())
}
