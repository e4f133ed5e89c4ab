//! How long to wait before the next try.
//!
//! | told by | as |
//! |---|---|
//! | `retry-after-ms` | milliseconds |
//! | `retry-after` | seconds, or a date |
//! | the body (`RetryInfo` of Google's) | seconds with an `s` |
//! | `…ratelimit…reset…` of a limit with nothing remaining | `6m0s`, seconds, an instant |
//! | the message: "try again in …" | `1.5s`, `20ms`, `6m0s` |
//!
//! The first that is there counts. An instant becomes a duration if the answer has a
//! `date`: there is no clock here.

use std::time::Duration;

use interleaf_model::Timestamp;

use super::headers::Headers;
use super::{ApiErrorKind, Told};

/// Nobody waits longer than this for an answer: a number that asks for more is told as this.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// How long to wait, or until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Wait {
    pub(super) duration: Option<Duration>,
    pub(super) instant: Option<Timestamp>,
}

impl Wait {
    pub(super) fn read(headers: &Headers<'_>, told: &Told, kind: ApiErrorKind) -> Self {
        let milliseconds = || headers.get("retry-after-ms").and_then(number);
        if let Some(ms) = milliseconds() {
            return Self::lasting(duration(ms / 1000.0));
        }
        let header = || Self::at(headers.get("retry-after")?, headers);
        let body = || told.wait.map(Self::lasting);
        let limits = || (kind == ApiErrorKind::RateLimited).then(|| reset(headers)).flatten();
        let words = || in_words(&told.message).map(Self::lasting);
        header().or_else(body).or_else(limits).or_else(words).unwrap_or_default()
    }

    pub(super) fn lasting(duration: Duration) -> Self {
        Self { duration: Some(duration), instant: None }
    }

    /// Reads a duration or an instant, in all forms that headers use.
    fn at(text: &str, headers: &Headers<'_>) -> Option<Self> {
        // A number this large counts seconds since 1970, or milliseconds.
        const SECONDS: f64 = 1e9;
        const MILLISECONDS: f64 = 1e12;
        let instant = match number(text) {
            Some(n) if n >= SECONDS => {
                let seconds = if n >= MILLISECONDS { n / 1e3 } else { n };
                match Timestamp::from_microseconds((seconds * 1e6) as i64) {
                    Ok(instant) => instant,
                    Err(_) => return Some(Self::lasting(LONGEST)),
                }
            }
            Some(s) => return Some(Self::lasting(duration(s))),
            None => match seconds(text) {
                Some(wait) => return Some(Self::lasting(wait)),
                None => text.parse().or_else(|_| Timestamp::from_http_date(text)).ok()?,
            },
        };
        let now = headers.get("date").and_then(|date| Timestamp::from_http_date(date).ok());
        let Some(now) = now else {
            return Some(Self { duration: None, instant: Some(instant) });
        };
        let left = instant.as_microseconds().saturating_sub(now.as_microseconds());
        Some(Self::lasting(Duration::from_micros(u64::try_from(left).unwrap_or_default())))
    }
}

/// The longest wait among the limits that are used up. A limit that does not say what
/// remains of it may be the one.
fn reset(headers: &Headers<'_>) -> Option<Wait> {
    let is_limit = |name: &str| name.contains("ratelimit") && name.contains("reset");
    let waits = headers.iter().filter(|(name, _)| is_limit(name)).filter_map(|(name, value)| {
        let remaining = headers.get(&name.replace("reset", "remaining")).and_then(number);
        if remaining.is_some_and(|remaining| remaining > 0.0) {
            return None;
        }
        Wait::at(value, headers)
    });
    waits.max_by_key(|wait| (wait.duration, wait.instant))
}

/// What a sentence such as "Please try again in 1.5s." says.
fn in_words(message: &str) -> Option<Duration> {
    let (_, after) = message.split_once("try again in ")?;
    let word = after.split_whitespace().next()?.trim_end_matches(['.', ',']);
    let unit = after.split_whitespace().nth(1).unwrap_or_default();
    match number(word) {
        Some(n) if unit.starts_with("minute") => Some(duration(n * 60.0)),
        Some(n) if unit.starts_with("second") => Some(duration(n)),
        Some(_) => None,
        None => seconds(word),
    }
}

/// Reads durations such as `1s`, `20ms`, `34.074824224s`, `6m0s`, `1h2m3s`.
pub(crate) fn seconds(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (digits, after) = rest.split_at(end);
        let unit_end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let unit = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        total += number(digits)? * unit;
        rest = after;
    }
    Some(duration(total))
}

/// A number, also one without end: whoever says `inf` or 1e999 asks for a wait.
fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| !number.is_nan())
}

/// What is negative is past, as an instant may be.
fn duration(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.clamp(0.0, LONGEST.as_secs_f64()))
}
