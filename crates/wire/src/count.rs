//! Counts of tokens, as an API tells them. What cannot be read is not known, and is not 0:
//! an answer whose cost is unknown must not seem to cost nothing.

use serde_json::value::RawValue;

use crate::raw::Fields;

/// A count, as it was told last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Count {
    /// The API has said nothing of it. Some leave out what is 0.
    #[default]
    Untold,
    Known(u64),
    /// It is negative, a fraction, a text, beyond [`LARGEST`] or the like.
    Unreadable,
}

/// The largest number that every reader of JSON has exactly; sums of some of them are numbers.
const LARGEST: u64 = 1 << 53;

impl Count {
    /// What is told now, or else what was told before.
    pub(crate) fn then(self, raw: Option<&RawValue>) -> Self {
        let number = |raw: &RawValue| raw.get().parse().ok().filter(|number| *number <= LARGEST);
        raw.map_or(self, |raw| number(raw).map_or(Self::Unreadable, Self::Known))
    }

    /// The same of a count that every answer has: `null` in its place is no 0.
    pub(crate) fn then_main(self, fields: &Fields<'_>, name: &str) -> Self {
        let is_null = || fields.iter().any(|(known, _)| known == name);
        match self.then(fields.peek(name)) {
            Self::Untold if is_null() => Self::Unreadable,
            count => count,
        }
    }

    /// The same of a count in an object of its own.
    pub(crate) fn then_inner(self, fields: &Fields<'_>, object: &str, name: &str) -> Self {
        match fields.peek(object).map(Fields::read) {
            None => self,
            Some(Ok(inner)) => self.then(inner.peek(name)),
            Some(Err(_)) => Self::Unreadable,
        }
    }

    /// This count, or another if it is not told.
    pub(crate) fn or(self, other: impl FnOnce() -> Self) -> Self {
        if self == Self::Untold { other() } else { self }
    }

    /// The number: 0 if the API left it out, nothing if it cannot be read.
    pub(crate) fn number(self) -> Option<u64> {
        match self {
            Self::Untold => Some(0),
            Self::Known(number) => Some(number),
            Self::Unreadable => None,
        }
    }
}

/// The numbers of what was sent and what was made. If neither is told, nothing is known.
pub(crate) fn both(sent: Count, made: Count) -> Option<(u64, u64)> {
    if (sent, made) == (Count::Untold, Count::Untold) {
        return None;
    }
    Some((sent.number()?, made.number()?))
}
