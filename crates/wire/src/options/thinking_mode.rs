//! Whether, and how much, the model thinks.

use super::Effort;

/// Whether, and how much, the model thinks before it answers. What is not said is left to
/// the API.
///
/// ```
/// use interleaf_wire::{Effort, Options, ThinkingMode, Thoughts};
///
/// let mut options = Options::model("claude-opus-4-6");
/// options.thinking = Some(ThinkingMode::on().with_effort(Effort::High).with_thoughts(Thoughts::Shown));
/// assert!(ThinkingMode::budget(4096).is_on() && ThinkingMode::off().is_off());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ThinkingMode {
    /// Whether it thinks, and for how long at most.
    pub amount: Option<ThinkingAmount>,
    /// How hard it works.
    pub effort: Option<Effort>,
    /// Whether the answer tells what it thought.
    pub thoughts: Option<Thoughts>,
}

/// Whether a model thinks, and for how long at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThinkingAmount {
    /// It answers at once.
    Off,
    /// It thinks as much as it likes.
    Free,
    /// It thinks for at most this many tokens.
    Budget(u64),
}

/// Whether an answer tells what the model thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thoughts {
    /// It does not.
    Hidden,
    /// It does, mostly as a summary.
    Shown,
}

impl ThinkingMode {
    const fn of(amount: ThinkingAmount) -> Self {
        Self { amount: Some(amount), effort: None, thoughts: None }
    }

    /// The model answers at once.
    pub const fn off() -> Self {
        Self::of(ThinkingAmount::Off)
    }

    /// The model thinks as much as it likes.
    pub const fn on() -> Self {
        Self::of(ThinkingAmount::Free)
    }

    /// The model thinks for at most this many tokens. Where it cannot be held to a number,
    /// the encoder says what stands for it.
    pub const fn budget(tokens: u64) -> Self {
        Self::of(ThinkingAmount::Budget(tokens))
    }

    /// The model works this hard; whether it thinks is left to it.
    pub const fn effort(effort: Effort) -> Self {
        Self { amount: None, effort: Some(effort), thoughts: None }
    }

    /// The same, with this effort.
    #[must_use]
    pub const fn with_effort(self, effort: Effort) -> Self {
        Self { effort: Some(effort), ..self }
    }

    /// The same, with thoughts shown or hidden.
    #[must_use]
    pub const fn with_thoughts(self, thoughts: Thoughts) -> Self {
        Self { thoughts: Some(thoughts), ..self }
    }

    /// Whether the model is asked to think.
    pub const fn is_on(self) -> bool {
        matches!(self.amount, Some(ThinkingAmount::Free | ThinkingAmount::Budget(_)))
    }

    /// Whether the model is asked not to think.
    pub const fn is_off(self) -> bool {
        matches!(self.amount, Some(ThinkingAmount::Off))
    }

    /// The most tokens that it may think for, where a number is set.
    pub const fn budget_tokens(self) -> Option<u64> {
        match self.amount {
            Some(ThinkingAmount::Budget(tokens)) => Some(tokens),
            Some(ThinkingAmount::Off | ThinkingAmount::Free) | None => None,
        }
    }

    /// This, unless nothing is said.
    pub(crate) fn said(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}
