//! JSON put down as text, without a value in between.

use std::fmt;
use std::io;

use interleaf_model::Json;
use serde_json::value::RawValue;

use crate::raw::Fields;

/// Text that grows. Writing to it cannot fail.
pub(crate) trait Put {
    /// Adds formatted text.
    fn put(&mut self, text: fmt::Arguments<'_>);
}

impl Put for String {
    fn put(&mut self, text: fmt::Arguments<'_>) {
        // A string takes whatever fits into memory.
        let _infallible = fmt::Write::write_fmt(self, text);
    }
}

/// A text as a JSON string.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        serde_json::to_writer(Bridge(f), self.0).map_err(|_| fmt::Error)
    }
}

/// A text as a JSON string, or null.
pub(crate) struct QuotedOrNull<'a>(pub(crate) Option<&'a str>);

impl fmt::Display for QuotedOrNull<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(text) => Quoted(text).fmt(f),
            None => f.write_str("null"),
        }
    }
}

/// The serializer writes bytes, a formatter takes text.
struct Bridge<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl io::Write for Bridge<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A string is cut beside escapes only, so that each piece is UTF-8.
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        self.0.write_str(text).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// JSON as it came, on one line: a line break between its tokens would end a line of
/// an event stream.
pub(crate) struct OneLine<'a>(pub(crate) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces = self.0.split(['\n', '\r']);
        f.write_str(pieces.next().unwrap_or_default())?;
        pieces.try_for_each(|piece| write!(f, " {piece}"))
    }
}

/// What a vendor attached to something, when it is written for that vendor.
#[derive(Debug, Default)]
pub(crate) struct Own<'a>(Option<Fields<'a>>);

impl<'a> Own<'a> {
    /// The fields of an object.
    pub(crate) fn of(json: Option<&'a Json>) -> Self {
        Self(json.and_then(|json| Fields::read(json.as_raw()).ok()))
    }

    /// Takes out a field.
    pub(crate) fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        self.0.as_mut()?.take(name)
    }

    /// Takes out a field that is a string.
    pub(crate) fn take_text(&mut self, name: &str) -> Option<std::borrow::Cow<'a, str>> {
        let raw = self.take(name)?;
        crate::raw::text(raw).ok()
    }

    /// Takes out a field that is an object.
    pub(crate) fn take_object(&mut self, name: &str) -> Self {
        Self(self.take(name).and_then(|raw| Fields::read(raw).ok()))
    }

    /// Whether there is such a field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|fields| fields.peek(name).is_some())
    }

    /// Whether nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|fields| fields.iter().next().is_none())
    }

    /// Leaves a field out.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.take(name);
        self
    }
}

impl<'a> From<Fields<'a>> for Own<'a> {
    fn from(fields: Fields<'a>) -> Self {
        Self(Some(fields))
    }
}

/// The fields that are left, each after a comma.
impl fmt::Display for Own<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(fields) = &self.0 else { return Ok(()) };
        fields
            .iter()
            .try_for_each(|(name, value)| write!(f, ",{}:{}", Quoted(name), OneLine(value.get())))
    }
}
