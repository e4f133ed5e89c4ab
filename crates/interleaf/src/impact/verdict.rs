//! What an API reports of its cache, against what was to be expected.

use interleaf_model::Usage;
use serde::{Deserialize, Serialize};

use super::Impact;

/// Our count of tokens and the API's may be this many percent apart.
const PERCENT: u64 = 2;

/// What an API reports of its cache, against what was to be expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// As much was read as expected.
    AsPredicted,
    /// Little was read, as expected: the request itself had broken the prefix.
    OurMiss,
    /// Less was read than expected: the cache had expired, was evicted, or is another.
    TheirMiss,
    /// More was read than expected.
    More,
}

impl Impact {
    /// The tokens that should have been read by the API's own count of the prompt.
    pub fn predicted(&self, usage: Usage) -> Option<u64> {
        let cost = self.cost.as_ref()?;
        let (read, total) = (u128::from(cost.read), u128::from(self.tokens.max(1)));
        u64::try_from(read * u128::from(usage.prompt) / total).ok()
    }

    /// What an API reports, against what was expected; nothing, if nothing was, or the API
    /// tells no figures. A difference within a step of the cache, or within what our count
    /// and the API's may be apart, is none.
    pub fn verdict(&self, usage: Usage) -> Option<Verdict> {
        let predicted = self.predicted(usage)?;
        let step = self.cost.as_ref().map_or(1, |cost| cost.step);
        let tolerance = step.max(usage.prompt * PERCENT / 100);
        if usage.prompt == 0 {
            return None;
        }
        Some(match usage.cache_read {
            read if read + tolerance < predicted => Verdict::TheirMiss,
            read if read > predicted + tolerance => Verdict::More,
            _ if self.cause.breaks() => Verdict::OurMiss,
            _ => Verdict::AsPredicted,
        })
    }
}
