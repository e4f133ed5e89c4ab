//! Reading a conversation, whatever its form.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use interleaf::assemble::Summary;
use interleaf::conversation::Conversation;
use interleaf::model::{Message, MessageId, Tool, Transcript};
use interleaf::wire::{Family, Options, Request, openai_chat};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::arguments::ByteCount;
use crate::detect;
use crate::failure::Failure;

/// What stands for standard input in place of a file.
const STANDARD_INPUT: &str = "-";

const KNOWN_FORMS: &str = "a conversation is a transcript ({\"interleaf\": 1, …}), an array of \
                           OpenAI-style chat messages, or the body of a request";

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
    /// The body of a request to an API.
    Request(Family),
}

/// A conversation that was read.
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) conversation: Conversation,
    /// The tools of a request body.
    pub(crate) tools: Arc<[Tool]>,
    /// The settings of a request body.
    pub(crate) options: Options,
    /// The summary that a session keeps.
    pub(crate) summary: Option<Summary>,
    /// The names of a request body's fields that are no part of the conversation.
    pub(crate) rest: Vec<String>,
}

/// Reads a conversation from a file or from standard input.
pub(crate) fn load(path: &Path, limit: ByteCount) -> Result<Loaded, Failure> {
    Input::read(path, limit)?.load()
}

impl Input {
    /// Reads a file, or standard input if `path` is `-`, up to a limit; there must be
    /// something in it.
    pub(crate) fn read(path: &Path, limit: ByteCount) -> Result<Self, Failure> {
        let input = Self::read_any(path, limit)?;
        if input.text.trim().is_empty() {
            return Err(Failure::new(input.name, "there is nothing in it").hint(KNOWN_FORMS));
        }
        Ok(input)
    }

    /// Reads a file, or standard input if `path` is `-`, up to a limit.
    pub(crate) fn read_any(path: &Path, limit: ByteCount) -> Result<Self, Failure> {
        let (name, bytes) = read_bytes(path, limit)?;
        let text =
            String::from_utf8(bytes).map_err(|e| not_utf8(&name, e.as_bytes(), &e.utf8_error()))?;
        Ok(Self { name, text: unmarked(text) })
    }

    /// The API whose request body this is, if that can be seen.
    pub(crate) fn request_family(&self) -> Option<Family> {
        // A text that is JSON and yet has no value in memory (half a surrogate pair, a
        // number beyond f64) is read by whoever reads most.
        serde_json::from_str(&self.text)
            .map_or(Some(Family::OpenaiChat), |body| detect::request(&body))
    }

    /// The conversation in it.
    pub(crate) fn load(self) -> Result<Loaded, Failure> {
        let wire = |e: interleaf::wire::Error| Failure::wire(&self.name, &e);
        let (transcript, request) = match self.format()? {
            Format::Transcript => {
                let read = Transcript::read(&self.text);
                (read.map_err(|e| Failure::model(&self.name, &e))?, Request::default())
            }
            Format::ChatArray => {
                let messages = openai_chat::decode_messages(&self.text).map_err(wire)?;
                (named(messages), Request::default())
            }
            Format::Request(family) => return self.load_request(family),
        };
        self.loaded(&transcript, request, Vec::new())
    }

    /// The conversation of a body of this family.
    pub(crate) fn load_request(self, family: Family) -> Result<Loaded, Failure> {
        let mut request = interleaf::wire::decode_request(family, &self.text)
            .map_err(|e| Failure::wire(&self.name, &e))?;
        let FieldNames(names) =
            serde_json::from_str(&self.text).map_err(|e| Failure::json(&self.name, &e))?;
        let told = ["messages", "contents", "input", "system", "instructions"];
        let rest = names.into_iter().filter(|name| !told.contains(&name.as_str())).collect();
        let transcript = named(std::mem::take(&mut request.messages));
        self.loaded(&transcript, request, rest)
    }

