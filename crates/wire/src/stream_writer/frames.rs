//! How the events of a stream are put on the line.

use std::fmt;
use std::io::Write as _;

use crate::stream::Framing;

/// Where events go.
pub(crate) struct Frames<'a> {
    pub(crate) framing: Framing,
    pub(crate) out: &'a mut Vec<u8>,
}

impl Frames<'_> {
    /// Writes an event. One of server-sent events may have no name.
    pub(crate) fn event(&mut self, name: &str, data: fmt::Arguments<'_>) {
        match self.framing {
            Framing::Sse if name.is_empty() => self.put(format_args!("data: {data}\n\n")),
            Framing::Sse => self.put(format_args!("event: {name}\ndata: {data}\n\n")),
            Framing::EventStream => {
                let headers = [
                    (":event-type", name),
                    (":content-type", "application/json"),
                    (":message-type", "event"),
                ];
                self.frame(&headers, data);
            }
        }
    }

    /// Writes an exception, which only event streams have.
    pub(crate) fn exception(&mut self, name: &str, data: fmt::Arguments<'_>) {
        let headers = [
            (":exception-type", name),
            (":content-type", "application/json"),
            (":message-type", "exception"),
        ];
        self.frame(&headers, data);
    }

    fn put(&mut self, text: fmt::Arguments<'_>) {
        // A vector takes whatever fits into memory.
        let _infallible = self.out.write_fmt(text);
    }

    /// Writes a frame: its lengths and their checksum are known at its end.
    fn frame(&mut self, headers: &[(&str, &str)], payload: fmt::Arguments<'_>) {
        const STRING: u8 = 7;
        let start = self.out.len();
        self.out.extend_from_slice(&[0; 12]);
        for (name, value) in headers {
            // Names and values are ours, and short.
            self.out.push(u8::try_from(name.len()).unwrap_or_default());
            self.out.extend_from_slice(name.as_bytes());
            self.out.push(STRING);
            let length = u16::try_from(value.len()).unwrap_or_default();
            self.out.extend_from_slice(&length.to_be_bytes());
            self.out.extend_from_slice(value.as_bytes());
        }
        let n_headers = self.out.len() - start - 12;
        self.put(payload);
        let total = self.out.len() - start + 4;
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_be_bytes();
        self.out[start..start + 4].copy_from_slice(&number(total));
        self.out[start + 4..start + 8].copy_from_slice(&number(n_headers));
        let prelude = crc32fast::hash(&self.out[start..start + 8]);
        self.out[start + 8..start + 12].copy_from_slice(&prelude.to_be_bytes());
        let whole = crc32fast::hash(&self.out[start..]);
        self.out.extend_from_slice(&whole.to_be_bytes());
    }
}
