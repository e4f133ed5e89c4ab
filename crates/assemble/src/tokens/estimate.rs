//! Counts for models whose vocabulary is not public.

use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(feature = "bpe")]
use super::Bpe;
use super::{Rate, TokenCounter};

/// An unknown vocabulary is taken to need 15 % more tokens than o200k until the
/// API's own figures say otherwise: too early is safer than too late.
const FIRST_RATIO: f64 = 1.15;
/// How much of the way towards a reported figure one report goes.
const STEP: f64 = 0.3;
/// Reports further off than this are about something else than text.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.3..=4.0;
/// The rate moves only when a report is further off than this: each move may move what
/// gives way.
const TOLERANCE: f64 = 0.02;

/// An estimate: o200k's count times a rate that corrects itself from the usage that
/// the API reports. Without the feature `bpe` a token is taken to be four bytes.
pub struct Estimate {
    #[cfg(feature = "bpe")]
    base: Option<Bpe>,
    /// The rate in force, in millionths.
    rate: AtomicU64,
}

impl Default for Estimate {
    fn default() -> Self {
        Self {
            #[cfg(feature = "bpe")]
            base: Bpe::named("o200k_base"),
            rate: AtomicU64::new(Rate::new(FIRST_RATIO).millionths()),
        }
    }
}

impl TokenCounter for Estimate {
    fn count(&self, text: &str) -> u64 {
        #[cfg(feature = "bpe")]
        if let Some(base) = self.base {
            return base.count(text);
        }
        // The rule of thumb.
        text.len().div_ceil(4) as u64
    }

    fn rate(&self) -> Rate {
        Rate::of_millionths(self.rate.load(Ordering::Relaxed))
    }

    fn observe(&self, counted: u64, reported: u64) {
        if counted == 0 {
            return;
        }
        let in_force = self.rate().ratio();
        let seen = in_force * reported as f64 / counted as f64;
        if !PLAUSIBLE.contains(&seen) {
            return;
        }
        if (seen / in_force - 1.0).abs() > TOLERANCE {
            self.resume(Rate::new(in_force + (seen - in_force) * STEP));
        }
    }

    fn resume(&self, rate: Rate) {
        self.rate.store(rate.millionths(), Ordering::Relaxed);
    }

    fn name(&self) -> &str {
        "estimate"
    }
}
