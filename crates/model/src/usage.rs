//! What a request cost in tokens.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Tokens of one request, or the sum of several.
///
/// `prompt` counts everything that was sent, cached or not, whatever the
/// vendor's own habit; `completion` includes `reasoning`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct Usage {
    /// Tokens sent, cached ones included.
    pub prompt: u64,
    /// Of these, read from the prompt cache.
    pub cache_read: u64,
    /// Of these, written to the prompt cache.
    pub cache_write: u64,
    /// Of those written, kept for an hour; the others are kept for the vendor's usual time.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_hour: u64,
    /// Tokens that the model made, reasoning included.
    pub completion: u64,
    /// Of these, spent on reasoning.
    pub reasoning: u64,
}

crate::only_objects!(Usage);

impl Usage {
    /// Sent and made together.
    pub fn total(&self) -> u64 {
        self.prompt.saturating_add(self.completion)
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            prompt: self.prompt.saturating_add(other.prompt),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            cache_write_hour: self.cache_write_hour.saturating_add(other.cache_write_hour),
            completion: self.completion.saturating_add(other.completion),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
