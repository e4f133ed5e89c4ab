//! How long is waited, and how often it is tried.

use std::fmt;
use std::time::{Duration, Instant};

/// How long a call may take. `None`: as long as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// Until the connection stands, TLS included; of each try.
    pub connect: Option<Duration>,
    /// Until the first byte of the answer's body, from the moment of sending; of each try.
    pub first_byte: Option<Duration>,
    /// Between two pieces of an answer.
    pub idle: Option<Duration>,
    /// For the whole call: all tries, the waits between them, and the answer to its end.
    pub total: Option<Duration>,
    /// When the whole began, if it began before the call: what is done to make a request takes
    /// time too.
    pub began: Option<Instant>,
}

/// Which of the time-outs ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// [`Timeouts::connect`].
    Connect,
    /// [`Timeouts::first_byte`].
    FirstByte,
    /// [`Timeouts::idle`].
    Idle,
    /// [`Timeouts::total`].
    Total,
}

/// How often a call is tried again, and for how long.
///
/// A wait is chosen at random between nothing and a bound that doubles with every try (full
/// jitter), so that many clients do not come back together. What the API itself says of the
/// wait counts more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retries {
    /// How often at most, after the first try.
    pub most: u32,
    /// The bound of the first wait.
    pub first_wait: Duration,
    /// The bound that no wait of ours goes over.
    pub longest_wait: Duration,
    /// The longest wait that an API may ask for. If it asks for more, the call fails with that
    /// figure.
    pub longest_asked: Duration,
    /// No try begins later than this after the first one failed: how long that one took does not
    /// count, nor what was done before it. Each target has as much.
    pub total: Duration,
}

impl Default for Timeouts {
    /// 10 s to connect, 10 minutes to the first byte (a thinking model that does not stream is
    /// silent for minutes), 2 minutes between bytes, an hour in all.
    fn default() -> Self {
        let seconds = |n| Some(Duration::from_secs(n));
        Self {
            connect: seconds(10),
            first_byte: seconds(600),
            idle: seconds(120),
            total: seconds(3600),
            began: None,
        }
    }
}

impl Default for Retries {
    /// Four more tries, with waits of up to 0.5, 1, 2 and 4 s; at most a minute if the API asks
    /// for it, and five minutes from the first failure.
    fn default() -> Self {
        Self {
            most: 4,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(30),
            longest_asked: Duration::from_secs(60),
            total: Duration::from_secs(300),
        }
    }
}

impl Timeouts {
    /// No time-out at all.
    pub const NONE: Self =
        Self { connect: None, first_byte: None, idle: None, total: None, began: None };

    /// The same, with this time to connect.
    #[must_use]
    pub fn connect(self, limit: Duration) -> Self {
        Self { connect: Some(limit), ..self }
    }

    /// The same, with this time to the first byte.
    #[must_use]
    pub fn first_byte(self, limit: Duration) -> Self {
        Self { first_byte: Some(limit), ..self }
    }

    /// The same, with this time between two pieces of an answer.
    #[must_use]
    pub fn idle(self, limit: Duration) -> Self {
        Self { idle: Some(limit), ..self }
    }

    /// The same, with this time in all.
    #[must_use]
    pub fn total(self, limit: Duration) -> Self {
        Self { total: Some(limit), ..self }
    }

    /// The same, with the time in all counted from then.
    #[must_use]
    pub fn since(self, began: Instant) -> Self {
        Self { began: Some(began), ..self }
    }

    /// How long is waited under one of the limits.
    pub fn of(&self, limit: Limit) -> Option<Duration> {
        match limit {
            Limit::Connect => self.connect,
            Limit::FirstByte => self.first_byte,
            Limit::Idle => self.idle,
            Limit::Total => self.total,
        }
    }
}

impl Retries {
    /// No second try.
    #[must_use]
    pub fn none() -> Self {
        Self::at_most(0)
    }

    /// At most this many tries after the first.
    #[must_use]
    pub fn at_most(most: u32) -> Self {
        Self { most, ..Self::default() }
    }

    /// The same, with waits of ours between this one and that.
    #[must_use]
    pub fn waiting(self, first: Duration, longest: Duration) -> Self {
        Self { first_wait: first, longest_wait: longest, ..self }
    }

    /// The bound of the wait before the try of this number, from 1.
    pub fn bound(&self, number: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(number.saturating_sub(1));
        self.first_wait.saturating_mul(doubled).min(self.longest_wait)
    }

    /// How long to wait before the try of this number.
    pub(crate) fn wait(&self, number: u32) -> Duration {
        self.bound(number).mul_f64(fastrand::f64())
    }
}

impl Limit {
    /// The name by which the limit is set.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::FirstByte => "first-byte",
            Self::Idle => "idle",
            Self::Total => "total",
        }
    }

    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Self::Connect => "no connection",
            Self::FirstByte => "no byte of an answer",
            Self::Idle => "the answer fell silent",
            Self::Total => "the call was not done",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_never_longer_than_its_bound_and_the_bound_doubles_up_to_its_end() {
        let retries =
            Retries::default().waiting(Duration::from_millis(100), Duration::from_secs(1));
        let bounds = (1..=6).map(|n| retries.bound(n).as_millis()).collect::<Vec<_>>();
        assert_eq!(bounds, [100, 200, 400, 800, 1000, 1000]);
        assert_eq!(retries.bound(u32::MAX), Duration::from_secs(1));
        let mut seen = Vec::new();
        for number in (1..=4).cycle().take(400) {
            let wait = retries.wait(number);
            assert!(wait <= retries.bound(number), "{number}: {wait:?}");
            seen.push(wait);
        }
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() > 100, "the waits are not spread: {}", seen.len());
    }
}