    fn loaded(
        self,
        transcript: &Transcript,
        request: Request,
        rest: Vec<String>,
    ) -> Result<Loaded, Failure> {
        let conversation = Conversation::from_transcript(transcript)
            .map_err(|e| Failure::conversation(&self.name, &e))?;
        let Request { tools, options, .. } = request;
        let tools = tools.into();
        Ok(Loaded { name: self.name, conversation, tools, options, summary: None, rest })
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
            Fields { prompt: true, .. } => {
                let rule = "this is a request that `build` printed, not a conversation";
                Err(Failure::new(&self.name, rule).hint("--previous takes it"))
            }
            Fields { .. } => self.request_family().map(Format::Request).ok_or_else(|| {
                let rule =
                    "this object is no conversation: it has neither `interleaf` nor `messages`";
                Failure::new(&self.name, rule).hint(KNOWN_FORMS)
            }),
        }
    }
}

/// A file with a JSON value on each line, read line by line.
pub(crate) struct Records {
    name: String,
    source: Box<dyn BufRead>,
    line: usize,
    limit: ByteCount,
}

impl Records {
    /// Opens a file, or standard input if `path` is `-`.
    pub(crate) fn open(path: &Path, limit: ByteCount) -> Result<Self, Failure> {
        let (name, source): (String, Box<dyn BufRead>) = if path.as_os_str() == STANDARD_INPUT {
            take_standard_input()?;
            ("<stdin>".to_owned(), Box::new(io::stdin().lock()))
        } else {
            let name = path.display().to_string();
            let file = File::open(path).map_err(|e| Failure::io(&name, &e))?;
            (name, Box::new(BufReader::new(file)))
        };
        Ok(Self { name, source, line: 0, limit })
    }

    fn read_line(&mut self, name: &str) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let mut source = self.source.by_ref().take(self.limit.0.saturating_add(1));
        source.read_until(b'\n', &mut bytes).map_err(|e| Failure::io(name, &e))?;
        if bytes.len() as u64 > self.limit.0 {
            // The rest of the line is no record of its own.
            self.source.skip_until(b'\n').map_err(|e| Failure::io(name, &e))?;
            return Err(too_large(name, "this is", self.limit));
        }
        Ok(bytes)
    }
}

/// The lines that are not blank, each by its number.
impl Iterator for Records {
    type Item = Result<Input, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.line += 1;
            let name = format!("{}: line {}", self.name, self.line);
            let text = self.read_line(&name).and_then(|bytes| {
                String::from_utf8(bytes).map_err(|e| not_utf8(&name, e.as_bytes(), &e.utf8_error()))
            });
            match text {
                Ok(text) if text.is_empty() => return None,
                Ok(text) if text.trim().is_empty() => {}
                text => return Some(text.map(|text| Input { name, text: unmarked(text) })),
            }
        }
    }
}

/// The fields that tell one form from another.
#[derive(Deserialize)]
struct Fields {
    #[serde(default, deserialize_with = "present")]
    interleaf: bool,
    #[serde(default, rename = "interleaf_prompt", deserialize_with = "present")]
    prompt: bool,
}

/// The names of an object's fields, in order.
struct FieldNames(Vec<String>);

impl<'de> Deserialize<'de> for FieldNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = FieldNames;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FieldNames, A::Error> {
                let mut names = Vec::new();
                while let Some((name, _)) = map.next_entry::<String, IgnoredAny>()? {
                    names.push(name);
                }
                Ok(FieldNames(names))
            }
        }
        deserializer.deserialize_map(Names)
    }
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

/// Reads a file, or standard input if `path` is `-`, whatever is in it.
pub(crate) fn read_bytes(path: &Path, limit: ByteCount) -> Result<(String, Vec<u8>), Failure> {
    if path.as_os_str() == STANDARD_INPUT {
        let name = "<stdin>".to_owned();
        take_standard_input()?;
        let bytes = read_up_to(io::stdin().lock(), &name, limit)?;
        return Ok((name, bytes));
    }
    let name = path.display().to_string();
    let bytes = read_file(path, &name, limit)?;
    Ok((name, bytes))
}

/// A text without the byte order mark at its start.
fn unmarked(text: String) -> String {
    match text.strip_prefix('\u{feff}') {
        Some(unmarked) => unmarked.to_owned(),
        None => text,
    }
}

/// Standard input can be read once only.
fn take_standard_input() -> Result<(), Failure> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(Failure::new("-", "standard input can be read once only"));
    }
    Ok(())
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
