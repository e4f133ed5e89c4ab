//! Whether, and how much, the model thinks.

use interleaf_model::Json;
use serde_json::{Value, json};

/// Whether, and how much, the model thinks before it answers.
///
/// ```
/// use interleaf_wire::{Options, ThinkingMode};
///
/// let mut options = Options::model("claude-sonnet-4-5");
/// options.thinking = Some(ThinkingMode::budget(4096));
/// assert!(ThinkingMode::on().is_on() && !ThinkingMode::off().is_on());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThinkingMode(
    /// What is known, and beside it what only the API knows that it was read from.
    Json,
);

impl ThinkingMode {
    /// The model answers at once.
    pub fn off() -> Self {
        Self(Json::from(&json!({"type": "disabled"})))
    }

    /// The model thinks as much as it likes.
    pub fn on() -> Self {
        Self(Json::from(&json!({"type": "adaptive"})))
    }

    /// The model thinks for at most this many tokens. Where it cannot be held to a number,
    /// it thinks as much as it likes, and the encoder says so.
    pub fn budget(tokens: u64) -> Self {
        Self(Json::from(&json!({"type": "enabled", "budget_tokens": tokens})))
    }

    /// Takes what stands in a body's `thinking`, as it stands there: for settings that have
    /// no word of ours.
    pub fn from_json(json: Json) -> Self {
        Self(json)
    }

    /// Whether the model thinks.
    pub fn is_on(&self) -> bool {
        let kind = self.0.to_value();
        matches!(kind.get("type").and_then(Value::as_str), Some("enabled" | "adaptive"))
    }

    /// The most tokens that it may think for, where a number is set.
    pub fn budget_tokens(&self) -> Option<u64> {
        self.0.to_value().get("budget_tokens").and_then(Value::as_u64)
    }

    /// What [`from_json`](Self::from_json) takes.
    pub fn as_json(&self) -> &Json {
        &self.0
    }
}
