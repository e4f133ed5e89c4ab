//! An answer of an API as it was recorded.
//!
//! | what is there | what it is |
//! |---|---|
//! | `{"stream": …, "response": …}` | an envelope around one of the following |
//! | a JSON object | an answer that came whole |
//! | a JSON list | the events of a stream |
//! | lines with `data:` | a stream of server-sent events |
//! | bytes that are no text, or base64 of such | a binary stream of Bedrock's |

use interleaf::model::Reply;
use interleaf::wire::{Error, Family, NameMap, decode_response, decode_stream};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::detect;
use crate::failure::Failure;

/// An answer, whole or streamed.
pub(crate) enum Answer {
    /// It came whole.
    Whole(String),
    /// It came in events, as text.
    Events(String),
    /// It came in Bedrock's frames.
    Frames(Vec<u8>),
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    response: &'a RawValue,
}

impl Answer {
    /// Looks at what was recorded.
    pub(crate) fn of(name: &str, bytes: Vec<u8>) -> Result<Self, Failure> {
        let text = match String::from_utf8(bytes) {
            // Lengths are big-endian, and no frame is larger than 16 MiB.
            Ok(text) if !text.starts_with('\0') => text,
            Ok(text) => return Ok(Self::Frames(text.into_bytes())),
            Err(e) => return Ok(Self::Frames(e.into_bytes())),
        };
        let json = |e: serde_json::Error| Failure::json(name, &e);
        match text.trim_start().as_bytes().first() {
            None => Err(Failure::new(name, "there is nothing in it")),
            Some(b'{') => match serde_json::from_str::<Envelope<'_>>(&text) {
                Ok(Envelope { response }) if response.get().starts_with('"') => {
                    let inner: String = serde_json::from_str(response.get()).map_err(json)?;
                    Self::of(name, inner.into_bytes())
                }
                Ok(Envelope { response }) => Self::of(name, response.get().as_bytes().to_vec()),
                Err(_) => Ok(Self::Whole(text)),
            },
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

    /// The API that gave it, if that can be seen.
    pub(crate) fn family(&self) -> Option<Family> {
        match self {
            Self::Whole(text) => detect::answer(&serde_json::from_str(text).ok()?),
            Self::Events(text) => text.lines().find_map(|line| {
                let data: Value = serde_json::from_str(line.strip_prefix("data:")?).ok()?;
                detect::answer(&data)
            }),
            Self::Frames(_) => Some(Family::Bedrock),
        }
    }

    /// Reads it.
    pub(crate) fn decode(&self, family: Family) -> Result<Reply, Error> {
        let names = NameMap::default();
        match self {
            Self::Whole(text) => decode_response(family, text, &names),
            Self::Events(text) => decode_stream(family, text.as_bytes(), &names),
            Self::Frames(bytes) => decode_stream(family, bytes, &names),
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
