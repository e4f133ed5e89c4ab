//! Server-sent events, from bytes that are cut anywhere.
//!
//! Unlike the decoders at hand, this one keeps the bytes of a frame that could not
//! be read, has a limit, and tells a last frame that never ended.

use std::fmt;

use memchr::memchr2;
use serde_json::value::RawValue;

use crate::api_error::{HEAD, Mask, head};
use crate::error::Fault;
use crate::{Delta, Error, ErrorKind};

/// A frame larger than this is no answer of a model.
const LARGEST_FRAME: usize = 64 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Event {
    /// Its name; empty if it had none.
    pub(crate) name: String,
    /// Its data, the lines joined with newlines.
    pub(crate) data: String,
}

impl Event {
    /// Its data as JSON.
    pub(crate) fn json(&self) -> Result<&RawValue, Error> {
        serde_json::from_str(&self.data).map_err(|e| self.corrupt(e))
    }

    /// It cannot be read: why, and its bytes.
    pub(crate) fn corrupt(&self, reason: impl fmt::Display) -> Error {
        let (name, data) = (head(&self.name), head(&self.data));
        let which =
            if name.is_empty() { "an event".to_owned() } else { format!("the event {name:?}") };
        let rule = format!("{which} of the stream cannot be read ({reason}): {data}");
        Error::new(ErrorKind::Corrupt, rule)
    }

    /// It cannot be read, for a fault in its data.
    pub(crate) fn faulty(&self, fault: Fault<'_>) -> Error {
        self.corrupt(fault.locate(&self.data))
    }

    /// It is handed on: there is no word for it.
    pub(crate) fn unknown(&self) -> Delta {
        Delta::Unknown { event: self.name.clone(), data: self.data.clone() }
    }
}

/// Takes bytes, gives events.
#[derive(Debug, Default)]
pub(crate) struct Sse {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The event that has not ended yet.
    event: Event,
    has_data: bool,
    /// The last byte was a carriage return: a newline that follows belongs to it.
    after_return: bool,
    /// A line has ended. Only the first may begin with a byte order mark.
    has_begun: bool,
    /// A line of data, or with the name of an event, has come.
    has_fields: bool,
    /// How the first line begins that no event has, for people to read.
    strange: Option<String>,
}

/// What a line may begin with; a comment begins with the colon.
const FIELDS: [&str; 5] = [":", "data", "event", "id", "retry"];

/// How many bytes are shown of what is no event at all.
const SHOWN_STRANGE: usize = 40;

/// How many are shown of a line that cannot be read.
const SHOWN_LINE: usize = 1000;

impl Sse {
    /// Takes the next bytes, and hands each event that they complete to `each`.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        mask: Mask<'_>,
        each: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                self.line.extend_from_slice(bytes);
                return self.check_size();
            };
            self.line.extend_from_slice(&bytes[..end]);
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.check_size()?;
            self.end_line(mask, each)?;
        }
        Ok(())
    }

    /// How the first line begins that no event has, if there was one, and no event.
    pub(crate) fn strange(&self) -> Option<&str> {
        self.strange.as_deref().filter(|_| !self.has_fields)
    }

    fn note_strange(&mut self, line: &[u8], mask: Mask<'_>) {
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        // The last line may be cut.
        let is_known =
            |field: &&str| line.starts_with(field.as_bytes()) || field.as_bytes().starts_with(line);
        if self.strange.is_none() && !FIELDS.iter().any(is_known) {
            self.strange = Some(beginning(line, SHOWN_STRANGE, mask));
        }
    }

    /// Takes the end of the connection: a last event without its empty line still
    /// counts, for many servers close in this way.
    pub(crate) fn finish(
        &mut self,
        mask: Mask<'_>,
        each: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if !self.line.is_empty() {
            self.end_line(mask, each)?;
        }
        self.end_event(each)
    }

    fn end_line(
        &mut self,
        mask: Mask<'_>,
        each: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_event(each);
        }
        self.note_strange(&line, mask);
        let line = String::from_utf8(line).map_err(|e| {
            let shown = beginning(e.as_bytes(), SHOWN_LINE, mask);
            Error::new(ErrorKind::Corrupt, format!("a line of the stream is not UTF-8: {shown}"))
        })?;
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let mark = if is_first { "\u{feff}" } else { "" };
        let line = line.strip_prefix(mark).unwrap_or(&line);
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        self.has_fields |= matches!(field, "data" | "event");
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event.name),
            // Comments, ids and retry times say nothing of the answer.
            _ => {}
        }
        Ok(())
    }

    fn end_event(&mut self, each: &mut dyn FnMut(Event) -> Result<(), Error>) -> Result<(), Error> {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) { each(event) } else { Ok(()) }
    }

    fn check_size(&self) -> Result<(), Error> {
        if self.line.len() + self.event.data.len() > LARGEST_FRAME {
            let rule = format!("a frame of the stream is larger than {LARGEST_FRAME} bytes");
            return Err(Error::new(ErrorKind::Corrupt, rule));
        }
        Ok(())
    }
}

/// How bytes begin, for people to read, without the key.
fn beginning(bytes: &[u8], most: usize, mask: Mask<'_>) -> String {
    let mut shown = Vec::new();
    for chunk in bytes.get(..HEAD).unwrap_or(bytes).utf8_chunks() {
        shown.extend_from_slice(mask.given(chunk.valid()).as_bytes());
        shown.extend_from_slice(chunk.invalid());
    }
    let more = if shown.len() > most || bytes.len() > HEAD { "…" } else { "" };
    shown.truncate(most);
    format!("\"{}{more}\"", shown.escape_ascii())
}
