//! Frames of `application/vnd.amazon.eventstream`, from bytes that are cut anywhere.
//!
//! ```text
//!   total length │ headers length │ CRC of these two │ headers │ payload │ CRC of all before
//!      4 bytes   │    4 bytes     │     4 bytes      │         │         │      4 bytes
//! ```
//!
//! A header is a name with a length of one byte, a type byte and a value; those that
//! say what the frame is are strings. Own code, because AWS's decoder brings twenty
//! packages along (`http`, `time`, …), has no size limit and checks the length of a
//! frame only when that many bytes have come. Tests decode what AWS's encoder wrote.

use crate::api_error::HEAD;
use crate::sse::Event;
use crate::{ApiError, Error, ErrorKind, Family};

/// The largest frame of the protocol.
const LARGEST_FRAME: usize = 24 * 1024 * 1024;
/// The two lengths and their checksum.
const PRELUDE: usize = 12;
/// The checksum at the end.
const CHECKSUM: usize = 4;

/// Takes bytes, gives events.
#[derive(Debug, Default)]
pub(crate) struct EventStream {
    /// What has come of frames that are not whole.
    buffer: Vec<u8>,
}

impl EventStream {
    /// Takes the next bytes, and hands each event that they complete to `each`.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.buffer.extend_from_slice(bytes);
        let mut start = 0;
        let outcome = loop {
            match frame(&self.buffer[start..]) {
                Ok(None) => break Ok(()),
                Ok(Some((length, frame))) => {
                    if let Err(error) = frame.event().and_then(&mut *each) {
                        break Err(error);
                    }
                    start += length;
                }
                Err(error) => break Err(error),
            }
        };
        self.buffer.drain(..start);
        outcome
    }

    /// Takes the end of the connection.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let rule = format!("the connection ended {} bytes into a frame", self.buffer.len());
        Err(Error::new(ErrorKind::Cut, rule))
    }
}

/// What a frame says.
#[derive(Default)]
struct Frame<'a> {
    message_type: &'a str,
    event_type: &'a str,
    exception_type: &'a str,
    error_code: &'a str,
    error_message: &'a str,
    payload: &'a [u8],
}

impl Frame<'_> {
    fn event(&self) -> Result<Event, Error> {
        let data = std::str::from_utf8(self.payload).map_err(|_| {
            let shown = String::from_utf8_lossy(self.payload.get(..HEAD).unwrap_or(self.payload));
            corrupt(format!("the payload of a frame is not UTF-8: {shown:?}"))
        })?;
        match self.message_type {
            "exception" => Err(ApiError::named(Family::Bedrock, self.exception_type, data).into()),
            "error" => {
                let (code, message) = (self.error_code, self.error_message);
                Err(ApiError::named(Family::Bedrock, code, message).into())
            }
            _ => Ok(Event { name: self.event_type.to_owned(), data: data.to_owned() }),
        }
    }
}

/// The frame at the head of `bytes` and its length, if it is whole.
fn frame(bytes: &[u8]) -> Result<Option<(usize, Frame<'_>)>, Error> {
    let Some((prelude, _)) = bytes.split_at_checked(PRELUDE) else {
        return Ok(None);
    };
    let (total, headers) = (number(prelude, 0), number(prelude, 4));
    if crc32fast::hash(&prelude[..8]) as usize != number(prelude, 8) {
        return Err(corrupt(format!(
            "the lengths of a frame do not match their checksum: {}",
            hex(prelude)
        )));
    }
    if total > LARGEST_FRAME {
        return Err(corrupt(format!("a frame of {total} bytes is larger than {LARGEST_FRAME}")));
    }
    if total < PRELUDE + CHECKSUM || headers > total - PRELUDE - CHECKSUM {
        return Err(corrupt(format!(
            "the lengths in a frame contradict each other: {}",
            hex(prelude)
        )));
    }
    let Some(whole) = bytes.get(..total) else {
        return Ok(None);
    };
    let (checked, _) = whole.split_at(total - CHECKSUM);
    if crc32fast::hash(checked) as usize != number(whole, total - CHECKSUM) {
        return Err(corrupt(format!("a frame does not match its checksum: {}", hex(whole))));
    }
    let (headers, payload) = checked[PRELUDE..].split_at(headers);
    let mut frame = Frame { payload, ..Frame::default() };
    read_headers(headers, &mut frame).ok_or_else(|| {
        corrupt(format!("the headers of a frame cannot be read: {}", hex(headers)))
    })?;
    Ok(Some((total, frame)))
}

fn read_headers<'a>(mut rest: &'a [u8], frame: &mut Frame<'a>) -> Option<()> {
    while let Some((&length, after)) = rest.split_first() {
        let (name, after) = after.split_at_checked(length.into())?;
        let (&kind, after) = after.split_first()?;
        // True, false, byte, short, integer, long, bytes, string, instant, UUID.
        let (skipped, length) = match kind {
            0 | 1 => (0, 0),
            2 => (0, 1),
            3 => (0, 2),
            4 => (0, 4),
            5 | 8 => (0, 8),
            6 | 7 => (2, usize::from(u16::from_be_bytes([*after.first()?, *after.get(1)?]))),
            9 => (0, 16),
            _ => return None,
        };
        let (value, after) = after.get(skipped..)?.split_at_checked(length)?;
        rest = after;
        let slot = match name {
            b":message-type" => &mut frame.message_type,
            b":event-type" => &mut frame.event_type,
            b":exception-type" => &mut frame.exception_type,
            b":error-code" => &mut frame.error_code,
            b":error-message" => &mut frame.error_message,
            _ => continue,
        };
        *slot = std::str::from_utf8(value).ok()?;
    }
    Some(())
}

/// Four bytes as a number; zero beyond the end.
fn number(bytes: &[u8], at: usize) -> usize {
    let four = bytes.get(at..at + 4).and_then(|four| <[u8; 4]>::try_from(four).ok());
    u32::from_be_bytes(four.unwrap_or_default()) as usize
}

fn corrupt(rule: String) -> Error {
    Error::new(ErrorKind::Corrupt, rule)
}

/// The bytes as text, the first of them if there are many.
fn hex(bytes: &[u8]) -> String {
    const SHOWN: usize = 256;
    let mut text: String = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
    if bytes.len() > SHOWN {
        text.push('…');
    }
    text
}
