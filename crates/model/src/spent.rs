//! What a request cost, in parts that do not overlap.

use std::fmt;

use crate::Usage;

/// What a request cost, in parts that do not overlap: each token stands in one of them, and
/// each has a price of its own. It is the same whatever the vendor's habit of counting.
///
/// ```
/// use interleaf_model::{Spent, Usage};
///
/// let usage = Usage { prompt: 1000, cache_read: 700, cache_write: 200, completion: 50,
///     reasoning: 20, ..Usage::default() };
/// let spent = Spent::from(usage);
/// assert_eq!((spent.uncached, spent.read, spent.written), (100, 700, 200));
/// assert_eq!((spent.output, spent.reasoning), (30, 20));
/// assert_eq!(spent.total(), usage.total());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Spent {
    /// Tokens sent that the cache neither held nor keeps.
    pub uncached: u64,
    /// Tokens read from the cache.
    pub read: u64,
    /// Tokens written to the cache for the vendor's usual time, such as five minutes.
    pub written: u64,
    /// Tokens written to the cache for an hour.
    pub written_hour: u64,
    /// Tokens that the model said.
    pub output: u64,
    /// Tokens that it thought.
    pub reasoning: u64,
}

impl Spent {
    /// All of them.
    pub fn total(&self) -> u64 {
        let Self { uncached, read, written, written_hour, output, reasoning } = *self;
        let parts = [uncached, read, written, written_hour, output, reasoning];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// The tokens that were sent.
    pub fn sent(&self) -> u64 {
        let Self { uncached, read, written, written_hour, .. } = *self;
        [uncached, read, written, written_hour].into_iter().fold(0, u64::saturating_add)
    }
}

/// All of it in a line, for a person.
impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { uncached, read, written, written_hour, output, reasoning } = *self;
        let (sent, written) = (self.sent(), written.saturating_add(written_hour));
        write!(f, "{sent} sent ({uncached} uncached, {read} read, {written} written), ")?;
        write!(f, "{} made ({reasoning} reasoning)", output.saturating_add(reasoning))
    }
}

/// Where a vendor's figures contradict each other, the larger group gives way: no token is
/// counted twice.
impl From<Usage> for Spent {
    fn from(usage: Usage) -> Self {
        let read = usage.cache_read.min(usage.prompt);
        let all_written = usage.cache_write.min(usage.prompt - read);
        let written_hour = usage.cache_write_hour.min(all_written);
        let reasoning = usage.reasoning.min(usage.completion);
        Self {
            uncached: usage.prompt - read - all_written,
            read,
            written: all_written - written_hour,
            written_hour,
            output: usage.completion - reasoning,
            reasoning,
        }
    }
}
