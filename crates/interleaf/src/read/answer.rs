//! An answer of an API as it was recorded.
//!
//! | what is there | what it is |
//! |---|---|
//! | `{"stream": …, "response": …}` | an envelope around one of the following |
//! | a JSON object | an answer that came whole |
//! | a JSON list | the events of a stream |
//! | lines with `data:` | a stream of server-sent events |
//! | bytes that are no text, or base64 of such | a binary stream of Bedrock's |

use interleaf_model::{Reply, Tool};
use interleaf_wire::{Decoder, ErrorKind, Family, NameMap, Vendor, detect};
use serde_json::value::RawValue;

use super::{Fields, unmarked};
use crate::text_form::TextForm;
use crate::{Error, InputFault};

/// An answer, whole or streamed.
///
/// ```
/// use interleaf::read::Answer;
///
/// let recorded = r#"{"choices": [{"message": {"role": "assistant", "content": "hi"}}]}"#;
/// let answer = Answer::of(recorded.as_bytes().to_vec())?;
/// let reply = answer.decode(answer.family().unwrap())?;
/// assert_eq!(reply.message.texts().collect::<String>(), "hi");
/// # Ok::<(), interleaf::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Answer {
    /// Whether the model makes its calls in words: they are read out of its text.
    pub text_tools: bool,
    recorded: Recorded,
    is_recording: bool,
}

#[derive(Debug, Clone)]
enum Recorded {
    /// It came whole.
    Whole(String),
    /// It came in events, as text.
    Events(String),
    /// It came in Bedrock's frames.
    Frames(Vec<u8>),
}

impl Answer {
    /// Looks at what was recorded.
    ///
    /// # Errors
    /// If there is nothing in it, or it begins like JSON and is none.
    pub fn of(bytes: Vec<u8>) -> Result<Self, Error> {
        let mut is_recording = false;
        let recorded = Recorded::of(bytes, &mut is_recording)?;
        Ok(Self { text_tools: false, recorded, is_recording })
    }

    /// Whether it came in an envelope, with a note of how it was sent.
    pub fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// The API that gave it, if that can be seen.
    pub fn family(&self) -> Option<Family> {
        match &self.recorded {
            Recorded::Whole(text) => detect::answer(text),
            Recorded::Events(text) => detect::stream(text.as_bytes()),
            Recorded::Frames(bytes) => detect::stream(bytes),
        }
    }

    /// Reads it. Names of tools stay as the API has them.
    ///
    /// # Errors
    /// If the API answered with an error, or the answer is cut off or damaged.
    pub fn decode(&self, family: Family) -> Result<Reply, Error> {
        self.decode_for(family, &[])
    }

    /// Reads the answer to a request with these tools: they are called by the names that
    /// they have here, also where the API did not take such a name.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_for(&self, family: Family, tools: &[Tool]) -> Result<Reply, Error> {
        let decoder = self.decoder(family, tools);
        let reply = match &self.recorded {
            Recorded::Whole(text) => decoder.whole(200, [], text.as_bytes()),
            Recorded::Events(text) => decoder.recorded(text.as_bytes()),
            Recorded::Frames(bytes) => decoder.recorded(bytes),
        };
        Ok(reply.map_err(|e| match self.family() {
            Some(seen) if seen != family && e.kind() != ErrorKind::Api => {
                InputFault::new(format!("this is an answer of {seen}, not of {family}"))
            }
            _ => InputFault::wire(&e),
        })?)
    }

    /// Reads as much of it as can be read: of an answer that is cut off or damaged what
    /// has come, with a finish that says so, and what is wrong with it.
    ///
    /// # Errors
    /// As [`decode_for`](Self::decode_for), if nothing of it can be read.
    pub fn decode_part(
        &self,
        family: Family,
        tools: &[Tool],
    ) -> Result<(Reply, Option<Error>), Error> {
        let fault = match self.decode_for(family, tools) {
            Ok(reply) => return Ok((reply, None)),
            Err(fault) => fault,
        };
        let bytes = match &self.recorded {
            Recorded::Whole(_) => return Err(fault),
            Recorded::Events(text) => text.as_bytes(),
            Recorded::Frames(bytes) => bytes,
        };
        let mut stream = self.decoder(family, tools).stream();
        let is_cut = stream.push(bytes).and_then(|_| stream.finish()).is_err();
        match stream.partial().filter(|_| is_cut) {
            Some(reply) => Ok((reply, Some(fault))),
            None => Err(fault),
        }
    }

    fn decoder(&self, family: Family, tools: &[Tool]) -> Decoder {
        if self.text_tools {
            let reader = TextForm::new(tools.into()).reader();
            return Decoder::new(family, NameMap::default()).reading(reader);
        }
        Decoder::new(family, NameMap::of(tools, Vendor::of(family)))
    }
}

impl Recorded {
    /// Looks into the envelope, if there is one, and says so.
    fn of(bytes: Vec<u8>, is_recording: &mut bool) -> Result<Self, Error> {
        let text = match String::from_utf8(bytes) {
            // Lengths are big-endian, and no frame is larger than 16 MiB.
            Ok(text) if !text.starts_with('\0') => unmarked(&text).to_owned(),
            Ok(text) => return Ok(Self::Frames(text.into_bytes())),
            Err(e) => return Ok(Self::Frames(e.into_bytes())),
        };
        let json = |e: serde_json::Error| InputFault::json(&e);
        match text.trim_start().as_bytes().first() {
            None => Err(InputFault::new("there is nothing in it").into()),
            Some(b'{') => {
                let fields = serde_json::from_str::<Fields<'_>>(&text).ok();
                let inner = fields.and_then(|fields| fields.get("response"));
                *is_recording |= inner.is_some();
                match inner {
                    Some(inner) if inner.get().starts_with('"') => {
                        let inner: String = serde_json::from_str(inner.get()).map_err(json)?;
                        Self::of(inner.into_bytes(), is_recording)
                    }
                    Some(inner) => Self::of(inner.get().as_bytes().to_vec(), is_recording),
                    None => Ok(Self::Whole(text)),
                }
            }
            Some(b'[') => {
                let events: Vec<&RawValue> = serde_json::from_str(&text).map_err(json)?;
                // A line break inside an event would end its `data`.
                let line = |event: &&RawValue| event.get().replace(['\n', '\r'], " ");
                let events = events.iter().map(|event| format!("data: {}\n\n", line(event)));
                Ok(Self::Events(events.collect()))
            }
            Some(_) => match from_base64(text.trim()) {
                Some(frames) if frames.starts_with(b"\0") => Ok(Self::Frames(frames)),
                _ => Ok(Self::Events(text)),
            },
        }
    }
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut n_bits) = (0_u32, 0);
    let digits = text.trim_end_matches('=').bytes().filter(|c| !c.is_ascii_whitespace());
    for c in digits {
        held = (held << 6) | u32::from(digit(c)?);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((held >> n_bits) as u8);
            held &= (1 << n_bits) - 1;
        }
    }
    Some(bytes)
}
