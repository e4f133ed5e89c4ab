//! How long an answer of a model of Anthropic's can be, whoever serves it.

use super::models::Model;
use crate::Options;
use crate::adjustment::{AdjustmentKind, Adjustments};

/// The most tokens that an answer can have, by what is asked for and by what the model
/// writes.
pub(super) fn most_tokens(options: &Options, model: Model) -> u64 {
    let [asked, written] = [options.max_tokens, model.most_tokens()];
    asked.unwrap_or(u64::MAX).min(written.unwrap_or(u64::MAX))
}

/// The limit, or the model's own where that is lower.
pub(crate) fn limited(max_tokens: u64, model: Model, adjustments: &mut Adjustments) -> u64 {
    match model.most_tokens() {
        Some(most) if most < max_tokens => {
            let detail = format!("max_tokens: {most} is the most that the model writes");
            adjustments.add_general(AdjustmentKind::OptionChanged, detail);
            most
        }
        Some(_) | None => max_tokens,
    }
}
