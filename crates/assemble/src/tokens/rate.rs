//! From a counter's unit to the model's.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A rate of one, in the unit in which rates are kept.
const ONE: u64 = 1_000_000;

/// Tokens of the model for each one counted, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Default for Rate {
    fn default() -> Self {
        Self::ONE
    }
}

/// As a ratio.
impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.ratio().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self::new)
    }
}

impl Rate {
    /// The counter counts the model's own tokens.
    pub const ONE: Self = Self(ONE);

    /// A rate as a ratio, to six digits after the point.
    pub fn new(ratio: f64) -> Self {
        Self((ratio * ONE as f64).round() as u64)
    }

    pub(crate) fn is_one(&self) -> bool {
        *self == Self::ONE
    }

    /// The ratio.
    pub fn ratio(self) -> f64 {
        self.0 as f64 / ONE as f64
    }

    /// The model's tokens for a count, rounded up.
    pub fn apply(self, counted: u64) -> u64 {
        if self == Self::ONE {
            return counted;
        }
        let scaled = (u128::from(counted) * u128::from(self.0)).div_ceil(u128::from(ONE));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// What a count at this rate would be at another, rounded up.
    pub fn convert(self, tokens: u64, to: Self) -> u64 {
        if self == to || self.0 == 0 {
            return tokens;
        }
        let scaled = (u128::from(tokens) * u128::from(to.0)).div_ceil(u128::from(self.0));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    pub(super) fn millionths(self) -> u64 {
        self.0
    }

    pub(super) fn of_millionths(millionths: u64) -> Self {
        Self(millionths)
    }
}
