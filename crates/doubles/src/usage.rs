//! What a request took.

/// The tokens of an exchange: the first three make up the input, and no token is in two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Usage {
    /// Of the input, neither read from the cache nor written to it.
    pub uncached: u64,
    /// Of the input, read from the cache.
    pub read: u64,
    /// Of the input, written to the cache for five minutes, or for as long as the vendor likes.
    pub written: u64,
    /// Of the input, written to the cache for an hour.
    pub written_hour: u64,
    /// The answer, thoughts included.
    pub output: u64,
    /// Of the answer, thoughts.
    pub reasoning: u64,
}

impl Usage {
    /// All of the input.
    pub fn input(&self) -> u64 {
        self.uncached + self.read + self.written + self.written_hour
    }
}
