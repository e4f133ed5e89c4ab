//! How hard a model works on its answer.

use std::fmt;

/// How hard a model works on its answer, from least to most. Each API and model
/// knows some of these words, and few know all of them.
///
/// ```
/// use interleaf_wire::Effort;
///
/// assert!(Effort::Low < Effort::High);
/// assert_eq!(Effort::ExtraHigh.as_str(), "xhigh");
/// assert_eq!(Effort::of_budget(Effort::Medium.budget()), Effort::Medium);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Effort {
    /// Next to none.
    Minimal,
    /// Little.
    Low,
    /// What most models do when nothing is said.
    Medium,
    /// Much.
    High,
    /// More than much.
    ExtraHigh,
    /// As much as the model can.
    Max,
}

impl Effort {
    /// All of them, from least to most.
    pub const ALL: [Self; 6] =
        [Self::Minimal, Self::Low, Self::Medium, Self::High, Self::ExtraHigh, Self::Max];

    /// The word that most APIs have for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::ExtraHigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The effort that most APIs call so.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.as_str() == word)
    }

    /// The number of tokens that stands for it where an API counts tokens.
    pub const fn budget(self) -> u64 {
        match self {
            Self::Minimal => 1_024,
            Self::Low => 2_048,
            Self::Medium => 8_192,
            Self::High => 16_384,
            Self::ExtraHigh => 24_576,
            Self::Max => 32_768,
        }
    }

    /// The effort that stands for a number of tokens where an API counts none: one of the
    /// three that all such APIs know.
    pub const fn of_budget(tokens: u64) -> Self {
        match tokens {
            0..=4_095 => Self::Low,
            4_096..=16_383 => Self::Medium,
            _ => Self::High,
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
