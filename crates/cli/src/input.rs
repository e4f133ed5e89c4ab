//! Reading a conversation, whatever its form.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use interleaf_conversation::Conversation;
use interleaf_model::{Message, MessageId, Transcript};
use interleaf_wire::openai_chat;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use crate::arguments::ByteCount;
use crate::failure::Failure;

/// What stands for standard input in place of a file.
const STANDARD_INPUT: &str = "-";

const KNOWN_FORMS: &str = "a conversation is a transcript ({\"interleaf\": 1, …}), an array of \
                           OpenAI-style chat messages, or a request body with `messages`";

/// A text that was read, and its name for messages to the user.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The form in which a conversation came, told by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Our own.
    Transcript,
    /// An array of OpenAI-style chat messages.
    ChatArray,
    /// A body of an OpenAI-style request.
    ChatRequest,
}

/// A conversation that was read.
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) conversation: Conversation,
    /// The names of a request body's fields that are no part of the conversation.
    pub(crate) rest: Vec<String>,
}

/// Reads a conversation from a file or from standard input.
pub(crate) fn load(path: &Path, limit: ByteCount) -> Result<Loaded, Failure> {
    let input = Input::read(path, limit)?;
    let (transcript, rest) = input.transcript()?;
    let conversation = Conversation::from_transcript(&transcript)
        .map_err(|e| Failure::conversation(&input.name, &e))?;
    Ok(Loaded { name: input.name, conversation, rest })
}

impl Input {
    /// Reads a file, or standard input if `path` is `-`, up to a limit.
    pub(crate) fn read(path: &Path, limit: ByteCount) -> Result<Self, Failure> {
        let (name, bytes) = if path.as_os_str() == STANDARD_INPUT {
            let name = "<stdin>".to_owned();
            let bytes = read_up_to(io::stdin().lock(), &name, limit)?;
            (name, bytes)
        } else {
            let name = path.display().to_string();
            let bytes = read_file(path, &name, limit)?;
            (name, bytes)
        };
        let text =
            String::from_utf8(bytes).map_err(|e| not_utf8(&name, e.as_bytes(), &e.utf8_error()))?;
        let text = match text.strip_prefix('\u{feff}') {
            Some(unmarked) => unmarked.to_owned(),
            None => text,
        };
        if text.trim().is_empty() {
            return Err(Failure::new(name, "there is nothing in it").hint(KNOWN_FORMS));
        }
        Ok(Self { name, text })
    }

    /// Which form of conversation this is.
    pub(crate) fn format(&self) -> Result<Format, Failure> {
        match self.text.trim_start().as_bytes().first() {
            Some(b'[') => return Ok(Format::ChatArray),
            Some(b'{') => {}
            _ => {
                let rule = "this is no conversation: neither a JSON object nor a JSON array";
                return Err(Failure::new(&self.name, rule).at("line 1 column 1").hint(KNOWN_FORMS));
            }
        }
        let fields: Fields = serde_json::from_str(&self.text).map_err(|e| {
            let failure = Failure::json(&self.name, &e);
            if e.to_string().starts_with("trailing characters") {
                return failure.hint(
                    "one JSON value is read; put the messages of a JSON Lines file into one array",
                );
            }
            failure
        })?;
        match fields {
            Fields { interleaf: true, .. } => Ok(Format::Transcript),
            Fields { messages: true, .. } => Ok(Format::ChatRequest),
            Fields { .. } => {
                let rule =
                    "this object is no conversation: it has neither `interleaf` nor `messages`";
                Err(Failure::new(&self.name, rule).hint(KNOWN_FORMS))
            }
        }
    }

    /// The conversation as a transcript, and the names of the fields that a
    /// transcript has no place for.
    pub(crate) fn transcript(&self) -> Result<(Transcript, Vec<String>), Failure> {
        let wire = |e: interleaf_wire::Error| Failure::wire(&self.name, &e);
        match self.format()? {
            Format::Transcript => {
                let read = Transcript::read(&self.text);
                read.map(|transcript| (transcript, vec![]))
                    .map_err(|e| Failure::model(&self.name, &e))
            }
            Format::ChatArray => {
                let messages = openai_chat::decode_messages(&self.text).map_err(wire)?;
                Ok((named(messages), vec![]))
            }
            Format::ChatRequest => {
                let request = openai_chat::decode_request(&self.text).map_err(wire)?;
                let rest = request.options.rest.into_iter().map(|(name, _)| name).collect();
                Ok((named(request.messages), rest))
            }
        }
    }
}

/// The fields that tell one form from another.
#[derive(Deserialize)]
struct Fields {
    #[serde(default, deserialize_with = "present")]
    interleaf: bool,
    #[serde(default, deserialize_with = "present")]
    messages: bool,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// Gives messages without an id the one of their place, as a transcript does.
fn named(mut messages: Vec<Message>) -> Transcript {
    for (i, message) in messages.iter_mut().enumerate() {
        if message.id.is_unassigned() {
            message.id = MessageId::of_index(i);
        }
    }
    Transcript::of(messages)
}

fn read_file(path: &Path, name: &str, limit: ByteCount) -> Result<Vec<u8>, Failure> {
    let fail = |e: &io::Error| Failure::io(name, e);
    let found = fs::metadata(path).map_err(|e| fail(&e))?;
    if found.is_dir() {
        return Err(fail(&io::ErrorKind::IsADirectory.into()));
    }
    if found.len() > limit.0 {
        return Err(too_large(name, &format!("{} bytes are", found.len()), limit));
    }
    read_up_to(File::open(path).map_err(|e| fail(&e))?, name, limit)
}

/// Pipes and devices do not say how long they are: reading stops one byte behind
/// the limit.
fn read_up_to(source: impl Read, name: &str, limit: ByteCount) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = source.take(limit.0.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|e| Failure::io(name, &e))?;
    if bytes.len() as u64 > limit.0 {
        return Err(too_large(name, "this is", limit));
    }
    Ok(bytes)
}

fn too_large(name: &str, found: &str, limit: ByteCount) -> Failure {
    let rule = format!("{found} more than the limit of {} bytes", limit.0);
    Failure::new(name, rule).hint("--max-input raises the limit, for example --max-input 1G")
}

fn not_utf8(name: &str, bytes: &[u8], error: &std::str::Utf8Error) -> Failure {
    let offset = error.valid_up_to();
    let line = 1 + bytes[..offset].iter().filter(|&&byte| byte == b'\n').count();
    let failure = Failure::new(name, "this is not UTF-8").at(format!("byte {offset}, line {line}"));
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            failure.hint("it begins like UTF-16; convert it first")
        }
        [0x1f, 0x8b, ..] => failure.hint("it begins like a gzip file; unpack it first"),
        _ => failure,
    }
}
