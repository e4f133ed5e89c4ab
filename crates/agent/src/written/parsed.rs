//! Values that are written as a text, or as a number where that says it too.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A value that is read from its text.
#[derive(Debug, Clone)]
pub(crate) struct Parsed<T>(pub(crate) T);

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text<T>(PhantomData<T>);

        impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Text<T> {
            type Value = Parsed<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Parsed<T>, E> {
                text.parse().map(Parsed).map_err(|error: T::Err| E::custom(error))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Parsed<T>, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Parsed<T>, E> {
                self.visit_str(&number.to_string())
            }
        }

        from.deserialize_any(Text(PhantomData))
    }
}

/// A length of time, written `90s`, `30m`, `2h`, `3d`, or as a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Length(pub(crate) Duration);

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rule = || format!("{text:?} is no length of time, such as 90s, 30m, 2h or 3d");
        let text = text.trim();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &text[digits.len()..] {
            "" | "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return Err(rule()),
        };
        let seconds = digits.trim_end().parse::<f64>().map_err(|_| rule())? * unit;
        let length = Duration::try_from_secs_f64(seconds).ok().filter(|length| !length.is_zero());
        length.map(Self).ok_or_else(rule)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        match (seconds, self.0.subsec_nanos()) {
            (s, 0) if s > 0 && s % 86_400 == 0 => write!(f, "{}d", s / 86_400),
            (s, 0) if s > 0 && s % 3600 == 0 => write!(f, "{}h", s / 3600),
            (s, 0) if s > 0 && s % 60 == 0 => write!(f, "{}m", s / 60),
            _ => write!(f, "{}s", self.0.as_secs_f64()),
        }
    }
}
