//! Reading what people and programs hand in, whatever its form.
//!
//! | function | reads |
//! |---|---|
//! | [`conversation`] | a transcript, a list of messages, or the body of a request |
//! | [`request`] | the body of a request to a known API |
//! | [`operation`], [`message`] | a change of what is visible, and one message |
//! | [`said`] | messages to append, or a model's reply |
//! | [`reply`] | a model's reply: an answer, a message, or plain text |
//! | [`Answer`] | an API's answer as it was recorded, whole or streamed |
//! | [`Tools`] | a list of tools, in any API's form or ours |
//! | [`SummaryForm`] | a summary and what it covers |
//!
//! Nothing here opens a file: texts come in, values go out. An error has an
//! [`InputFault`] with the place and the rule.
//!
//! ```
//! use interleaf::read;
//!
//! let body = r#"{"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}"#;
//! let reading = read::conversation(body)?;
//! assert_eq!(reading.conversation.view_len(), 1);
//! assert_eq!(reading.options.model, "gpt-5");
//! # Ok::<(), interleaf::Error>(())
//! ```

mod answer;
mod operation;
mod renamed;
mod reply;
mod said;
mod summary;
mod tools;

use std::fmt;
use std::sync::Arc;

use interleaf_assemble::Previous;
use interleaf_conversation::Conversation;
use interleaf_model::{Message, Tool, Transcript, read_json};
use interleaf_wire::{Family, Options, Request, decode_request, detect};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

pub use self::answer::Answer;
pub use self::operation::{message, operation};
pub use self::renamed::Renamed;
pub use self::reply::reply;
pub(crate) use self::said::chat_message;
pub use self::said::{Said, said};
pub use self::summary::SummaryForm;
pub use self::tools::Tools;
use crate::{Error, InputFault, neutral};

const KNOWN_FORMS: &str = "a conversation is a transcript ({\"interleaf\": 1, …}), a list of \
                           messages in any API's form, or the body of a request";

/// A conversation that was read, and what a request body says beside it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Reading {
    /// The conversation. It may be a broken history.
    pub conversation: Conversation,
    /// The tools of a request body.
    pub tools: Arc<[Tool]>,
    /// The settings of a request body.
    pub options: Options,
    /// The API whose messages or body it was.
    pub family: Option<Family>,
    /// The names of a request body's fields that are no part of the conversation.
    pub left_out: Vec<String>,
    /// The messages that had the id of another.
    pub renamed: Vec<Renamed>,
    /// The log indices of those that had no id; of a transcript it is not told.
    unnamed: Vec<u32>,
}

/// Reads a conversation; its form is told by its content.
///
/// # Errors
/// If it has none of the known forms, or breaks a rule of its own.
pub fn conversation(text: &str) -> Result<Reading, Error> {
    let text = unmarked(text);
    match text.trim_start().as_bytes().first() {
        None => Err(InputFault::new("there is nothing in it").with_hint(KNOWN_FORMS).into()),
        Some(b'[') if is_own_list(text) => {
            let messages = read_json(text).map_err(|e| InputFault::model(&e))?;
            let transcript = Transcript { messages, ..Transcript::default() };
            Reading::of(&transcript, Request::default(), None)
        }
        Some(b'[') => {
            let family = detect::request(text).unwrap_or(Family::OpenaiChat);
            let request = decode_request(family, text).map_err(|e| InputFault::wire(&e))?;
            Reading::of_request(family, request, &Fields(Vec::new()))
        }
        Some(b'{') => object(text),
        Some(_) => {
            let rule = "this is not a conversation: it is neither a JSON object nor a JSON array";
            Err(InputFault::new(rule).at("line 1 column 1").with_hint(KNOWN_FORMS).into())
        }
    }
}

/// Whether a list begins with a message of ours: its parts say what they are, as those of
/// Gemini do not.
fn is_own_list(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Sign {
        #[serde(rename = "role")]
        _role: IgnoredAny,
        parts: Vec<PartSign>,
        content: Option<IgnoredAny>,
    }
    #[derive(Deserialize)]
    struct PartSign {
        #[serde(rename = "type")]
        kind: Option<String>,
    }
    let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(text) else { return false };
    let first = list.first().and_then(|first| serde_json::from_str::<Sign>(first.get()).ok());
    first.is_some_and(|first| {
        first.content.is_none() && first.parts.iter().all(|part| part.kind.is_some())
    })
}

/// Reads the conversation of a request body of this family.
///
/// # Errors
/// If the text is no such body.
pub fn request(family: Family, text: &str) -> Result<Reading, Error> {
    let text = unmarked(text);
    if text.trim().is_empty() {
        return Err(InputFault::new("there is nothing in it").with_hint(KNOWN_FORMS).into());
    }
    let decoded = decode_request(family, text).map_err(|e| InputFault::wire(&e))?;
    let fields = match text.trim_start().starts_with('[') {
        // A bare list of messages.
        true => Fields(Vec::new()),
        false => fields(text)?,
    };
    Reading::of_request(family, decoded, &fields)
}

