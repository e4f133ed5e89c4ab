//! Instants, without a clock.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Error, ErrorKind};

/// An instant in microseconds since 1970, written as RFC 3339 in UTC.
///
/// Digits beyond the microsecond are cut off when a text is read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From microseconds since 1970.
    ///
    /// # Errors
    /// If the instant lies outside the years -9999 to 9999, whose last day ends early.
    pub fn from_microseconds(microseconds: i64) -> Result<Self, Error> {
        match jiff::Timestamp::from_microsecond(microseconds) {
            Ok(_) => Ok(Self(microseconds)),
            Err(_) => Err(Error::rule(out_of_range("the instant"))),
        }
    }

    /// Reads a date as HTTP headers write it, such as `Sun, 15 Nov 2026 10:00:00 GMT`.
    ///
    /// # Errors
    /// If the text is no such date.
    pub fn from_http_date(text: &str) -> Result<Self, Error> {
        match jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text.trim()) {
            Ok(instant) => Ok(Self(instant.as_microsecond())),
            Err(_) => {
                let rule = format!("{text:?} is not a date as HTTP writes it");
                Err(Error::new(ErrorKind::Syntax, rule))
            }
        }
    }

    /// The date as HTTP headers write it, to the second; none before the year 0.
    pub fn to_http_date(self) -> Option<String> {
        let instant = jiff::Timestamp::from_microsecond(self.0).ok()?;
        jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&instant).ok()
    }

    /// The instant so much later, such as `2h`, `90m` or `1d 12h`; a day has 24 hours.
    ///
    /// ```
    /// use interleaf_model::Timestamp;
    ///
    /// let at: Timestamp = "2026-11-15T10:00:00Z".parse()?;
    /// assert_eq!(at.later("1d 2h")?.to_string(), "2026-11-16T12:00:00Z");
    /// assert!(at.later("-1h").is_err() && at.later("0s").is_err());
    /// # Ok::<(), interleaf_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the text is no length of time, or nothing comes that late.
    pub fn later(self, length: &str) -> Result<Self, Error> {
        let days = jiff::SpanRelativeTo::days_are_24_hours();
        let span = length.parse::<jiff::Span>().and_then(|span| span.to_duration(days));
        let length = span.ok().filter(|span| span.is_positive()).ok_or_else(|| {
            let rule = format!("{length:?} is not a length of time, such as 2h, 90m or 1d 12h");
            Error::new(ErrorKind::Syntax, rule)
        })?;
        let later = i64::try_from(length.as_micros()).ok().and_then(|by| self.0.checked_add(by));
        Self::from_microseconds(later.unwrap_or(i64::MAX))
    }

    /// Microseconds since 1970.
    pub fn as_microseconds(self) -> i64 {
        self.0
    }
}

impl FromStr for Timestamp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.parse::<jiff::Timestamp>() {
            Ok(instant) => Ok(Self(instant.as_microsecond())),
            Err(_) if is_date_with_offset(text) => {
                Err(Error::rule(out_of_range(&format!("{text:?}"))))
            }
            Err(_) => Err(Error::new(
                ErrorKind::Syntax,
                format!(
                    "{text:?} is not an instant: RFC 3339 with an offset is expected, such as 2026-11-15T10:00:00Z"
                ),
            )),
        }
    }
}

/// Whether a text is written as an instant is, whenever that may be.
fn is_date_with_offset(text: &str) -> bool {
    jiff::fmt::temporal::Pieces::parse(text)
        .is_ok_and(|pieces| pieces.time().is_some() && pieces.offset().is_some())
}

/// Offsets of up to a day must lead to no year of five digits: the bounds are a day inside the
/// years.
fn out_of_range(what: &str) -> String {
    let (first, last) = (jiff::Timestamp::MIN, jiff::Timestamp::MAX);
    format!("{what} is out of range: instants go from {first:.0} to {last:.0}")
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The constructors refuse what jiff cannot hold.
        let instant = jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::MIN);
        write!(f, "{instant}")
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|e: Error| serde::de::Error::custom(e.message()))
    }
}
