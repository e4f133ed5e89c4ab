//! What a request takes from a cache, and what that costs.

/// The tokens of one request's prompt, by what the cache did for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// All of them.
    pub prompt: u64,
    /// Read from the cache.
    pub read: u64,
    /// Computed, and written to the cache at a price of its own.
    pub written: u64,
}

impl Used {
    /// Tokens that were not read: the model computed them.
    pub fn computed(self) -> u64 {
        self.prompt - self.read
    }

    /// Tokens that were neither read nor written at a price of their own.
    pub fn plain(self) -> u64 {
        self.prompt - self.read - self.written
    }
}

/// What tokens cost, where a token of a prompt without a cache costs 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// A token read from the cache.
    pub read: f64,
    /// A token written to it.
    pub write: f64,
}

impl Prices {
    /// The cost of a request's prompt, in tokens of a prompt without a cache.
    pub fn cost(self, used: Used) -> f64 {
        used.read as f64 * self.read + used.written as f64 * self.write + used.plain() as f64
    }
}