/// The API whose request body this is, if that can be seen.
pub fn request_family(text: &str) -> Option<Family> {
    detect::request(unmarked(text))
}

/// What is known of the request before: its messages, and the body that an API got.
pub type Before = (Option<Previous>, Option<String>);

/// Reads the request before, in neutral form or as an API got it.
///
/// # Errors
/// If it is neither.
pub fn before(text: &str) -> Result<Before, Error> {
    let own = |own: Fields<'_>| own.has("interleaf") || own.has("interleaf_prompt");
    // A bare list of messages is no body either.
    let is_own = fields(unmarked(text)).map_or(true, own);
    match request_family(text).filter(|_| !is_own) {
        Some(family) => request(family, text).map(|_| (None, Some(text.to_owned()))),
        None => {
            let messages = neutral::read(text)?.messages().cloned().collect::<Vec<_>>();
            Ok((Some(Previous::of(messages)), None))
        }
    }
}

/// The model that a request body names, if it names one.
pub fn request_model(text: &str) -> Option<String> {
    serde_json::from_str(fields(unmarked(text)).ok()?.get("model")?.get()).ok()
}

/// The names of a request body's fields that [`said`] leaves out, because they are no part of
/// the conversation.
pub fn left_out(text: &str) -> Vec<String> {
    let text = unmarked(text);
    let Ok(fields) = fields(text) else { return Vec::new() };
    match request_family(text).filter(|_| !fields.has("role") && !fields.has("interleaf")) {
        Some(family) => fields.beside_conversation(family),
        None => Vec::new(),
    }
}

fn object(text: &str) -> Result<Reading, Error> {
    let fields = fields(text)?;
    if fields.has("interleaf") {
        let transcript = Transcript::read(text).map_err(|e| InputFault::model(&e))?;
        return Reading::of(&transcript, Request::default(), None);
    }
    if fields.has("interleaf_prompt") {
        let rule = "this is a request in neutral form, not a conversation";
        return Err(InputFault::new(rule).with_hint("--previous reads it").into());
    }
    let Some(family) = request_family(text) else {
        let rule = "this object is not a conversation: it has neither `interleaf` nor `messages`";
        return Err(InputFault::new(rule).with_hint(KNOWN_FORMS).into());
    };
    let decoded = decode_request(family, text).map_err(|e| InputFault::wire(&e))?;
    Reading::of_request(family, decoded, &fields)
}

impl Reading {
    fn of(
        transcript: &Transcript,
        request: Request,
        family: Option<Family>,
    ) -> Result<Self, Error> {
        let conversation =
            Conversation::from_transcript(transcript).map_err(|e| InputFault::conversation(&e))?;
        let renamed = renamed::between(&transcript.messages, &conversation);
        let Request { tools, options, .. } = request;
        let (tools, left_out) = (tools.into(), Vec::new());
        let unnamed = unnamed(transcript.messages.iter().map(|message| &**message));
        Ok(Self { conversation, tools, options, family, left_out, renamed, unnamed })
    }

    fn of_request(
        family: Family,
        mut request: Request,
        fields: &Fields<'_>,
    ) -> Result<Self, Error> {
        let unnamed = unnamed(&request.messages);
        let transcript = Transcript::named(std::mem::take(&mut request.messages));
        let left_out = fields.beside_conversation(family);
        Ok(Self { left_out, unnamed, ..Self::of(&transcript, request, Some(family))? })
    }
}

/// The indices of the messages without an id.
fn unnamed<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Vec<u32> {
    let messages = (0..).zip(messages);
    messages.filter(|(_, message)| message.id.is_unassigned()).map(|(index, _)| index).collect()
}

/// The fields of an object in order, not looked into.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| *value)
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The names of those that are no part of a conversation of this family.
    fn beside_conversation(&self, family: Family) -> Vec<String> {
        let told = detect::conversation_fields(family);
        let names = self.0.iter().map(|(name, _)| name);
        names.filter(|name| !told.contains(&name.as_str())).cloned().collect()
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

fn fields(text: &str) -> Result<Fields<'_>, InputFault> {
    serde_json::from_str(text).map_err(|e| {
        let fault = InputFault::json(&e);
        match e.to_string().starts_with("trailing characters") {
            true => fault.with_hint(
                "one JSON value is read; put the messages of a JSON Lines file into one array",
            ),
            false => fault,
        }
    })
}

/// A text without the byte order mark at its start.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
