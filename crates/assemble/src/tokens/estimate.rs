//! Counts for models whose vocabulary is not public.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Bpe, TokenCounter};

/// A ratio of one, in the unit in which ratios are kept.
const ONE: u64 = 1_000_000;
/// An unknown vocabulary is taken to need 15 % more tokens than o200k until the
/// API's own figures say otherwise: too early is safer than too late.
const FIRST_RATIO: u64 = 1_150_000;
/// How much of the way towards a reported figure one report goes.
const STEP: f64 = 0.3;
/// Reports further off than this are about something else than text.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.3..=4.0;

/// An estimate: o200k's count times a ratio that corrects itself from the usage
/// that the API reports.
pub struct Estimate {
    base: Option<Bpe>,
    ratio: AtomicU64,
}

impl Default for Estimate {
    fn default() -> Self {
        Self { base: Bpe::named("o200k_base"), ratio: AtomicU64::new(FIRST_RATIO) }
    }
}

impl Estimate {
    /// Takes note that a prompt whose unscaled count is `counted` cost `reported`.
    pub fn calibrate(&self, counted: u64, reported: u64) {
        if counted == 0 {
            return;
        }
        let seen = reported as f64 / counted as f64;
        if PLAUSIBLE.contains(&seen) {
            let ratio = self.ratio();
            let next = ratio + (seen - ratio) * STEP;
            self.ratio.store((next * ONE as f64) as u64, Ordering::Relaxed);
        }
    }

    /// Tokens of the model for one of o200k's.
    pub fn ratio(&self) -> f64 {
        self.ratio.load(Ordering::Relaxed) as f64 / ONE as f64
    }
}

impl TokenCounter for Estimate {
    fn count(&self, text: &str) -> u64 {
        // The vocabulary is compiled in; without it, four bytes a token is the rule of thumb.
        self.base.map_or(text.len().div_ceil(4) as u64, |base| base.count(text))
    }

    fn scale(&self, counted: u64) -> u64 {
        let ratio = u128::from(self.ratio.load(Ordering::Relaxed));
        let scaled = (u128::from(counted) * ratio).div_ceil(u128::from(ONE));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    fn name(&self) -> &str {
        "estimate"
    }
}
