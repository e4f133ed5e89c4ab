//! Faults on demand.
//!
//! Written as `429`, `429:retry-after=2`, `500`, `529`, `overflow`, `slow:ms=200`,
//! `stall:at=100:ms=5000`, `cut:at=100`, `malformed:at=3`, `content-type`, `truncate`. In a plan
//! the number of the request stands before it: `2=cut:at=100`; without a number it is every
//! request.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The header by which a client asks for a fault in answer to this request.
pub const FAULT_HEADER: &str = "x-double-fault";

/// Something that goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// An error with this status, in the API's shape.
    Status {
        /// The status.
        status: u16,
        /// The seconds in `retry-after`.
        retry_after: Option<u64>,
    },
    /// The prompt is too long, in the API's own words.
    Overflow,
    /// Nothing is sent for a while, not even the status.
    Slow(Duration),
    /// After some bytes of the body nothing is sent for a while.
    Stall {
        /// How many bytes.
        at: usize,
        /// For how long.
        lasts: Duration,
    },
    /// After some bytes of the body the connection breaks.
    Cut {
        /// How many bytes.
        at: usize,
    },
    /// An event of the stream is not JSON; of a whole answer, its second half is missing.
    Malformed {
        /// The number of the event, from 0.
        at: usize,
    },
    /// The answer says that it is a page of HTML.
    ContentType,
    /// The last call or text is cut in half, and the answer ends by length.
    Truncate,
}

/// A fault, and the request that meets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The number of the request, from 1; none is every one.
    pub nth: Option<u64>,
    /// The fault.
    pub fault: Fault,
}

/// A fault that cannot be read, and the rule that it breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadFault(String);

impl BadFault {
    fn of(text: &str) -> Self {
        let known = "a status, overflow, slow, stall, cut, malformed, content-type, truncate";
        Self(format!("{text}: a fault is one of {known}, as in `2=cut:at=100`"))
    }
}

impl fmt::Display for BadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadFault {}

impl Fault {
    /// An error with a status and no `retry-after`.
    pub fn status(status: u16) -> Self {
        Self::Status { status, retry_after: None }
    }
}

impl FromStr for Fault {
    type Err = BadFault;

    fn from_str(text: &str) -> Result<Self, BadFault> {
        let bad = || BadFault::of(text);
        let mut words = text.trim().split(':');
        let name = words.next().unwrap_or_default();
        let mut given = Vec::new();
        for word in words {
            let (name, value) = word.split_once('=').ok_or_else(bad)?;
            given.push((name.trim(), value.trim().parse::<u64>().map_err(|_| bad())?));
        }
        let mut take = |name: &str| {
            let at = given.iter().position(|(given, _)| *given == name);
            at.map(|at| given.remove(at).1)
        };
        let mut bytes = |least: u64| take("at").unwrap_or(least) as usize;
        let fault = match name {
            "overflow" => Self::Overflow,
            "content-type" => Self::ContentType,
            "truncate" => Self::Truncate,
            "cut" => Self::Cut { at: bytes(0) },
            "malformed" => Self::Malformed { at: bytes(0) },
            "slow" => Self::Slow(Duration::from_millis(take("ms").unwrap_or(1_000))),
            "stall" => {
                let at = bytes(0);
                Self::Stall { at, lasts: Duration::from_millis(take("ms").unwrap_or(60_000)) }
            }
            status => {
                let status = status.parse().map_err(|_| bad())?;
                let is_error = (400..600).contains(&status);
                let retry_after = take("retry-after");
                if is_error { Self::Status { status, retry_after } } else { return Err(bad()) }
            }
        };
        if given.is_empty() { Ok(fault) } else { Err(bad()) }
    }
}

impl FromStr for Planned {
    type Err = BadFault;

    fn from_str(text: &str) -> Result<Self, BadFault> {
        let bad = || BadFault::of(text);
        match text.split_once('=') {
            Some((nth, fault)) if nth.bytes().all(|b| b.is_ascii_digit()) => {
                let nth = nth.parse().map_err(|_| bad())?;
                if nth == 0 {
                    return Err(BadFault(format!("{text}: requests are counted from 1")));
                }
                Ok(Self { nth: Some(nth), fault: fault.parse()? })
            }
            _ => Ok(Self { nth: None, fault: text.parse()? }),
        }
    }
}
